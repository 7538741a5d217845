package tui

import (
	tea "charm.land/bubbletea/v2"
)

// editCursor returns the text cursor of the review's editor, nil for none.
func (m *Model) editCursor() *tea.Cursor {
	if !m.review.Shown() || m.over() != overlay(m.review) || m.review.Editor == nil {
		return nil
	}
	c := m.review.Editor.Cursor()
	if c != nil {
		c.X += 2
		c.Y += 2 // below the header and the upper edge
	}
	return c
}
