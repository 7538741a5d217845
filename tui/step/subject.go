package step

import (
	"replan/agent"
	"replan/tui/wording"
)

// subjectKind is the kind of thing the step pane shows.
type subjectKind int

// Kinds of subjects.
const (
	SubjectStep     subjectKind = iota
	SubjectCall                 // a call by a model
	SubjectGone                 // a step that a revision removed, or its previous version
	SubjectRevision             // the reason for a revision
	SubjectGroup                // several steps in one line of the plan
)

// Subject is what the step pane shows.
type Subject struct {
	Kind     subjectKind
	Key      string           // unique in its run
	Step     *agent.StepState // nil for a revision and for a group
	Revision *agent.Revision  // the revision itself, or the one that removed the step
	Group    *Group
}

// Group is several steps in one line of the plan.
type Group struct {
	Label       string
	First, Last string // indexes
	Open        bool
	Steps       []*agent.StepState
	Counts      wording.Counts
	Class       func(i int) wording.StepClass // of the i-th step
}
