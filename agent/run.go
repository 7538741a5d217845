package agent

import (
	"slices"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning"
	"replan/planning/plan"
)

// Run is the state of one run: what its events folded so far say. The engine
// and the screen fold the same events into a Run of their own, so they cannot
// disagree. The zero value is a run that plans with a model and has not started;
// only Apply changes it.
// A Run is not safe for use by several goroutines at once.
type Run struct {
	ID        string
	Goal      string
	Workspace string
	Model     string
	Limits    event.Limits
	Catalogue plan.Catalogue

	Seq       uint64    // of the last event applied
	StartedAt time.Time // of run.started
	Now       time.Time // of the last event applied

	Route      *event.RouteMatched // how the words of the goal made the plan; nil where they did not
	Phases     [3]Phase            // analysis, review, plan
	Plan       plan.Plan           // the plan as it is now; no steps while planning
	Revision   int                 // 0 before there is a plan
	PlannedAt  time.Time           // of the first plan
	Steps      []*StepState        // the plan's steps in its order; before there is a plan, the drafted ones
	Revisions  []Revision          // one for each replan
	Gates      []*Gate             // open gates, in the order of the plan
	Reviews    []Reviewed          // the plans that were looked over, and what was changed of each
	Replanning *Replanning         // set while the planner is asked for a new plan
	Synthesis  Synthesis
	Chat       *Loop       // of a turn of the chat in which the model calls tools; nil before its first call
	Exchanges  []*Exchange // with the model, in the order in which it was asked
	Remarks    []string    // with which the user steers, as far as nobody has heard them yet

	Usage         event.Usage
	ContextTokens int // prompt and completion of the newest model call
	ContextWindow int // tokens the model has room for, as far as known
	History       []plan.HistoryItem
	Attempts      []Attempt // of all steps, in the order in which they began
	Breaks        []Break   // in which it did not go on
	Notes         []event.Note
	Warnings      []string      // budgets and guards that warned, in words
	Paused        bool          // the user stopped it
	Result        *event.Result // set once the run is over

	core // what only the engine needs
}

// NewRun returns a run that has not started. planners make its plans; nil plans
// in three phases with a model. Whoever folds the events of a run must pass the
// same planners as whoever carried it out.
func NewRun(planners planning.Planners) *Run {
	return &Run{core: core{ownPlanners: planners}}
}

// Phase is one phase of planning as far as it has come.
type Phase struct {
	Status    PhaseStatus
	StartedAt time.Time
	MS        int64
	Tokens    int    // prompt and completion
	Text      string // as far as it has streamed in
	Thinking  string
	Reason    string // why it was skipped or failed
}

// PhaseStatus says where a phase stands.
type PhaseStatus string

// Where a phase can stand.
const (
	PhasePending   PhaseStatus = ""
	PhaseRunning   PhaseStatus = "running"
	PhaseCompleted PhaseStatus = "completed"
	PhaseSkipped   PhaseStatus = "skipped"
	PhaseFailed    PhaseStatus = "failed"
)

// StepState is one step of the plan and how far it has come.
type StepState struct {
	Step      plan.Step
	Status    StepStatus
	Attempt   int             // of the running or last attempt; 0 before the first
	Args      map[string]any  // as resolved for that attempt
	Coerced   []plan.Coercion // of the scalars in Args
	ReadyAt   time.Time       // since then nothing but a gate or a slot keeps the next attempt; zero where something else does
	StartedAt time.Time
	MS        int64
	Result    any
	Output    string // as far as it has streamed in, capped
	Progress  event.StepProgress
	Error     string
	Failure   event.FailureKind
	Gate      string    // id of the open gate it waits at
	Diff      string    // the diff its gate showed, kept after the decision
	RetryAt   time.Time // of the next attempt
	Change    Change    // what the newest revision did to it
	Draft     bool      // not yet part of a plan
	Tokens    int
	Parent    string // of an inner call: the agent step that makes it, or prompt.ChatParent
	Loop      *Loop  // of an agent step, once it has started
	Run       string // that a plan tool started

	DryRun  bool       // nothing was called
	DryGate *rule.Rule // of a dry run: the rule that would ask

	attempts     attemptCount
	gate         gateState
	author       authorship
	fill         filling
	interruption interruption
	skip         skipping
	inner        innerCall
	sched        schedule
	call         readyCall

	replanned  bool        // a replan added or revised it
	awaitsUser bool        // a question about it is open
	startable  bool        // of a draft: all that it needs is there
	partial    []string    // the steps whose results its model saw in part only
	runUsage   event.Usage // of the run that it started, as far as the run's own usage counts it
}

