package replay

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// PlayedScreen is the screen that a player plays on.
type PlayedScreen interface {
	tea.Model
	// ShowEvents shows events. last reports whether they end the run.
	ShowEvents(events []event.Event, last bool) tea.Cmd
	// Freeze stops all animation, or resumes it.
	Freeze(frozen bool)
	// Animate starts the animation clock if anything is animated.
	Animate() tea.Cmd
	// Surface describes the drawn screen to the player.
	Surface() Surface
}

// Surface describes what a played screen draws.
type Surface struct {
	Styles  *draw.Styles
	Small   bool // the window is too small for the panes
	AtInput bool // the chat has the focus, and no dialog covers it
}

// Resize sets the size of the terminal. The player takes a line of it where
// there is room.
func (p *Player) Resize(width, height int) {
	p.width, p.height = width, height
	if p.apart() {
		height--
	}
	p.Screen.Update(tea.WindowSizeMsg{Width: width, Height: height})
}

// apart reports whether the player has a line of its own.
func (p *Player) apart() bool { return p.height >= p.options.RoomyFrom }

// Update passes a message to the player or to its screen. It reports whether the
// message was for them alone.
func (p *Player) Update(msg tea.Msg) (cmd tea.Cmd, taken bool) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		p.Resize(msg.Width, msg.Height)
		return nil, false
	case tea.BackgroundColorMsg:
		p.Screen.Update(msg)
		return nil, false
	case PlayMsg:
		return p.Next(msg), true
	case InnerMsg:
		_, cmd = p.Screen.Update(msg.Msg)
	case tea.KeyPressMsg:
		if keymap.Matches(msg, p.options.Keys.Binding("run.stop")) && !p.options.Alone && p.Screen.Surface().AtInput {
			return func() tea.Msg { return LeftMsg{} }, true
		}
		_, cmd = p.Screen.Update(msg)
	case tea.MouseClickMsg, tea.MouseWheelMsg, tea.MouseMotionMsg, tea.MouseReleaseMsg, tea.PasteMsg:
		_, cmd = p.Screen.Update(msg)
	default:
		return nil, false
	}
	return p.Inward(cmd), true
}

// View draws the player's screen with the player's line on it. A non-empty
// notice appears in that line.
func (p *Player) View(notice string) tea.View {
	v := p.Screen.View()
	if p.width <= 0 || p.height <= 0 {
		return v
	}
	surface := p.Screen.Surface()
	if surface.Small {
		if p.apart() { // the line does not fit, but the screen leaves it out
			v.Content += "\n" + strings.Repeat(" ", p.width)
		}
		return v
	}
	lines := strings.Split(v.Content, "\n")
	line := p.Line(surface.Styles, notice, p.width)
	if p.apart() {
		lines = slices.Insert(lines, len(lines)-1, line)
	} else {
		lines[0] = line
	}
	v.Content = strings.Join(lines, "\n")
	return v
}
