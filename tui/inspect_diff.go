package tui

import "replan/tui/draw"

// NoSides is why the diff of the chosen step cannot be turned.
func (m *Model) noSides() string {
	m.detail.Lines()
	for _, f := range m.detail.Back {
		if _, ok := f.(draw.DiffLeaf); ok {
			return ""
		}
	}
	return "No diff is in view that could stand side by side."
}

// turnStep shows the diff of the chosen step side by side, or unified.
func (m *Model) turnStep() {
	if word := m.look.TurnDiffs(m.detail.Width); word != "" {
		m.say(word)
	}
	m.detail.Touch()
}
