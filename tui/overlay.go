package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/runner"
)

// overlay is a dialog that stands in place of the panes until it is left.
type overlay interface {
	// press takes a key and returns what is asked of the session, if anything.
	press(k tea.KeyPressMsg) runner.Command
	// draw draws it in the middle of exactly height lines of width cells.
	draw(width, height int) []string
	// clicked chooses what is drawn at that line, wheeled moves by lines.
	clicked(line int)
	wheeled(lines int)
}

// over is the dialog in place of the panes, nil where there is none.
func (m *Model) over() overlay {
	switch {
	case m.help.open:
		return m.help
	case m.undo.open:
		return m.undo
	case m.runs.open:
		return m.runs
	case m.models.open:
		return m.models
	case m.talk.open:
		m.talk.stages = m.stages
		return m.talk
	default:
		return nil
	}
}

// opens reports whether a key opens one.
func (m *Model) opens(k tea.KeyPressMsg) bool {
	return k.String() == "f1" || matches(k, m.keys.Help, m.keys.Runs, m.keys.Models, m.keys.Exchanges)
}

// openOver opens the dialog of a key.
func (m *Model) openOver(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case matches(k, m.keys.Runs):
		return m.listRuns()
	case matches(k, m.keys.Models):
		if m.options.Replay {
			m.say("This is a replay: no model is asked here.")
			return nil
		}
		return m.outbox.send(m.models.ask(m.status))
	case matches(k, m.keys.Exchanges):
		m.talk.show()
	default:
		m.help.open = true
	}
	return nil
}

// takeAsked gives a dialog what it asked for.
func (m *Model) takeAsked(data agent.Data) {
	switch d := data.(type) {
	case agent.SessionRuns:
		m.runs.take(d.Runs)
	case agent.SessionModels:
		m.models.take(d)
	case agent.SessionUndo:
		m.undo.take(d.Undo)
	case agent.ChatUndone:
		m.undone(d)
	}
}

// listRuns opens the list of runs with the run on the screen chosen, where that
// can go on.
func (m *Model) listRuns() tea.Cmd {
	if m.options.Replay {
		m.say("This is a replay: no run is taken up from here.")
		return nil
	}
	shown := ""
	if m.run != nil {
		shown = m.run.ID
	}
	return m.outbox.send(m.runs.ask(shown))
}

// pressOver gives a key to the dialog and sends what it asks for.
func (m *Model) pressOver(k tea.KeyPressMsg) tea.Cmd {
	c := m.over().press(k)
	if c == nil {
		return nil
	}
	switch c := c.(type) {
	case runner.Resume:
		m.focus = paneChat
		m.chat.toEnd()
		m.preparing = m.going() == ""
	case runner.Undo:
		if c.Dry { // of the list of runs
			m.undo.ask(c.Run, m.look.runWords(m.runs.runs[m.runs.at]))
		}
	case runner.Choose:
		m.chosen = &c
	}
	return tea.Batch(m.outbox.send(c), m.animate())
}

// steer says what was typed to the run that goes on.
func (m *Model) steer() tea.Cmd {
	text := m.input.value()
	switch {
	case m.options.Replay:
		m.say(nothingSent)
	case m.focus != paneChat:
		m.say("Tab leads to the input: what you type there, ctrl+t says to the run.")
	case m.going() == "":
		m.say("No run goes on that could hear it; enter sends it.")
	case text == "":
		m.say("Type what the run shall hear first.")
	default:
		m.input.clear()
		m.chat.toEnd()
		if !m.run.Steerable() {
			m.sayUntilHeard("Nothing in this run can hear it any more: it is queued.")
		}
		return m.outbox.send(runner.Steer{Text: text})
	}
	return nil
}

// warmEvery is how often typing has the model loaded at most.
const warmEvery = time.Minute

// warm has the model loaded as soon as the user begins to type, since it will be
// asked next.
func (m *Model) warm(typed string) tea.Cmd {
	if typed == "" || typed[0] == '/' || !m.input.empty() || m.closed || m.running() || m.chat.problem != "" {
		return nil
	}
	now := m.options.Now()
	if !m.warmed.IsZero() && now.Sub(m.warmed) < warmEvery {
		return nil
	}
	m.warmed = now
	return m.outbox.send(runner.Warm{})
}
