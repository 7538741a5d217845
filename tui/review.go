package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent"
)

// heldRun returns the run whose plan waits for review, nil for none.
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

// faced starts the grace time of a review that has just appeared; before tells
// whether it was shown already.
func (m *Model) faced(before bool) tea.Cmd {
	if !before && m.review.Shown() && !m.review.Grace {
		return m.review.Wait()
	}
	return nil
}
