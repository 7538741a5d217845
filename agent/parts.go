package agent

import (
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/rank"
)

// Terms are what a run was started or resumed with.
type Terms struct {
	ID        string
	Goal      untrusted.Text
	Workspace string
	Model     string

	ownPlanners     planning.Planners // make the plans; nil means the three phases with a model
	session         string
	prompting       prompt.Prompting
	priors          map[string]int64
	surveyed        intent.Facts   // about what the goal names
	givenPlan       *plan.Plan     // plan that the run was started with
	fallback        plan.OnFailure // used if neither step nor plan sets one
	userOnFailure   plan.OnFailure // set by the user for plans of a goal; overrides the planner's choice for the plan
	attended        bool
	inDoubt         event.DoubtDecision
	planOnly        bool
	skipSynthesis   bool // do not write an answer at the end
	dryRun          bool
	requireVerified bool              // fail at the end unless all evidence is verified
	strict          bool              // do not fit args to the schemas of tools
	reviewPlans     bool              // every plan is reviewed before it runs
	outerRun        string            // the run whose model requested this one; "" if none did
	modelTools      bool              // the model can call tools
	readBefore      []rule.Provenance // what the models of the run had read when it began
}

// Planning is the planning of a run.
type Planning struct {
	Route        *event.RouteMatched // how the goal's words led to the plan; nil if they did not
	Phases       [3]Phase            // analysis, review, plan
	Replanning   *Replanning         // set during the request for a new plan
	UserMessages []string            // from the user, not yet passed to a model

	routed        *event.RouteMatched // meaning of the goal's words, if they plan the goal
	pipeline      planning.Planner    // first planning or replan in progress; nil if none
	plannerAsked  bool                // the model is working on its request
	reportedSkips int                 // skipped phases that were reported
	failure       *failure            // a failed step or a user remark that is not handled yet
	lookedAt      []plan.HistoryItem  // calls that the planner of the goal read the results of
}

// Board holds the plan and the states of its steps.
type Board struct {
	Plan      plan.Plan    // the current plan; no steps while planning
	Revision  int          // 0 before the first plan
	PlannedAt time.Time    // of the first plan
	Drafts    []rank.Draft // those that the first plan was chosen from; none if it was the only one
	Steps     []*StepState // in plan order; the drafted steps before there is a plan
	Revisions []Revision   // one per replan

	graph     *plan.Graph
	places    map[string]int          // step → index in Steps
	producers map[string][]*StepState // name → steps that produce that result; nil while the plan is incomplete
	skipping  []*StepState            // steps that text of a result can fail, whereupon those that depend on them are skipped and the run continues
	variables map[string]any
	attempts  map[string]int // step → highest attempt before the current plan
	hasChecks bool           // the plan has any
	queues    queues
}

// Ledger are what a run has done.
type Ledger struct {
	History  []plan.HistoryItem
	Attempts []Attempt // of all steps, in the order in which they began
	Notes    []event.Note
	Warnings []string // of budgets and guards, as text
}

// Acceptance is the evaluation of the acceptance of a plan.
type Acceptance struct {
	Accepted []event.CheckCompleted // checks of the current plan's acceptance that are evaluated, in order

	acceptances int // how often the plan's acceptance began
}

// PlanReviews is the review of plans.
type PlanReviews struct {
	Reviews []ReviewedPlan // reviewed plans, with their changes

	reviewPending bool // the current plan waits for its review
}

// Outcome is how a run ends.
type Outcome struct {
	Synthesis Synthesis
	Paused    bool             // by the user
	Result    *event.Result    // set once the run is over
	Undone    *event.RunUndone // set once its changes are undone

	answering bool    // all steps have ended, and the model is writing the answer
	ending    *ending // set when nothing new may start, with the reason
	dryEnding *ending // how a dry run would end
}
