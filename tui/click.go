package tui

import (
	"slices"

	"replan/tui/draw"

	tea "charm.land/bubbletea/v2"
)

// clickAnswer runs the action of the key label under the pointer in a dialog,
// and reports whether there is one.
func (m *Model) clickAnswer(at tea.Mouse) (cmd tea.Cmd, taken bool) {
	if m.quitting || m.layout.small {
		return nil, false
	}
	id := ""
	switch over := m.over(); {
	case over != nil:
		if a, ok := over.(draw.Answerable); ok {
			id, taken = a.ButtonAt(at.X, at.Y-1) // below the header
		}
	case m.ask.Showing() && m.layout.sheet.Contains(at.X, at.Y):
		id, taken = draw.Pressed(m.ask.Buttons, at.X-m.layout.sheet.X, at.Y-m.layout.sheet.Y)
	}
	if !taken {
		return nil, false
	}
	return m.doHere(id), true
}

// clickOver chooses the entry under the pointer in the dialog that replaces the
// panes. A second click on it runs the dialog's first key.
func (m *Model) clickOver(over overlay, at tea.Mouse) tea.Cmd {
	over.Clicked(at.Y - 1) // below the header
	if l, ok := over.(draw.Listed); !ok || !l.Again() {
		return nil
	}
	for _, h := range over.Hints() {
		if len(h.IDs) == 1 && slices.Contains(m.keys.ByID[h.IDs[0]].Keys(), "enter") {
			return m.doHere(h.IDs[0])
		}
	}
	return nil
}

// clickHint runs the action of the footer hint at x.
func (m *Model) clickHint(x int) tea.Cmd {
	if m.quitting {
		if id, ok := draw.Pressed(m.quitButtons(m.layout.width), x, 0); ok {
			return m.doHere(id)
		}
		return nil
	}
	at := 0
	for _, h := range m.hints() {
		w := draw.VisibleWidth(m.drawHint(h)) + 2
		if at+w > m.layout.width {
			break
		}
		if x < at || x >= at+w {
			at += w
			continue
		}
		if id, ok := h.At(x - at - 1); ok {
			return m.doHere(id)
		}
		return nil
	}
	return nil
}

// clickInput moves the text cursor to the clicked cell.
func (m *Model) clickInput(at tea.Mouse) {
	in := m.layout.input
	if m.searching() || m.recall.Open || in.H == 0 || !in.Contains(at.X, at.Y) {
		return
	}
	m.input.SetFocus(true)
	m.input.PointAt(at.X-in.X, at.Y-in.Y-m.queueShown())
}
