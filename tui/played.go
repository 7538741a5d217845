package tui

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/tui/untrusted"
)

// deaf is the session of a replay: it says nothing, and is told nothing.
type deaf struct{ runner.Unanswered }

func (deaf) Events() <-chan event.Event { return nil }
func (deaf) Send(runner.Command)        {}

// play plays a run in place of this screen: from its start, or as it ended.
func (m *Model) play(events []event.Event, speed float64, atEnd bool) tea.Cmd {
	o := m.options
	o.Replay, o.Recorded, o.Intro, o.Goal, o.Suggestion, o.Drawn, o.GoOn = true, nil, "", "", "", nil, nil
	p := newPlayer(events, speed, feedTime, func(p *player, before playedScreen) playedScreen {
		screen := New(deaf{}, o)
		screen.theming = m.theming
		screen.retheme()
		screen.control, screen.quiet = p, true
		screen.clipboard = func(text string) tea.Cmd { return outward(tea.SetClipboard(text)) }
		if was, ok := before.(*Model); ok {
			screen.focus = was.focus
			screen.Update(tea.WindowSizeMsg{Width: was.layout.width, Height: was.layout.height})
		}
		return screen
	})
	p.alone = m.options.Replay
	m.player = p
	m.resizePlayed(m.layout.width, m.layout.height)
	if atEnd {
		p.paused = true
		return p.tell(len(events))
	}
	const opening = 3 // events: how the session stood, what was asked, that a run began
	return tea.Batch(p.tell(min(opening, len(events))), p.wait())
}

// shut ends what the screen still waits for.
func (m *Model) shut() {
	if m.player != nil {
		m.player.halt()
	}
}

// replayActions work in a replay.
func (m *Model) replayActions() handlers {
	none := func() string {
		if m.control == nil {
			return "Nothing is replayed: p in the list of runs plays one."
		}
		return ""
	}
	played := func() bool { return m.control != nil }
	by := func(do func(p *player) tea.Cmd) func() wanted {
		return command(func() tea.Cmd { return do(m.control) })
	}
	return handlers{
		"replay.pause":       {when: played, refuse: none, do: by((*player).toggle)},
		"replay.faster":      {when: played, refuse: none, do: by(func(p *player) tea.Cmd { return p.faster(1) })},
		"replay.slower":      {when: played, refuse: none, do: by(func(p *player) tea.Cmd { return p.faster(-1) })},
		"replay.forth":       {when: played, refuse: none, do: by(func(p *player) tea.Cmd { return p.seek(p.moment(true)) })},
		"replay.back":        {when: played, refuse: none, do: by(func(p *player) tea.Cmd { return p.seek(p.moment(false)) })},
		"replay.event_forth": {when: played, refuse: none, do: by(func(p *player) tea.Cmd { return p.seek(p.at + 1) })},
		"replay.event_back":  {when: played, refuse: none, do: by(func(p *player) tea.Cmd { return p.seek(p.at - 1) })},
		"replay.start":       {when: played, refuse: none, do: by(func(p *player) tea.Cmd { return p.seek(0) })},
		"replay.end":         {when: played, refuse: none, do: by(func(p *player) tea.Cmd { return p.seek(len(p.events)) })},
	}
}

// recalled plays what was asked for in the list of runs.
func (m *Model) recalled(d journalMsg) tea.Cmd {
	want := m.again
	if want.run != d.run || m.options.Replay || errors.Is(d.err, runner.ErrClosed) {
		return nil
	}
	m.again = recall{}
	if d.err != nil || len(d.events) == 0 {
		why := ""
		if d.err != nil {
			why = d.err.Error()
		}
		m.runs.word = "It cannot be shown: " + untrusted.FirstLine(why)
		return nil
	}
	return m.play(runner.Retold(d.run, d.events), 1, want.atEnd)
}

// playing gives a message to the player or to its screen, where one plays. It
// reports whether it was for one of them alone.
func (m *Model) playing(msg tea.Msg) (cmd tea.Cmd, taken bool) {
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
		p.screen.Update(msg)
		return nil, false
	case playMsg:
		return p.next(msg), true
	case leftMsg:
		p.halt()
		m.player = nil
		return m.animate(), true
	case innerMsg:
		_, cmd = p.screen.Update(msg.msg)
	case tea.KeyPressMsg:
		if inner := m.played(); matches(msg, m.keys.Stop) && !p.alone && inner.over() == nil && inner.focus == paneChat {
			return func() tea.Msg { return leftMsg{} }, true
		}
		_, cmd = p.screen.Update(msg)
	case tea.MouseClickMsg, tea.MouseWheelMsg, tea.MouseMotionMsg, tea.MouseReleaseMsg, tea.PasteMsg:
		_, cmd = p.screen.Update(msg)
	default:
		return nil, false
	}
	return p.inward(cmd), true
}

// played is the screen that the player plays on.
func (m *Model) played() *Model { return m.player.screen.(*Model) }

// resizePlayed gives the screen of the player its place.
func (m *Model) resizePlayed(width, height int) {
	if playerApart(height) {
		height--
	}
	m.player.screen.Update(tea.WindowSizeMsg{Width: width, Height: height})
}

// playerApart reports whether the line of the player has a line of its own.
func playerApart(height int) bool { return height >= minHeight+2 }

// viewPlayed is the screen of the player with the player's line on it.
func (m *Model) viewPlayed() tea.View {
	inner := m.played()
	v := inner.View()
	width, height := m.layout.width, m.layout.height
	if width <= 0 || height <= 0 {
		return v
	}
	if inner.layout.small {
		if playerApart(height) { // its line has no room, but was left out of the screen
			v.Content += "\n" + strings.Repeat(" ", width)
		}
		return v
	}
	notice := ""
	if m.ask.waiting() > 0 {
		notice = m.waiting() + " waits: " + m.keys.LeaveReplay.Help().Key
	}
	lines := strings.Split(v.Content, "\n")
	line := m.player.line(inner.look, notice, width)
	if playerApart(height) {
		lines = slices.Insert(lines, len(lines)-1, line)
	} else {
		lines[0] = line
	}
	v.Content = strings.Join(lines, "\n")
	return v
}

// tellEvents shows events of a run that is replayed; last says that no more follow.
func (m *Model) tellEvents(events []event.Event, last bool) tea.Cmd {
	_, cmd := m.Update(eventsMsg{events: fold(slices.Clone(events)), arrived: m.options.Now(), closed: last})
	return cmd
}

// freeze stops everything that moves, or lets it go on.
func (m *Model) freeze(frozen bool) { m.frozen = frozen }
