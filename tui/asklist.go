package tui

import (
	tea "charm.land/bubbletea/v2"
)

// clickSheet shows the list entry under the pointer in the question dialog, if
// any.
func (m *Model) clickSheet(at tea.Mouse) tea.Cmd {
	if m.over() != nil || m.quitting || m.layout.small || at.Button != tea.MouseLeft || !m.layout.sheet.Contains(at.X, at.Y) {
		return nil
	}
	return m.ask.ClickedAt(at.Y - m.layout.sheet.Y)
}
