package agent

import (
	"time"

	"replan/agent/event"
	"replan/planning/plan"
)

// retryBase is the pause before the second attempt of a step; it doubles for each
// further attempt.
const retryBase = 500 * time.Millisecond

// gatesAtOnce bounds the gates that are open or about to open. It is more than a
// user looks at. It is small enough that a plan of a thousand changes does not do
// a dry run of all before the first answer.
const gatesAtOnce = 16

// gatesFor returns how many gates may be open: of a step with items, those of a usual list, so
// that the user can answer them together.
func gatesFor(next *StepState) int {
	if next.isItem() {
		return plan.DefaultMax
	}
	return gatesAtOnce
}

// waitingAtOnce bounds the calls that wait for others of their servers while later ones start.
const waitingAtOnce = 64

// mayEnd reports whether nothing new may start after this action is applied.
func (a Action) mayEnd() bool {
	switch a.Record.(type) {
	case event.StepFailed, event.GuardBlocked:
		return true
	default:
		return false
	}
}

// blocks reports whether this is a guard ending the run.
func (a Action) blocks() bool {
	_, blocked := a.Record.(event.GuardBlocked)
	return blocked
}

// recordsAtOnce bounds the records without a slot that are returned at once.
const recordsAtOnce = 64

// placeholder returns the stand-in for the result of a step in a dry run.
func placeholder(s plan.Step) plan.Placeholder {
	by := s.Tool
	switch s.Executor {
	case plan.ExecutorSelf:
		by = "step " + s.Index
	case plan.ExecutorAgent:
		by = s.Profile
	}
	return plan.Placeholder("<" + by + " result>")
}
