package tui

import (
	tea "charm.land/bubbletea/v2"
)

// clickSheet shows what is listed under the pointer, where the dialog that asks
// lists something there.
func (m *Model) clickSheet(at tea.Mouse) tea.Cmd {
	if m.over() != nil || m.quitting || m.layout.small || at.Button != tea.MouseLeft || !m.layout.sheet.Contains(at.X, at.Y) {
		return nil
	}
	return m.ask.ClickedAt(at.Y - m.layout.sheet.Y)
}
