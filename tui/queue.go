package tui

import (
	"fmt"

	"replan/agent"
	"replan/tui/untrusted"
)

// queued takes what the session gets ready and what waits. Once it gets nothing
// ready any more, what was asked of it has come to something.
func (m *Model) queued(d agent.SessionQueue) {
	if m.queue.Doing != "" && d.Doing == "" {
		m.answered()
	}
	m.queue = d
	m.chat.touch()
}

// queueShown is how many of those that wait are named.
const queueShown = 3

// waits is what waits for that which goes on, each on a line.
func (m *Model) waits(width int) []string {
	l := m.look
	var lines []string
	for i, name := range m.queue.Waiting {
		text := "queued: " + untrusted.FirstLine(name)
		if more := len(m.queue.Waiting) - queueShown; i == queueShown-1 && more > 0 {
			text += fmt.Sprintf(" (and %d more)", more)
		}
		if i < queueShown {
			lines = append(lines, l.Faint.Render(l.glyphs.Pending)+" "+l.Muted.Render(l.cut(text, max(width-2, 1))))
		}
	}
	return lines
}

// getsReady says what the session gets ready.
func (m *Model) getsReady() string {
	if name := m.queue.Doing; name != "" && m.slashed() {
		return untrusted.FirstLine(name)
	}
	return "getting ready"
}
