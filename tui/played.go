package tui

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/internal/untrusted"
	"replan/tui/keymap"
	"replan/tui/replay"
)

// playing is the playback state of a recorded run.
type playing struct {
	player  *replay.Player // plays in place of this screen; nil for none
	control *replay.Player // plays on this screen; nil for none
	frozen  bool           // animations stop while playback is paused
	again   keymap.Recall  // the run requested for playback
}

// deaf is the session of a replay: it sends no events and ignores commands.
type deaf struct{ runner.Unanswered }

func (deaf) Events() <-chan event.Event { return nil }
func (deaf) Send(runner.Command)        {}

// play plays a run in place of this screen, from its start or at its end.
func (m *Model) play(events []event.Event, speed float64, atEnd bool) tea.Cmd {
	o := m.options
	o.Replay, o.Recorded, o.Intro, o.Goal, o.Suggestion, o.Drawn, o.GoOn = true, nil, "", "", "", nil, nil
	p := replay.New(events, speed, feedTime, func(p *replay.Player, before replay.PlayedScreen) replay.PlayedScreen {
		screen := New(deaf{}, o)
		screen.theming = m.theming
		screen.dress()
		screen.control, screen.toasts.quiet = p, true
		screen.clipboard = func(text string) tea.Cmd { return replay.Outward(tea.SetClipboard(text)) }
		if was, ok := before.(*Model); ok {
			screen.focus = was.focus
			screen.Update(tea.WindowSizeMsg{Width: was.layout.width, Height: was.layout.height})
		}
		return screen
	})
	p.Alone = m.options.Replay
	m.player = p
	m.resizePlayed(m.layout.width, m.layout.height)
	if atEnd {
		p.Paused = true
		return p.Tell(len(events))
	}
	const opening = 3 // events: session status, user request, run start
	return tea.Batch(p.Tell(min(opening, len(events))), p.Wait())
}

// shut ends what the screen still waits for.
func (m *Model) shut() {
	if m.player != nil {
		m.player.Halt()
	}
}

// replayActions returns the actions of a replay.
func (m *Model) replayActions() keymap.Handlers {
	none := func() string {
		if m.control == nil {
			return "Nothing is replayed: " + m.keys.Name("runs.play") + " in the list of runs plays one."
		}
		return ""
	}
	played := func() bool { return m.control != nil }
	by := func(do func(p *replay.Player) tea.Cmd) func() keymap.Wanted {
		return keymap.Command(func() tea.Cmd { return do(m.control) })
	}
	return keymap.Handlers{
		"replay.pause":       {When: played, Refuse: none, Do: by((*replay.Player).Toggle)},
		"replay.faster":      {When: played, Refuse: none, Do: by(func(p *replay.Player) tea.Cmd { return p.Faster(1) })},
		"replay.slower":      {When: played, Refuse: none, Do: by(func(p *replay.Player) tea.Cmd { return p.Faster(-1) })},
		"replay.forth":       {When: played, Refuse: none, Do: by(func(p *replay.Player) tea.Cmd { return p.Seek(p.Moment(true)) })},
		"replay.back":        {When: played, Refuse: none, Do: by(func(p *replay.Player) tea.Cmd { return p.Seek(p.Moment(false)) })},
		"replay.event_forth": {When: played, Refuse: none, Do: by(func(p *replay.Player) tea.Cmd { return p.Seek(p.At + 1) })},
		"replay.event_back":  {When: played, Refuse: none, Do: by(func(p *replay.Player) tea.Cmd { return p.Seek(p.At - 1) })},
		"replay.start":       {When: played, Refuse: none, Do: by(func(p *replay.Player) tea.Cmd { return p.Seek(0) })},
		"replay.end":         {When: played, Refuse: none, Do: by(func(p *replay.Player) tea.Cmd { return p.Seek(len(p.Events)) })},
	}
}

// recalled plays the run requested in the list of runs.
func (m *Model) recalled(d keymap.JournalMsg) tea.Cmd {
	want := m.again
	if want.Run != d.Run || m.options.Replay || errors.Is(d.Err, runner.ErrClosed) {
		return nil
	}
	m.again = keymap.Recall{}
	if d.Err != nil || len(d.Events) == 0 {
		why := ""
		if d.Err != nil {
			why = d.Err.Error()
		}
		m.runs.Word = "It cannot be shown: " + untrusted.FirstLine(why)
		return nil
	}
	return m.play(runner.Retold(d.Run, d.Events), 1, want.AtEnd)
}

// takePlayed passes a message to the player or its screen during playback. It
// reports whether the message was for them alone.
func (m *Model) takePlayed(msg tea.Msg) (cmd tea.Cmd, taken bool) {
	if faded, ok := msg.(toastMsg); ok {
		m.toasts.faded(faded)
		return m.toasts.timer(), true
	}
	p := m.player
	if p == nil {
		return nil, false
	}
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resizePlayed(msg.Width, msg.Height)
		return nil, false
	case tea.BackgroundColorMsg:
		p.Screen.Update(msg)
		return nil, false
	case replay.PlayMsg:
		return p.Next(msg), true
	case replay.LeftMsg:
		p.Halt()
		m.player = nil
		return m.Animate(), true
	case replay.InnerMsg:
		_, cmd = p.Screen.Update(msg.Msg)
	case tea.KeyPressMsg:
		if inner := m.played(); keymap.Matches(msg, m.keys.Stop) && !p.Alone && inner.over() == nil && inner.focus == paneChat {
			return func() tea.Msg { return replay.LeftMsg{} }, true
		}
		_, cmd = p.Screen.Update(msg)
	case tea.MouseClickMsg, tea.MouseWheelMsg, tea.MouseMotionMsg, tea.MouseReleaseMsg, tea.PasteMsg:
		_, cmd = p.Screen.Update(msg)
	default:
		return nil, false
	}
	return p.Inward(cmd), true
}

// played returns the screen that the player plays on.
func (m *Model) played() *Model { return m.player.Screen.(*Model) }

// resizePlayed sets the size of the player's screen.
func (m *Model) resizePlayed(width, height int) {
	if playerApart(height) {
		height--
	}
	m.player.Screen.Update(tea.WindowSizeMsg{Width: width, Height: height})
}

// playerApart reports whether the player gets a line of its own.
func playerApart(height int) bool { return height >= minHeight+2 }

// viewPlayed draws the player's screen with the player's line on it.
func (m *Model) viewPlayed() tea.View {
	inner := m.played()
	v := inner.View()
	width, height := m.layout.width, m.layout.height
	if width <= 0 || height <= 0 {
		return v
	}
	if inner.layout.small {
		if playerApart(height) { // the line does not fit, but the screen excludes it
			v.Content += "\n" + strings.Repeat(" ", width)
		}
		return v
	}
	notice := ""
	if m.ask.Waiting() > 0 {
		notice = m.waiting() + " waits: " + m.keys.LeaveReplay.Help().Key
	}
	lines := strings.Split(v.Content, "\n")
	line := m.player.Line(inner.look, notice, width)
	if playerApart(height) {
		lines = slices.Insert(lines, len(lines)-1, line)
	} else {
		lines[0] = line
	}
	v.Content = strings.Join(lines, "\n")
	return v
}

// TellEvents shows events of a replayed run; last means that no more follow.
func (m *Model) TellEvents(events []event.Event, last bool) tea.Cmd {
	_, cmd := m.Update(eventsMsg{events: fold(slices.Clone(events)), arrived: m.options.Now(), closed: last})
	return cmd
}

// Freeze stops or resumes all animation.
func (m *Model) Freeze(frozen bool) { m.frozen = frozen }
