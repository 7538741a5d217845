package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/tui/keymap"
)

// recalls reports whether the history search is on the screen.
func (m *Model) recalls() bool { return m.recall.Open && m.focus == paneChat }

// recallHandlers returns the actions of the history search.
func (m *Model) recallHandlers() keymap.Handlers { return m.recall.Handlers(m.recallText) }

// recallText puts an earlier text into the input.
func (m *Model) recallText(text string) {
	m.input.Clear()
	m.input.Set(text)
}

// writingHints returns the keys of the list above the input.
func (m *Model) writingHints() []keymap.Hint {
	k := m.keys
	return []keymap.Hint{k.Hint("take", "list.take"), k.Hint("choose", "list.up", "list.down"), k.Hint("close", "dialog.leave")}
}

// composed returns the lines of the queue and the input.
func (m *Model) composed() []string {
	return append(m.waits(m.layout.input.W, m.queueShown()), m.input.Lines()...)
}

// send sends the typed text, unless a backslash requests a new line.
func (m *Model) send() tea.Cmd {
	if m.input.BreakLine() {
		return m.suggest()
	}
	return m.submit()
}

// before takes back the entry queued last, or shows the previous text of the
// history.
func (m *Model) before() tea.Cmd {
	if m.mayTakeBack() {
		return m.takeBack()
	}
	m.input.Back()
	return nil
}
