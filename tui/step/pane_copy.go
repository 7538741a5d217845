package step

import (
	"replan/tui/wording"
)

// copied returns the complete text of the visible tab, unformatted, and its
// name.
func (d *Pane) copied() (text, what string) {
	s := d.state()
	if s == nil {
		d.View()
		return d.sheet.plain(), "what is shown"
	}
	what = tabNames[d.tabs.shown()] + " of " + wording.StepWords(s.Step.Index)
	switch d.tabs.shown() {
	case tabArgs:
		return argsText(d.run, s), what
	case tabOutput:
		return outputText(s), what
	case tabDiff:
		if s.Diff != "" {
			return s.Diff, what
		}
		if versionBefore(d.run, d.shown) == nil {
			return "", what
		}
	}
	d.View()
	return d.sheet.plain(), what
}
