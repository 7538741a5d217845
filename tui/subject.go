package tui

import "replan/agent"

// subjectKind says what the step pane shows.
type subjectKind int

const (
	subjectStep     subjectKind = iota
	subjectCall                 // a call of a model
	subjectGone                 // a step that a revision took out, or its version before
	subjectRevision             // why a revision was made
	subjectGroup                // several steps that the plan shows in one line
)

// subject is what the step pane shows.
type subject struct {
	kind     subjectKind
	key      string           // tells it from every other one of its run
	step     *agent.StepState // nil for a revision and for a group
	revision *agent.Revision  // it, or the one that took the step out
	group    *stepGroup
}

// stepGroup is several steps that the plan shows in one line.
type stepGroup struct {
	label       string
	first, last string // indexes
	open        bool
	steps       []*agent.StepState
	counts      counts
	class       func(i int) stepClass // of the i-th of the steps
}
