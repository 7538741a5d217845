package agent

import (
	"iter"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// The views are what the types that decide the next action see of the parts of a run. They
// name no method that changes a part, and hand out values and other views. Maps and lists that
// they hand out may be shared with the part: they are read-only.

// permissionsView are the open gates, and what the user has allowed at gates.
type permissionsView interface {
	openGates() []gatedStep
	planGates(s stepView, tool plan.Tool) bool
	hasChanged(tool plan.Tool) bool
	grants() bool
	lift(asks rule.Rule, t plan.Tool, args map[string]any, uncovered []rule.Provenance) rule.Rule
	judgePaths() bool
}

// questionsView are the open questions about steps.
type questionsView interface {
	asks() bool
	undecided() []stepView
	unrecorded() []stepView
}

// stepsView finds the steps of a run, their items, and the calls that models make.
type stepsView interface {
	find(index string) stepView
	each(do func(stepView))
	converses() bool
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
	count(n need) int
	top(n need) stepView
	first(n need, most int) []stepView
	inOrder(n need) walkView
	all(n need) []stepView
	approvedCalls() iter.Seq[stepView]
	approvedByTool(do func(tool string, calls, steps int))
	only(keep func(stepView) bool) queuesView
	empty() bool
}

// walkView goes through a queue in order, up to nil.
type walkView interface {
	next() stepView
}

// clockView is the time of the run.
type clockView interface {
	now() time.Time
	Elapsed() time.Duration
	reaches(limit time.Duration) time.Time
	fired(timer string) bool
}

// meterView is what the run may use and has used.
type meterView interface {
	limits() event.Limits
	used() event.Usage
	mayPropose() int
	maxSteps() int
	stepsLeft() int
	modelSlots() int
	account() account
	budgets(elapsed time.Duration) [7]budget
	leftOver(readOnly bool, elapsed time.Duration) event.Limits
	hasWarned(key string) bool
	repeats(key string, revision int) int
}

// ledgerView is what the run has done.
type ledgerView interface {
	history() []plan.HistoryItem
	notes() []event.Note
}

// planningView is the making of plans.
type planningView interface {
	hasOwn() bool
	canReplan(model string) bool
	byWords() bool
	taken() (route event.RouteMatched, ok bool)
	isRouted() bool
	unreportedRoute() (route event.RouteMatched, ok bool)
	unreportedSkips() []planning.SkippedPhase
	active() bool
	waits() bool
	nextRequest() (request prompt.Request, more bool)
	outcome() planning.Outcome
	looks() []plan.Step
	looksTaken() []plan.HistoryItem
	messages() []string
	wantsReplan() bool
	onlyRemark() bool
	failure() (step, err string)
	request() string
	reason() string
}

// outcomeView is the answer of the run, and how it ends.
type outcomeView interface {
	answer() Synthesis
	isPaused() bool
	final() (result event.Result, ok bool)
	ends() bool
	plannedEnding() (e ending, ok bool)
	plannedDryEnding() (e ending, ok bool)
}

// conversationsView are the loops of the run.
type conversationsView interface {
	inChat() loopView
	plansUnderWay(tool func(string) plan.Tool) bool
	atWork() []stepView
	holdsCalls(model string) bool
}

// modelsView is what the replies of models show of them.
type modelsView interface {
	measured(model string, bytesPerToken, readSpeed float64) (bytes, read float64)
}

// acceptanceView is the evaluation of the acceptance of the plan.
type acceptanceView interface {
	accepted() []event.CheckCompleted
	acceptanceOf(b boardView) checkSubject
}

// boardView is the plan with the states of its steps.
type boardView interface {
	current() plan.Plan
	revision() int
	revisions() []event.RevisionSummary
	steps() []stepView
	remaining() []plan.Step
	needs(s stepView) []string
	ancestors(index string) map[string]bool
	producersOf(name string) []stepView
	skippedBehind(index string) []stepView
	mayFailByText(s stepView) bool
	value(name string) (any, bool)
	values() map[string]any
	Variables() map[string]any
}

// toolsView are the tools of the run, and its rules about them.
type toolsView interface {
	catalog() plan.Catalog
	facts(name string) toolFacts
	toolName(name string) string
	timesCalled(tool toolFacts) int
	toolOf(p rule.Provenance) (plan.Tool, bool)
	offeredFirst(catalog plan.Catalog) plan.Catalog
}

// termsView are the terms of the run.
type termsView interface {
	id() string
	goal() untrusted.Text
	model() string
	DryRun() bool
	PlanOnly() bool
	ModelTools() bool
	ReviewsPlans() bool
	attended() bool
	inDoubt() event.DoubtDecision
	outerRun() string
	prompting() prompt.Prompting
	surveyed() intent.Facts
	isGiven() bool
	givenBy() string
	givenRead() []rule.Provenance
	userOnFailure() plan.OnFailure
	skipSynthesis() bool
	requireVerified() bool
	strict() bool
	readBefore() []rule.Provenance
}
