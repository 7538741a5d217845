package tui

// turnStep shows the diff of the chosen step side by side, or unified.
func (m *Model) turnStep() {
	if word := m.look.TurnDiffs(m.detail.Width); word != "" {
		m.say(word)
	}
	m.detail.Touch()
}
