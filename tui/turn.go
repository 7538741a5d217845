package tui

import "replan/tui/untrusted"

// turn is one reply that a model writes into the chat: the answer, or what it
// says before it calls tools.
type turn struct {
	text     string
	thinking string
	done     bool
}

// open is the turn that is being written. One that is done is followed by
// another, which begins in the chat where the first of it arrives.
func (m *Model) openTurn() *turn {
	if m.turn == nil || m.turn.done {
		m.turn = &turn{}
		m.chat.add(m.chat.answer(m.turn))
	}
	return m.turn
}

// closeTurn ends a turn with all that was written in it.
func (m *Model) closeTurn(text string) {
	if text == "" && (m.turn == nil || m.turn.done) {
		return
	}
	t := m.openTurn()
	if text != "" {
		t.text = text
	}
	t.done = true
	m.chat.touch()
}

// answer draws a turn as far as it has come.
func (c *chatPane) answer(t *turn) *block {
	s := &stream{}
	b := &block{gap: true, live: true, until: func() bool { return t.done }}
	b.draw = func(width int) []string {
		switch {
		case t.text == "" && t.thinking != "" && !t.done:
			return []string{c.thought(t.thinking, width)}
		case t.done:
			return c.markdown.lines(t.text, width)
		default:
			return s.render(c.markdown, t.text, width)
		}
	}
	return b
}

// steered draws what the user said to a run that goes on, or where that was typed
// as a command, what became of it.
func (c *chatPane) steered(text string, typed bool) *block {
	text = untrusted.Visible(text)
	return &block{gap: !typed, draw: func(width int) []string {
		l := c.look
		var lines []string
		if !typed {
			lines = wrap(text, width-2)
		}
		for i, line := range lines {
			lead := "  "
			if i == 0 {
				lead = l.Accent.Render(l.glyphs.Prompt) + " "
			}
			lines[i] = lead + l.Strong.Render(line)
		}
		return append(lines, paint(l.Faint, indent(wrap("said to the run that goes on", width-2)))...)
	}}
}
