package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/internal/english"
)

// noCopy returns why nothing of a step can be copied.
func (m *Model) noCopy() string {
	if why := m.dag.NoRow(); why != "" {
		return why
	}
	if text, what := m.detail.Copied(); text == "" {
		return "There is nothing to copy: " + what + " is empty."
	}
	return ""
}

// copyShown copies the visible text of the step.
func (m *Model) copyShown() tea.Cmd {
	text, what := m.detail.Copied()
	lines := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	return m.copyText(what+", "+english.Count(lines, "line"), text)
}

// clickTab chooses the clicked tab of the step, and reports whether there is
// one.
func (m *Model) clickTab(at tea.Mouse) bool {
	r := m.layout.step
	x, y := r.X, r.Y
	if m.layout.wide { // the tabs are drawn in the edge above
		x, y = r.X+1, r.Y-1
	}
	if r.H == 0 || at.Y != y || !m.detail.Clicked(at.X-x) {
		return false
	}
	m.focus = paneStep
	return true
}
