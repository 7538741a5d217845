package step

import (
	"strings"

	"replan/tui/draw"
	"replan/tui/wording"
)

// copied returns the complete text of the visible tab, unformatted, and its
// name.
func (d *Pane) copied() (text, what string) {
	s := d.state()
	if s == nil {
		d.View()
		return d.plain(), "what is shown"
	}
	what = tabNames[d.tab] + " of " + wording.StepWords(s.Step.Index)
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
	d.View()
	return d.plain(), what
}

// plain returns every line of the sheet without colors.
func (d *Pane) plain() string {
	if d.sheet == nil {
		return ""
	}
	var b strings.Builder
	for line := range d.sheet.Total {
		for _, row := range d.sheet.Rows(line) {
			b.WriteString(draw.Unstyled(row))
			b.WriteByte('\n')
		}
	}
	return b.String()
}
