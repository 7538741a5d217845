package agent

import (
	"iter"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
)

// The views are what the types that decide the next action see of the parts of a run: they
// only read.

// permissionsView are the open gates, and what the user has allowed at gates.
type permissionsView interface {
	openGates() []*Gate
	planGates(s *StepState, tool plan.Tool) bool
	hasChanged(tool plan.Tool) bool
	grants() bool
	lift(asks rule.Rule, t plan.Tool, args map[string]any, uncovered []rule.Provenance) rule.Rule
	judgePaths() bool
}

// questionsView are the open questions about steps.
type questionsView interface {
	asks() bool
	waiting() []*StepState
	lostSteps() []*StepState
}

// reviewsView tells whether the plan waits for its review.
type reviewsView interface {
	ReviewPending() bool
}

// uncommittedView tells what to say about uncommitted changes.
type uncommittedView interface {
	warning() string
}

// flightView is what is under way.
type flightView interface {
	quiet() bool
	calls() iter.Seq[event.Attempt]
	callsUnderWay() int
	modelsUnderWay() int
}

// queuesView are the steps that can be acted on, by need.
type queuesView interface {
	of(n need) queue
	approvedCalls() []*StepState
	only(keep func(*StepState) bool) queues
	empty() bool
}
