package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/tui/keymap"
)

// gateActions returns the answers to an open gate.
func (m *Model) gateActions() keymap.Handlers {
	return keymap.Handlers{
		"gate.once":     m.answering("gate.once"),
		"gate.run":      m.answering("gate.run"),
		"gate.always":   m.answering("gate.always"),
		"gate.deny":     m.answering("gate.deny"),
		"gate.edit":     m.answering("gate.edit"),
		"gate.all":      m.atGate("gate.all", m.ask.NotAlike),
		"gate.next":     m.atGate("gate.next", m.ask.Alone),
		"gate.previous": m.atGate("gate.previous", m.ask.Alone),
		"gate.sides":    m.atGate("gate.sides", m.ask.NoSides),
	}
}

// questionActions returns the answers to questions about a step that only the
// user can decide.
func (m *Model) questionActions() keymap.Handlers {
	return keymap.Handlers{
		"question.done":   m.answering("question.done"),
		"question.rerun":  m.answering("question.rerun"),
		"question.retry":  m.answering("question.retry"),
		"question.skip":   m.answering("question.skip"),
		"question.replan": m.answering("question.replan"),
		"question.edit":   m.answering("question.edit"),
		"question.abort":  m.answering("question.abort"),
	}
}

// answering returns the handler of an answer. If the question is hidden, the
// handler only shows it: no answer goes to an unseen question.
func (m *Model) answering(id string) keymap.Handler {
	return m.atGate(id, func() string { return m.ask.Refusal(id) })
}

// atGate returns the handler of a question dialog's action that is triggered
// elsewhere.
func (m *Model) atGate(id string, refuse func() string) keymap.Handler {
	return keymap.Handler{Refuse: refuse, Do: func() keymap.Wanted {
		if !m.ask.Showing() {
			return keymap.Wanted{Cmd: m.ask.Reopen()}
		}
		return keymap.Wanted{Cmd: m.actInAsk(func() keymap.Wanted { return m.ask.Act(id) })}
	}}
}

// reopen shows again what waits for the user: gates and questions before a
// plan.
func (m *Model) reopen() tea.Cmd {
	if m.ask.Waiting() == 0 {
		return m.review.Reopen()
	}
	return m.ask.Reopen()
}

// noGate returns why no gate or question can be shown.
func (m *Model) noGate() string {
	switch {
	case m.ask.Waiting() == 0 && !m.review.Waits():
		return "No gate is open."
	default:
		return ""
	}
}
