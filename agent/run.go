package agent

import (
	"replan/agent/rule"
	"replan/planning"
	"replan/planning/plan"
)

// Run is the state of one run after the events applied so far. The engine and the
// screen each apply the same events to a Run of their own, so they cannot
// disagree. The zero value is a run that plans with a model and has not started.
// Only Apply changes a Run. It is not safe for concurrent use.
type Run struct {
	Terms
	Clock
	Toolbox
	Planning
	Board
	Permissions
	OpenQuestions
	Conversations
	ModelCalls
	Ledger
	Meter
	Acceptance
	PlanReviews
	Outcome
	flight
	uncommitted
	queues queues
}

// NewRun returns a run that has not started. planners makes its plans; nil plans
// in three phases with a model. Whoever replays the events of a run must pass the
// same planners as the original engine.
func NewRun(planners planning.Planners) *Run {
	r := &Run{}
	r.planners = planners
	return r
}

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
