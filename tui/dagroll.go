package tui

import (
	"fmt"
	"strings"

	"replan/tui/untrusted"
)

// classNames are the states of steps as a roll-up lists them, those first that ask
// to be looked at.
var classNames = []struct {
	class stepClass
	name  string
}{
	{classGate, "gate"},
	{classFailed, "failed"},
	{classDoubt, "in doubt"},
	{classStopped, "stopped"},
	{classRetry, "retry"},
	{classRuns, "running"},
	{classReady, "ready"},
	{classHeld, "held"},
	{classWaits, "waiting"},
	{classDraft, "drafting"},
	{classDone, "done"},
	{classSkipped, "skipped"},
}

// rollNamed is how many steps of one state a roll-up names in the pane of the step.
const rollNamed = 40

// drawGroup draws which steps stand in one line of the plan, by their state.
func (d *detailPane) drawGroup(p *document, r *stepGroup) {
	l := d.look
	title := r.label
	if r.first != r.last {
		title += fmt.Sprintf(", %s to %s", r.first, r.last)
	}
	p.prose(l.Strong, title)
	does := "enter shows each, / finds one"
	if r.open {
		does = "enter folds them"
	}
	p.field("holds", l.Text, plural(len(r.steps), "step")+": "+does)
	for _, c := range classNames {
		if r.counts[c.class] == 0 {
			continue
		}
		var named []string
		for i := range r.steps {
			if r.class(i) == c.class && len(named) < rollNamed {
				named = append(named, untrusted.Line(r.steps[i].Step.Index))
			}
		}
		words := fmt.Sprintf("%d: %s", r.counts[c.class], strings.Join(named, ", "))
		if len(named) < r.counts[c.class] {
			words += l.glyphs.Ellipsis
		}
		p.field(c.name, l.Text, words)
	}
}
