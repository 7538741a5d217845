package tui

// turnStep toggles the diff of the chosen step between side by side and
// unified.
func (m *Model) turnStep() {
	if word := m.look.TurnDiffs(m.detail.Width); word != "" {
		m.say(word)
	}
	m.detail.Touch()
}
