package agent

import (
	"maps"
	"math"
	"slices"

	"replan/agent/event"
	"replan/planning/prompt"
)

// slots counts free resources while Next collects what may start.
type slots struct {
	tools, models int
	plans         int                // plan tool calls that are about to start
	left          account            // remaining budgets, after what is about to start
	starting      map[*toolFacts]int // calls per tool that are about to start; nil if none are counted
	// reserved is kept back for calls that are shown to the user or approved, so
	// that no guard refuses a call after the user was asked about it.
	reserved        account
	changing        map[string]bool // files that running calls will change
	reservedPerTool map[*toolFacts]int
}

// account counts the budget of steps that are about to start.
type account struct {
	steps, calls, discovery, execution int
}

// ofKind returns the count for calls of the tool's kind.
func (a *account) ofKind(facts *toolFacts) *int {
	if facts.tool.ReadOnly {
		return &a.discovery
	}
	return &a.execution
}

// add counts so many calls of the tool.
func (a *account) add(facts *toolFacts, calls int) {
	a.steps += calls
	a.calls += calls
	*a.ofKind(facts) += calls
}

// unlimited is the remainder of a budget without a limit.
const unlimited = math.MaxInt32

func (r decision) freeSlots() slots {
	concurrency := r.Limits.MaxConcurrency
	if concurrency <= 0 {
		concurrency = event.DefaultLimits().MaxConcurrency
	}
	calls, discovery := r.calls()
	free := slots{
		tools: concurrency - len(r.inFlight), models: r.modelSlots() - r.modelBusy,
		left: account{
			steps:     left(r.maxSteps(), r.Usage.Steps),
			calls:     left(r.Limits.MaxToolCalls, calls),
			discovery: left(r.Limits.MaxDiscoveryCalls, discovery),
			execution: left(r.Limits.MaxExecutionCalls, calls-discovery),
		},
	}
	for a := range r.inFlight {
		if s := r.Step(a.Index); s != nil && s.Status == StepRunning {
			free.change(slices.Collect(maps.Keys(s.gate.hashes)))
		}
	}
	if r.Limits.MaxCallsPerTool > 0 {
		free.starting, free.reservedPerTool = map[*toolFacts]int{}, map[*toolFacts]int{}
	}
	return free
}

// calls counts the tool calls for the guards, and how many of them were
// read-only. In a dry run it counts the reported calls.
func (r *Run) calls() (all, discovery int) {
	return r.Usage.ToolCalls + r.dryCalls, r.Usage.DiscoveryCalls + r.dryDiscovery
}

// stepsLeft returns how many unapproved steps may start.
func (f *slots) stepsLeft() int { return f.left.steps - f.reserved.steps }

// start counts a call that is about to start.
func (f *slots) start(facts *toolFacts) {
	f.left.add(facts, -1)
	if f.starting != nil {
		f.starting[facts]++
	}
}

// reserve reserves budget for calls, or releases it if calls is negative.
func (f *slots) reserve(facts *toolFacts, calls int) {
	f.reserved.add(facts, calls)
	if f.reservedPerTool != nil {
		f.reservedPerTool[facts] += calls
	}
}

// change records files that a call is about to change.
func (f *slots) change(files []string) {
	if f.changing == nil && len(files) > 0 {
		f.changing = map[string]bool{}
	}
	for _, name := range files {
		f.changing[name] = true
	}
}

// changes reports whether a call is about to change one of the files.
func (f *slots) changes(files []string) bool {
	return slices.ContainsFunc(files, func(name string) bool { return f.changing[name] })
}

// reserveApproved reserves budget for the calls of open gates, and for calls that
// passed one and have not started. While a failed step waits for the planner,
// only the calls of loops still start.
func (r decision) reserveApproved(q *queues, free *slots) {
	for _, g := range r.Gates {
		if s := r.Step(g.Step); s != nil && (r.failure == nil || s.inner.loop != nil) {
			free.reserve(r.facts(s.Step.Tool), 1)
		}
	}
	for _, s := range q[needToolSlot] {
		if s.reserved() {
			free.reserve(r.facts(s.Step.Tool), 1)
		}
	}
}

// reserved reports whether budget is reserved for the step's approved call. An
// automatic retry has no reservation: calls whose gate is open come first.
func (s *StepState) reserved() bool { return s.gate.allowed() && s.RetryAt.IsZero() }

// plansUnderWay reports whether a run requested by a plan tool is active or about
// to start. The next one waits, so that each gets all that remains of the shared
// budget, and the one model.
func (r decision) plansUnderWay(free *slots) bool {
	return free.plans > 0 || r.Chat != nil && slices.ContainsFunc(r.Chat.lastCalls, func(c *StepState) bool {
		return c.Status == StepRunning && prompt.IsPlanTool(r.facts(c.Step.Tool).tool)
	})
}

// left returns the remainder of a budget.
func left(limit, used int) int {
	if limit == 0 {
		return unlimited
	}
	return max(limit-used, 0)
}

func (r decision) modelSlots() int { return max(r.Limits.ModelSlots, 1) }
