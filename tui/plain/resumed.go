package plain

import (
	"replan/agent/event"
	"replan/internal/english"
)

// resumed prints the state of a resumed run.
func (l *Log) resumed(d event.RunResumed) {
	l.Line("%s resumed: %s", l.Signs.Started, l.run.Goal.Line())
	l.where(d.Model, len(d.Catalogue), l.run.Workspace)
	if l.run.Revision > 0 {
		l.Line("  %d of %s done", l.run.Done(), english.Count(len(l.run.Plan.Steps), "step"))
	}
	for _, g := range l.run.Gates {
		l.gate(g.GateRequested) // still open: whoever answers must see the full call
	}
	for _, q := range l.run.Questions() {
		l.question(q)
	}
}
