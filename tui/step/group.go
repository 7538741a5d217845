package step

import (
	"fmt"
	"strings"

	"replan/internal/english"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// classNames are the step states in the order in which a group lists them,
// those that need attention first.
var classNames = []struct {
	class wording.StepClass
	name  string
}{
	{wording.ClassGate, "gate"},
	{wording.ClassFailed, "failed"},
	{wording.ClassDeclined, "declined"},
	{wording.ClassDoubt, "in doubt"},
	{wording.ClassStopped, "stopped"},
	{wording.ClassRetry, "retry"},
	{wording.ClassRuns, "running"},
	{wording.ClassReady, "ready"},
	{wording.ClassHeld, "held"},
	{wording.ClassWaits, "waiting"},
	{wording.ClassDraft, "drafting"},
	{wording.ClassDone, "done"},
	{wording.ClassSkipped, "skipped"},
}

// rollNamed is the maximum number of steps per state that the step pane names.
const rollNamed = 40

// drawGroup draws the steps of a group by their state.
func drawGroup(p *draw.Document, keys *keymap.Map, r *Group) {
	l := p.Styles
	title := r.Label
	if r.First != r.Last {
		title += fmt.Sprintf(", %s to %s", r.First, r.Last)
	}
	p.Prose(l.Strong, title)
	does := keys.Name("plan.open") + " shows each, " + keys.Name("plan.filter") + " finds one"
	if r.Open {
		does = keys.Name("plan.open") + " collapses them"
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
