package agent

import (
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning"
	"replan/planning/plan"
)

// Run is the state of one run after the events applied so far. The engine and the
// screen each apply the same events to a Run of their own, so they cannot
// disagree. The zero value is a run that plans with a model and has not started.
// Only Apply changes a Run. It is not safe for concurrent use.
type Run struct {
	State
}

// NewRun returns a run that has not started. planners makes its plans; nil plans
// in three phases with a model. Whoever replays the events of a run must pass the
// same planners as the original engine.
func NewRun(planners planning.Planners) *Run {
	r := &Run{}
	r.planners = planners
	return r
}

// StepState is the state of one plan step.
type StepState struct {
	Step      plan.Step
	Status    StepStatus
	Attempt   int             // of the running or last attempt; 0 before the first
	Args      map[string]any  // as resolved for that attempt
	Coerced   []plan.Coercion // of the scalars in Args
	ReadyAt   time.Time       // when only a gate or a slot still delayed the next attempt; zero if something else does
	StartedAt time.Time
	MS        int64
	Result    any
	Beside    plan.Beside            // the result, or the error
	Checked   []event.CheckCompleted // checks of the last attempt that are evaluated, in order
	Output    string                 // streamed so far, capped
	Progress  event.StepProgress
	Error     untrusted.Text
	Failure   event.FailureKind
	Gate      string    // id of the open gate it waits at
	Diff      string    // the diff shown at its gate, kept after the decision
	RetryAt   time.Time // of the next attempt
	Change    Change    // by the newest revision
	Draft     bool      // not yet part of a plan
	Tokens    int
	Parent    string       // of an inner call: the agent step that makes it, or prompt.ChatParent
	Loop      *Loop        // of an agent step that has started
	Items     []*StepState // of a step with for_each that has begun: "3.1", "3.2" of step 3
	Run       string       // started by a plan tool

	Polls    int  // calls so far after which what it waits for did not hold
	NotTaken bool // skipped by its condition, or because it needs the result of such a step

	DryRun  bool       // nothing was called
	DryGate *rule.Rule // of a dry run: the rule that would ask

	attempts     attemptCount
	gate         gateState
	author       authorship
	fill         filling
	interruption interruption
	toRerun      bool // it was in doubt, and has not started since the answer that it runs again
	skip         skipping
	inner        innerCall
	sched        schedule
	node         position
	call         readyCall

	checks checking
	item   itemOf
	fan    fanOut

	waitingFrom time.Duration // active time of the run at its first call, if it waits for something

	replanned  bool        // added or revised by a replan
	awaitsUser bool        // a question about it is open
	startable  bool        // of a draft: everything it needs is available
	partial    []string    // steps whose results its model saw only in part
	runUsage   event.Usage // of the run it started, as already included in the usage of this run
}

// StepStatus is the status of a step.
type StepStatus string

// Statuses of a step.
const (
	StepPending   StepStatus = "pending"
	StepWaiting   StepStatus = "waiting" // at an open gate
	StepRunning   StepStatus = "running"
	StepChecking  StepStatus = "checking" // its work is done, and its checks are not
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

// Change is what the newest revision did to a step.
type Change string

// Changes to a step that is still in the plan.
const (
	ChangeNone    Change = ""
	ChangeAdded   Change = "added"
	ChangeRevised Change = "revised"
)

// Sources returns the origins of a step's arguments, sorted by name.
func (r *Run) Sources(s *StepState) []Source { return r.origins().Sources(s) }

// Read returns the untrusted texts that the answer of a run may hold, for the turns of the
// conversation that follow.
func (r *Run) Read() []rule.Provenance { return r.origins().Read() }

// Authored returns the texts that the author of the present plan had read, for the plan as
// it is stored.
func (r *Run) Authored() []rule.Provenance { return r.origins().Authored() }

// ReadFor returns what a model had read when it asked for another run by a call.
func (r *Run) ReadFor(index string) []rule.Provenance { return r.origins().ReadFor(index) }

// SynthesisItems returns the items from which the answer is made, see
// [prompt.SynthesisItems].
func (r *Run) SynthesisItems() []plan.HistoryItem { return r.answers().SynthesisItems() }

// Results returns what each step of a completed run produced if nobody wrote an
// answer; otherwise "". Later turns are sent it as part of the conversation. It
// therefore takes at most a sixth of the context window, at three characters a
// token.
func (r *Run) Results() string { return r.answers().Results() }

// Evidence returns what is known about the checks of the plan, and about the steps that
// no check covers although they may have effects or are a model's work.
func (r *Run) Evidence() []plan.Evidence { return r.answers().Evidence() }

// StateOf returns how far a completed step is shown to have done its work: refuted and
// unchecked before verified. It is "" for a step of which nothing is claimed.
func (r *Run) StateOf(s *StepState) plan.EvidenceState { return r.answers().StateOf(s) }

// ModelPlans reports whether a model makes the first plan of the run. It does not
// if the plan is given, follows from the words of the goal, or comes from another
// planner.
func (r *Run) ModelPlans() bool { return r.origins().modelPlans() }
