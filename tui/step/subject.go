package step

import (
	"replan/agent"
	"replan/tui/telling"
)

// subjectKind says what the step pane shows.
type subjectKind int

// What the pane can show.
const (
	SubjectStep     subjectKind = iota
	SubjectCall                 // a call of a model
	SubjectGone                 // a step that a revision took out, or its version before
	SubjectRevision             // why a revision was made
	SubjectGroup                // several steps that the plan shows in one line
)

// Subject is what the step pane shows.
type Subject struct {
	Kind     subjectKind
	Key      string           // tells it from every other one of its run
	Step     *agent.StepState // nil for a revision and for a group
	Revision *agent.Revision  // it, or the one that took the step out
	Group    *Group
}

// Group is several steps that the plan shows in one line.
type Group struct {
	Label       string
	First, Last string // indexes
	Open        bool
	Steps       []*agent.StepState
	Counts      telling.Counts
	Class       func(i int) telling.StepClass // of the i-th of the steps
}
