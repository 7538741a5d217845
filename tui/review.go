package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent"
)

// heldRun is the run whose plan waits to be looked over, nil where none does.
func (m *Model) heldRun() *agent.Run {
	if m.retold != nil || m.options.Replay || !m.running() {
		return nil
	}
	for _, s := range m.stages {
		if s.goes() && s.run.Held() {
			return s.run
		}
	}
	return nil
}

// faced begins a grace time for a review that has come to the screen, where it
// was not there before.
func (m *Model) faced(before bool) tea.Cmd {
	if !before && m.review.Shown() && !m.review.Grace {
		return m.review.Wait()
	}
	return nil
}
