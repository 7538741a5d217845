package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// noCopy is why nothing of a step can be copied.
func (m *Model) noCopy() string {
	if why := m.noRow(); why != "" {
		return why
	}
	if text, what := m.detail.copied(); text == "" {
		return "There is nothing to copy: " + what + " is empty."
	}
	return ""
}

// copyShown copies what the step shows.
func (m *Model) copyShown() tea.Cmd {
	text, what := m.detail.copied()
	lines := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	return m.copyText(what+", "+plural(lines, "line"), text)
}

// copied is what the tab in view shows, whole and as it was rather than as it is
// drawn, and its name.
func (d *detailPane) copied() (text, what string) {
	s := d.state()
	if s == nil {
		d.lines()
		return d.plain(), "what is shown"
	}
	what = tabNames[d.tab] + " of " + stepWords(s.Step.Index)
	switch d.tab {
	case tabArgs:
		return d.argsText(s), what
	case tabOutput:
		return outputText(s), what
	case tabDiff:
		if s.Diff != "" {
			return s.Diff, what
		}
		if d.versionBefore(s) == nil {
			return "", what
		}
	}
	d.lines()
	return d.plain(), what
}

// plain is every line of the sheet without its colours.
func (d *detailPane) plain() string {
	if d.sheet == nil {
		return ""
	}
	var b strings.Builder
	for line := range d.sheet.total {
		for _, row := range d.sheet.rows(line) {
			b.WriteString(strings.TrimRight(ansi.Strip(row), " "))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// clickTab chooses the tab of the step that was clicked on, and reports whether
// there is one.
func (m *Model) clickTab(at tea.Mouse) bool {
	r := m.layout.step
	x, y := r.x, r.y
	if m.layout.wide { // the tabs stand in the edge above
		x, y = r.x+1, r.y-1
	}
	if r.h == 0 || at.Y != y || !m.detail.clicked(at.X-x) {
		return false
	}
	m.focus = paneStep
	return true
}
