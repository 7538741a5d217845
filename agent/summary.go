package agent

import (
	"time"

	"replan/agent/event"
)

// Summary is a run in a line of a list.
type Summary struct {
	Run       string       `json:"run"`
	Plan      string       `json:"plan"` // id of the stored plan it carried out; "" for a goal or a file without one
	Goal      string       `json:"goal"`
	Title     string       `json:"title,omitempty"` // of the plan
	Status    event.Status `json:"status"`          // StatusUnfinished where it has not ended
	Reason    event.Reason `json:"reason"`
	Started   time.Time    `json:"started"`
	Steps     int          `json:"steps"` // of the plan as it is now
	Done      int          `json:"done"`  // of those
	Replans   int          `json:"replans"`
	Workspace string       `json:"workspace"`
	Session   string       `json:"session,omitempty"`
	Outer     string       `json:"outer,omitempty"`     // the run whose model asked for this one, with which it is resumed
	Resumable bool         `json:"resumable"`           // there is something left to do
	PlanOnly  bool         `json:"plan_only,omitempty"` // a plan was to be made, and nothing run
}

// How a run that has not ended can stand.
const (
	StatusUnfinished event.Status = "unfinished" // its program was ended, or nobody knows better
	StatusRunning    event.Status = "running"    // some process is carrying it out
)

// Summary returns the run in a line.
func (r *Run) Summary() Summary {
	s := Summary{
		Run: r.ID, Plan: r.Plan.ID, Goal: r.Goal, Title: r.Plan.Title, Status: StatusUnfinished,
		Started: r.StartedAt, Steps: len(r.Plan.Steps), Done: r.Done(), Replans: r.Usage.Replans,
		Workspace: r.Workspace, Session: r.session, Outer: r.outer, Resumable: r.Resumable(), PlanOnly: r.planOnly,
	}
	if r.Result != nil {
		s.Status, s.Reason = r.Result.Status, r.Result.Reason
	}
	return s
}

// Resumable reports whether a resume would find something to do: the run has
// begun and is not completed, or the model still owes it an answer.
func (r *Run) Resumable() bool {
	return r.ID != "" && !r.dryRun && (r.Result == nil || r.Result.Status != event.StatusCompleted || r.Unanswered() != "")
}

// Standing is a run as far as it has come.
type Standing struct {
	event.Result
	CompletedSteps []string `json:"completed_steps"`
	InDoubt        []string `json:"in_doubt"`
}

// Standing returns the result so far, and which steps are done or in doubt. A
// run that has not ended has the status unfinished and no reason. live says that
// some process is carrying it out: in one that none does, a step that was under
// way and does not only read is in doubt.
func (r *Run) Standing(live bool) Standing {
	s := Standing{CompletedSteps: []string{}, InDoubt: []string{}}
	if r.Result != nil {
		s.Result = *r.Result
	} else {
		s.Result = r.result(ending{status: StatusUnfinished})
	}
	r.every(func(step *StepState) {
		switch {
		case step.Draft:
		case step.Status == StepCompleted && step.Parent == "":
			s.CompletedSteps = append(s.CompletedSteps, step.Step.Index)
		case step.Status == StepInDoubt, step.Status == StepRunning && step.Loop == nil && (step.interruption.isLost() || !live && !r.readOnly(step)):
			s.InDoubt = append(s.InDoubt, step.Step.Index)
		}
	})
	return s
}
