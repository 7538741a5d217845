package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/internal/english"
)

// noCopy is why nothing of a step can be copied.
func (m *Model) noCopy() string {
	if why := m.dag.NoRow(); why != "" {
		return why
	}
	if text, what := m.detail.Copied(); text == "" {
		return "There is nothing to copy: " + what + " is empty."
	}
	return ""
}

// copyShown copies what the step shows.
func (m *Model) copyShown() tea.Cmd {
	text, what := m.detail.Copied()
	lines := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	return m.copyText(what+", "+english.Count(lines, "line"), text)
}

// clickTab chooses the tab of the step that was clicked on, and reports whether
// there is one.
func (m *Model) clickTab(at tea.Mouse) bool {
	r := m.layout.step
	x, y := r.X, r.Y
	if m.layout.wide { // the tabs stand in the edge above
		x, y = r.X+1, r.Y-1
	}
	if r.H == 0 || at.Y != y || !m.detail.Clicked(at.X-x) {
		return false
	}
	m.focus = paneStep
	return true
}
