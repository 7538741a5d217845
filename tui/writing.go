package tui

import (
	tea "charm.land/bubbletea/v2"
)

// recalls reports whether the search of what was sent before is on the screen.
func (m *Model) recalls() bool { return m.recall.open && m.focus == paneChat }

// recallHandlers are the actions of the search of what was sent before.
func (m *Model) recallHandlers() handlers { return m.recall.handlers(m.recallText) }

// recallText puts what was sent before into the input.
func (m *Model) recallText(text string) {
	m.input.clear()
	m.input.set(text)
}

// writingHints are the keys of the list over the input.
func (m *Model) writingHints() []hint {
	k := m.keys
	return []hint{k.hint("take", "list.take"), k.hint("choose", "list.up", "list.down"), k.hint("close", "dialog.leave")}
}

// composed is what stands where the user writes: what is queued, and the input.
func (m *Model) composed() []string {
	return append(m.waits(m.layout.input.w, m.queueShown()), m.input.lines()...)
}

// send sends what was typed, unless a backslash asks for a new line.
func (m *Model) send() tea.Cmd {
	if m.input.breakLine() {
		return m.suggest()
	}
	return m.submit()
}

// before takes back what was queued last, or shows what was sent before.
func (m *Model) before() tea.Cmd {
	if m.mayTakeBack() {
		return m.takeBack()
	}
	m.input.back()
	return nil
}
