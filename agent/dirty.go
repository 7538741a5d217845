package agent

import (
	"fmt"
	"slices"

	"replan/agent/event"
)

// noteEffects keeps in mind whether the run has a step, or a call of a model,
// that may change anything.
func (r fold) noteEffects(d event.Data) {
	if r.dirty == 0 || r.effects {
		return
	}
	switch d := d.(type) {
	case event.PlanCreated, event.PlanDiff:
		r.effects = slices.ContainsFunc(r.Steps, func(s *StepState) bool { return r.mayChange(s.Step.Tool) })
	case event.StepStarted:
		r.effects = r.mayChange(d.Tool)
	}
}

// mayChange reports whether a tool may change files: it says so, shows beforehand
// what it changes, or says nothing.
func (r *Run) mayChange(tool string) bool {
	if tool == "" {
		return false
	}
	f := r.facts(tool)
	return f.err == nil && !f.tool.ReadOnly && (f.tool.Destructive || f.tool.Previews || !f.tool.Annotated)
}

// nextDirty says, once, that the folder held changes before the run makes its
// own.
func (r decision) nextDirty() []Action {
	if !r.effects || r.dryRun || r.planOnly {
		return nil
	}
	text := dirtyWords(r.dirty)
	if slices.ContainsFunc(r.Notes, func(n event.Note) bool { return n.Text == text }) {
		return nil
	}
	return []Action{{Record: event.Note{Level: "warn", Text: text}}}
}

func dirtyWords(files int) string {
	has := fmt.Sprintf("%d files have changes", files)
	if files == 1 {
		has = "1 file has changes"
	}
	return has + " that git has not committed: undo can put back what this run changes, but git cannot tell its changes from yours"
}
