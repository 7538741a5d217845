package tui

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/tui/keymap"
)

// takeAnswer passes the answer to a query to the pane that asked. It reports
// whether msg is an answer.
func (m *Model) takeAnswer(msg tea.Msg) (cmd tea.Cmd, taken bool) {
	switch a := msg.(type) {
	case keymap.AnswerMsg[[]agent.Summary]:
		if m.answerable(a.Err) {
			m.runs.Take(a.Value)
		}
	case keymap.AnswerMsg[[]session.Conversation]:
		if m.answerable(a.Err) {
			m.runs.TakeTalks(a.Value)
		}
	case keymap.AnswerMsg[session.Models]:
		if m.answerable(a.Err) {
			m.models.Take(a.Value)
		}
	case keymap.AnswerMsg[session.Servers]:
		if m.answerable(a.Err) {
			m.servers.Take(a.Value)
		}
	case keymap.AnswerMsg[session.Settings]:
		if m.answerable(a.Err) {
			m.settings.Take(a.Value)
		}
	case keymap.AnswerMsg[session.Completions]:
		// Do not report missing completions while the user types.
		if !errors.Is(a.Err, runner.ErrClosed) {
			m.complete.Take(a.Value)
			cmd = m.suggestAnew()
		}
	case keymap.AnswerMsg[event.Undo]:
		if m.answerable(a.Err) {
			m.undo.Take(a.Value)
		}
	case keymap.JournalMsg:
		cmd = m.recalled(a)
	default:
		return nil, false
	}
	m.refresh()
	return cmd, true
}

// answerable reports whether there is an answer to show. It shows read errors
// to the user; partial answers remain usable.
func (m *Model) answerable(err error) bool {
	if errors.Is(err, runner.ErrClosed) {
		return false
	}
	if err != nil {
		m.tellNote(event.Note{Level: "warn", Text: err.Error()})
	}
	return true
}
