package tui

import (
	"replan/agent/session"
)

// returned takes back what was sent and not taken, or taken out of the queue. Where
// something else was typed meanwhile, it is with what was sent before.
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