// StepStatus says where a step stands.
type StepStatus string

// Where a step can stand.
const (
	StepPending   StepStatus = "pending"
	StepWaiting   StepStatus = "waiting" // at an open gate
	StepRunning   StepStatus = "running"
	StepCompleted StepStatus = "completed"
	StepFailed    StepStatus = "failed"
	StepSkipped   StepStatus = "skipped"
	StepInDoubt   StepStatus = "in_doubt"
)

// Ended reports whether the step needs nothing more in this revision.
func (s StepStatus) Ended() bool {
	switch s {
	case StepCompleted, StepFailed, StepSkipped, StepInDoubt:
		return true
	default:
		return false
	}
}

// Change says what the newest revision did to a step.
type Change string

// What a revision can do to a step that is still in the plan.
const (
	ChangeNone    Change = ""
	ChangeAdded   Change = "added"
	ChangeRevised Change = "revised"
)

// Revision is one replan: what it changed and why.
type Revision struct {
	Number  int         // from 2
	Reason  string      // the failure that led to it
	Removed []StepState // the steps it took out, as they stood, in their old order
	After   []string    // for each removed step the index of the step that stood before it, or ""
	Added   []string
	Revised []string
	Before  []StepState // the revised steps as they stood before

	Step    string       // that failed, "" where none did
	Said    string       // what the user asked for
	AskedAt time.Time    // the planner was asked for it
	At      time.Time    // it took the place of the plan before
	Was     []*StepState // the steps of that plan, as they stood; not to be changed
}

// Gate is an open gate.
type Gate struct {
	event.GateRequested
	RequestedAt time.Time
}

// Replanning is a replan under way.
type Replanning struct {
	Attempt   int
	Step      string
	Error     string
	Said      string // what the user asks for
	StartedAt time.Time
	Text      string
}

// Synthesis is the answer as far as it has come.
type Synthesis struct {
	Started   bool
	Done      bool
	Direct    bool
	StartedAt time.Time
	Text      string
	Thinking  string
	MS        int64
	Error     string // why there is no answer
}

// RemovedAfter is the step of the present plan behind which the i-th step that
// the n-th revision took out is shown, both from 0; "" is before all.
func (r *Run) RemovedAfter(n, i int) string {
	for {
		revision := &r.Revisions[n]
		if i >= len(revision.After) || revision.After[i] == "" {
			return ""
		}
		after := revision.After[i]
		if r.Step(after) != nil && !r.addedSince(n, after) {
			return after
		}
		if n, i = r.removal(n, i, after); n < 0 {
			return ""
		}
	}
}

// addedSince reports whether a revision from the n-th on brought this index in,
// so that it is not the step that stood there before.
func (r *Run) addedSince(n int, index string) bool {
	return slices.ContainsFunc(r.Revisions[n:], func(revision Revision) bool { return slices.Contains(revision.Added, index) })
}

// removal finds where a step was taken out: before the i-th of the n-th
// revision, or by a later one. The revision is -1 where it was not.
func (r *Run) removal(n, i int, index string) (revision, position int) {
	for j := range i {
		if r.Revisions[n].Removed[j].Step.Index == index {
			return n, j
		}
	}
	for m := n + 1; m < len(r.Revisions); m++ {
		for j := range r.Revisions[m].Removed {
			if r.Revisions[m].Removed[j].Step.Index == index {
				return m, j
			}
		}
	}
	return -1, 0
}
