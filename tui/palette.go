package tui

import (
	"slices"

	"replan/tui/draw"
)

// openPalette opens the palette, with the actions available here first.
func (m *Model) openPalette() {
	p := m.palette
	p.Groups = append(slices.Clip(m.groups), m.commandGroup())
	p.Open, p.Search, p.Word, p.List, p.Here = true, "", "", draw.List{}, m.topic()
	p.Find()
}
