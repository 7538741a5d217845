package agent

import (
	"slices"

	"replan/agent/event"
	"replan/internal/english"
)

// uncommittedFiles are the files that had uncommitted changes when a run began. They matter once
// the run has a step, or a call by a model, that may change something.
type uncommittedFiles struct {
	files   int
	matters bool
}

// note notes what an event means for them. steps are those of the plan.
func (u *uncommittedFiles) note(d event.Data, steps []*StepState, mayChange func(tool string) bool) {
	if u.files == 0 || u.matters {
		return
	}
	switch d := d.(type) {
	case event.PlanCreated, event.PlanChosen, event.PlanDiff:
		u.matters = slices.ContainsFunc(steps, func(s *StepState) bool { return mayChange(s.Step.Tool) })
	case event.StepStarted:
		u.matters = mayChange(d.Tool)
	}
}

// warning returns what to tell the user about them, "" if nothing.
func (u *uncommittedFiles) warning() string {
	if !u.matters {
		return ""
	}
	return english.Count(u.files, "file") + " " + english.Agree(u.files, "has", "have") + " uncommitted changes; in git, this run's edits will mix with yours. Undo still works."
}
