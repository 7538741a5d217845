package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/tui/keymap"
)

// recalls reports whether the search of what was sent before is on the screen.
func (m *Model) recalls() bool { return m.recall.Open && m.focus == paneChat }

// recallHandlers are the actions of the search of what was sent before.
func (m *Model) recallHandlers() keymap.Handlers { return m.recall.Handlers(m.recallText) }

// recallText puts what was sent before into the input.
func (m *Model) recallText(text string) {
	m.input.Clear()
	m.input.Set(text)
}

// writingHints are the keys of the list over the input.
func (m *Model) writingHints() []keymap.Hint {
	k := m.keys
	return []keymap.Hint{k.Hint("take", "list.take"), k.Hint("choose", "list.up", "list.down"), k.Hint("close", "dialog.leave")}
}

// composed is what stands where the user writes: what is queued, and the input.
func (m *Model) composed() []string {
	return append(m.waits(m.layout.input.W, m.queueShown()), m.input.Lines()...)
}

// send sends what was typed, unless a backslash asks for a new line.
func (m *Model) send() tea.Cmd {
	if m.input.BreakLine() {
		return m.suggest()
	}
	return m.submit()
}

// before takes back what was queued last, or shows what was sent before.
func (m *Model) before() tea.Cmd {
	if m.mayTakeBack() {
		return m.takeBack()
	}
	m.input.Back()
	return nil
}
