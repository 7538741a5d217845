package tui

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
)

// takeAnswer gives the answer to a query to the pane that asked. It reports
// whether the message is one.
func (m *Model) takeAnswer(msg tea.Msg) (cmd tea.Cmd, taken bool) {
	switch a := msg.(type) {
	case answerMsg[[]agent.Summary]:
		if m.answerable(a.err) {
			m.runs.take(a.value)
		}
	case answerMsg[[]session.Conversation]:
		if m.answerable(a.err) {
			m.runs.takeTalks(a.value)
		}
	case answerMsg[session.Models]:
		if m.answerable(a.err) {
			m.models.take(a.value)
		}
	case answerMsg[session.Servers]:
		if m.answerable(a.err) {
			m.servers.take(a.value)
		}
	case answerMsg[session.Settings]:
		if m.answerable(a.err) {
			m.settings.take(a.value)
		}
	case answerMsg[session.Completions]:
		// Why there are none is not said while somebody types.
		if !errors.Is(a.err, runner.ErrClosed) {
			m.complete.take(a.value)
			cmd = m.suggestAnew()
		}
	case answerMsg[event.Undo]:
		if m.answerable(a.err) {
			m.undo.take(a.value)
		}
	case journalMsg:
		cmd = m.recalled(a)
	default:
		return nil, false
	}
	m.refresh()
	return cmd, true
}

// answerable reports whether there is an answer to show. It tells the user of
// what could not be read; other answers stand beside such an error.
func (m *Model) answerable(err error) bool {
	if errors.Is(err, runner.ErrClosed) {
		return false
	}
	if err != nil {
		m.tellNote(event.Note{Level: "warn", Text: err.Error()})
	}
	return true
}
