package agent

import (
	"iter"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/expression"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// stepView is a step, an item of one, or a call of a model, as the types see it that decide the
// next action.
type stepView interface {
	plannedView
	progressView
	resultView

	gateState() gateView
	callState() callView
	requestState() requestView
	authorState() authorView
	fanOutState() fanOutView
	itemState() itemView
	checksState() checksView
	interruptionState() interruptionView

	expands() bool
	isItem() bool
	planStep() stepView
	byModel() bool
	parent() string
	askedIn() loopView
	loop() loopView
	checkCall(step plan.Step, args map[string]any, read []rule.Provenance) stepView
}

// plannedView is a step as its plan, the user or a model has written it.
type plannedView interface {
	planned() plan.Step
	index() string
	title() untrusted.Text
	executor() plan.Executor
	tool() string
	dependsOn() []string
	hasGate() bool
	timeout() time.Duration
	position() int
	args() map[string]any
	argName(written string) string
	decidedBy() (conditions [3]string, each *plan.ForEach)
}

// progressView is where a step stands, and how often and since when it was tried.
type progressView interface {
	status() StepStatus
	isDraft() bool
	startable() bool
	isDry() bool
	notTaken() bool
	skipReason() string
	diff() string
	ofBudget() int

	attempt() int
	nextAttempt() int
	tries() int
	polls() int
	begun() time.Time
	retryAt() time.Time
	retryTimer() string
	waited(elapsed time.Duration) time.Duration
}

// resultView is what became of the running or last attempt of a step.
type resultView interface {
	startedWith() map[string]any
	runOfCall() string
	usedByRun() event.Usage
	result() any
	ms() int64
	why() untrusted.Text
	failure() event.FailureKind
	partlySeen() []string
	holdsToolText() bool
	checked() []event.CheckCompleted
}

// callView is the call of a step that could start.
type callView interface {
	args() map[string]any
	coerced() []plan.Coercion
	leftOut() (saw []expression.Sight, isOut bool)
	expansion() (items []any, with bool)
	startFlaw() flaw
}

// requestView is the model's work on args that the plan leaves out.
type requestView interface {
	lacking() (names []string, problem string)
	written() map[string]any
	refusal() string
}

// authorView is who wrote a step.
type authorView interface {
	byUser() bool
	edits() int
	textsKept() []rule.Provenance
	textsRead() []rule.Provenance
	byReplan() bool
}

// gateView is the gate of a step.
type gateView interface {
	allowed() bool
	denied() bool
	reserved() bool
	approved(tool plan.Tool, args map[string]any, attempt int) bool
	allowsItems(tool plan.Tool) bool
	showed() (hashes map[string]string, command *plan.Command)
	reopenReason() untrusted.Text
	changing() []string
	wasChanging() []string
	removal() string
	linkTargets() map[string]string
}

// fanOutView is the progress of a step through its items.
type fanOutView interface {
	all() []stepView
	count() int
	done() []string
	unfinished() bool
	stoppedBy() stepView
}

// itemView ties an item to its step.
type itemView interface {
	values() map[string]any
	mayOvertake() bool
}

// checksView is how far the checks of a step are.
type checksView interface {
	round() int
	since() uint64
	lostResult() bool
}

// interruptionView is how the end of a program affected a step.
type interruptionView interface {
	mayNotHaveStarted() bool
	rerunsUnasked() bool
}

// loopView is the loop of a chat or a sub-agent.
type loopView interface {
	agentStep() stepView
	profileOf() prompt.Profile
	calls() iter.Seq[stepView]
	foundTools() []string
	over() bool
	ended() (answer string, failed flaw)
	idle() bool
	last() bool
	stalled() bool
	clockPaused() bool
	timer() string
	deadline() time.Time
	tokens() int
	turn() prompt.Turn
	conversation() []prompt.Message
	planRequest() (request prompt.Request, plans bool)
	timesMade(tool string, args map[string]any) int
	failsAgain(most int) (call stepView, times int)
}

// viewsOf returns steps as views; nil if they are nil.
func viewsOf(steps []*StepState) []stepView {
	if steps == nil {
		return nil
	}
	views := make([]stepView, len(steps))
	for i, s := range steps {
		views[i] = s
	}
	return views
}
