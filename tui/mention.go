package tui

import (
	"replan/agent/session"
	"replan/planning/prompt"
	"replan/tui/plain"
)

// mentioned draws what goes with a message, a line each.
func (c *chatPane) mentioned(mentions []prompt.Mention) *block {
	return &block{draw: func(width int) []string {
		l := c.look
		lines := make([]string, len(mentions))
		for i, m := range mentions {
			lines[i] = "  " + l.Accent.Render("@") + " " + l.Muted.Render(l.cut(plain.Mentioned(m, l.glyphs.Separator), max(width-4, 1)))
		}
		return lines
	}}
}

// returned takes back what was sent and not taken, or taken out of the queue. Where
// something else was typed meanwhile, it is with what was sent before.
func (m *Model) returned(d session.Returned) {
	if d.Reason != "" {
		m.answered()
		m.chat.add(m.chat.note("warn", d.Reason))
		m.chat.toEnd()
	}
	if d.Text == "" {
		return
	}
	if m.input.empty() {
		m.input.set(d.Text)
		return
	}
	m.input.remember(d.Text)
}
