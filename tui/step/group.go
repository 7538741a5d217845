package step

import (
	"fmt"
	"strings"

	"replan/internal/english"
	"replan/tui/draw"
	"replan/tui/telling"
)

// classNames are the step states in the order in which a group lists them,
// those that need attention first.
var classNames = []struct {
	class telling.StepClass
	name  string
}{
	{telling.ClassGate, "gate"},
	{telling.ClassFailed, "failed"},
	{telling.ClassDoubt, "in doubt"},
	{telling.ClassStopped, "stopped"},
	{telling.ClassRetry, "retry"},
	{telling.ClassRuns, "running"},
	{telling.ClassReady, "ready"},
	{telling.ClassHeld, "held"},
	{telling.ClassWaits, "waiting"},
	{telling.ClassDraft, "drafting"},
	{telling.ClassDone, "done"},
	{telling.ClassSkipped, "skipped"},
}

// rollNamed is the maximum number of steps per state that the step pane names.
const rollNamed = 40

// drawGroup draws the steps of a group by their state.
func (d *Pane) drawGroup(p *draw.Document, r *Group) {
	l := d.styles
	title := r.Label
	if r.First != r.Last {
		title += fmt.Sprintf(", %s to %s", r.First, r.Last)
	}
	p.Prose(l.Strong, title)
	does := d.keys.Name("plan.open") + " shows each, " + d.keys.Name("plan.filter") + " finds one"
	if r.Open {
		does = d.keys.Name("plan.open") + " collapses them"
	}
	p.Field("holds", l.Text, english.Count(len(r.Steps), "step")+": "+does)
	for _, c := range classNames {
		if r.Counts[c.class] == 0 {
			continue
		}
		var named []string
		for i := range r.Steps {
			if r.Class(i) == c.class && len(named) < rollNamed {
				named = append(named, r.Steps[i].Step.Name())
			}
		}
		words := fmt.Sprintf("%d: %s", r.Counts[c.class], strings.Join(named, ", "))
		if len(named) < r.Counts[c.class] {
			words += l.Glyphs.Ellipsis
		}
		p.Field(c.name, l.Text, words)
	}
}
