package tui

import (
	"replan/agent/session"
)

// returned puts back into the input a text that was rejected or removed from
// the queue. If the input is no longer empty, the text goes to the history.
func (m *Model) returned(d session.Returned) {
	if d.Reason != "" {
		m.answered()
		m.chat.Add(m.chat.Note("warn", d.Reason))
		m.chat.ToEnd()
	}
	if d.Text == "" {
		return
	}
	if m.input.Empty() {
		m.input.Set(d.Text)
		return
	}
	m.input.Remember(d.Text)
}
