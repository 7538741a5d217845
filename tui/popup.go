package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/tui/draw"
)

// overInput draws the list above the input, if any, over the last lines of the
// chat, which are width cells wide.
func (m *Model) overInput(lines []string, width int) []string {
	if m.covered() || m.layout.input.H == 0 {
		return lines
	}
	var drawn []string
	switch {
	case m.recalls():
		drawn = m.recall.Draw(width, len(lines))
	case m.completes():
		drawn = m.complete.Draw(width, len(lines))
	}
	copy(lines[len(lines)-len(drawn):], drawn)
	if l := m.openList(); l != nil {
		l.First = m.layout.chat.Y + len(lines) - len(drawn) + 1
	}
	return lines
}

// openList returns the list above the input, nil for none.
func (m *Model) openList() *draw.List {
	switch {
	case m.covered() || m.layout.input.H == 0 || m.quitting:
		return nil
	case m.recalls():
		return &m.recall.List
	case m.completes():
		return &m.complete.List
	default:
		return nil
	}
}

// listUnder returns the list above the input if the pointer is on one of its
// rows, else nil.
func (m *Model) listUnder(at tea.Mouse) *draw.List {
	l := m.openList()
	if l == nil || !m.layout.chat.Contains(at.X, at.Y) || at.Y < l.First {
		return nil
	}
	return l
}

// clickList chooses the clicked row of the list above the input, and reports
// whether there is one.
func (m *Model) clickList(at tea.Mouse) (cmd tea.Cmd, taken bool) {
	l := m.listUnder(at)
	if l == nil || !l.Clicked(at.Y, l.Count) {
		return nil, false
	}
	if m.recalls() {
		if n := m.recall.Chosen(); n >= 0 {
			m.recallText(m.recall.All[n].Text)
		}
		m.recall.Open = false
		return nil, true
	}
	return m.takeChosen(), true
}
