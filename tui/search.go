package tui

import "replan/tui/keymap"

// searchChat opens the search from any pane.
func (m *Model) searchChat() {
	m.focus = paneChat
	m.chat.StartSearch()
}

// searching reports whether the search takes the keys.
func (m *Model) searching() bool {
	return m.chat.Find.Open && m.focus == paneChat && !m.covered() && !m.quitting
}

// searchHints returns the keys of the open search.
func (m *Model) searchHints() []keymap.Hint {
	return []keymap.Hint{m.keys.Hint("next", "search.next"), m.keys.Hint("previous", "search.previous"), m.keys.Hint("leave", "dialog.leave")}
}
