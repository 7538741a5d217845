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
