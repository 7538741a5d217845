package agent

import (
	"maps"
	"math"
	"slices"

	"replan/planning/plan"
)

// slots counts free resources while Next collects what may start.
type slots struct {
	tools, models int
	plans         int            // plan tool calls that are about to start
	left          account        // remaining budgets, after what is about to start
	starting      map[string]int // calls per tool that are about to start; nil if none are counted
	// reserved is held back for calls that are shown to the user or approved. No
	// guard refuses a call after the user was asked about it.
	reserved        account
	changing        map[string]bool // files that running calls will change
	calling         map[string]bool // servers of running serial calls
	reservedPerTool map[string]int
}

// account counts the budget of steps that are about to start.
type account struct {
	steps, calls, discovery, execution int
}

// ofKind returns the count for calls of the tool's kind.
func (a *account) ofKind(facts toolFacts) *int {
	if facts.Tool.ReadOnly {
		return &a.discovery
	}
	return &a.execution
}

// add counts so many calls of the tool, and the steps that they are.
func (a *account) add(facts toolFacts, calls, steps int) {
	a.steps += steps
	a.calls += calls
	*a.ofKind(facts) += calls
}

// unlimited is the remainder of a budget without a limit.
const unlimited = math.MaxInt32

// newSlots returns what is free. perTool says that calls per tool are counted.
func newSlots(tools, models int, left account, perTool bool) slots {
	free := slots{tools: tools, models: models, left: left}
	if perTool {
		free.starting, free.reservedPerTool = map[string]int{}, map[string]int{}
	}
	return free
}

// noTool reports whether no call of a tool may start.
func (f *slots) noTool() bool { return f.tools <= 0 }

// freeTools returns how many calls of tools may start.
func (f *slots) freeTools() int { return f.tools }

// freeModels returns how many requests to models may start.
func (f *slots) freeModels() int { return f.models }

// takeTool uses up a slot for a call of a tool.
func (f *slots) takeTool() { f.tools-- }

// takeModel uses up a slot for a request to a model.
func (f *slots) takeModel() { f.models-- }

// takePlan counts a call of a plan tool.
func (f *slots) takePlan() { f.plans++ }

// startsPlan reports whether a call of a plan tool is about to start.
func (f *slots) startsPlan() bool { return f.plans > 0 }

// callsSerially reports whether a call runs that lets no other of its server run.
func (f *slots) callsSerially() bool { return len(f.calling) > 0 }

// useStep counts an execution of a step that is about to start.
func (f *slots) useStep(s stepView) { f.left.steps -= s.ofBudget() }

// noDiscovery reports whether no step may only read: slots or budgets are used up.
func (f *slots) noDiscovery() bool { return f.noTool() || f.discoverySpent() }

// discoverySpent reports whether the budgets for steps that only read are used up.
func (f *slots) discoverySpent() bool {
	return f.left.steps <= 0 || f.left.calls <= 0 || f.left.discovery <= 0
}

// reserves reports whether budget is reserved for calls.
func (f *slots) reserves() bool { return f.reserved.calls > 0 }

// reservedFor returns what is reserved, of all budgets and for calls of a tool. It is nothing
// for a call with a reservation of its own.
func (f *slots) reservedFor(facts toolFacts, own bool) (reserved account, ofTool int) {
	if own {
		return account{}, 0
	}
	return f.reserved, f.reservedPerTool[facts.name]
}

// startingCalls returns how many calls of a tool are about to start.
func (f *slots) startingCalls(facts toolFacts) int { return f.starting[facts.name] }

// noCall reports whether all that is left of the budget for calls is reserved.
func (f *slots) noCall(reserved account) bool { return f.left.calls <= reserved.calls }

// noDiscoveryCall reports whether all that is left of the budgets for calls, or for read-only
// ones, is reserved.
func (f *slots) noDiscoveryCall() bool {
	return f.noCall(f.reserved) || f.left.discovery <= f.reserved.discovery
}

// noStep reports whether all that is left of the budget for steps is reserved.
func (f *slots) noStep(reserved account) bool { return f.left.steps <= reserved.steps }

// noneOfKind reports whether all that is left of the budget for calls of the tool's kind is
// reserved.
func (f *slots) noneOfKind(facts toolFacts, reserved account) bool {
	return *f.left.ofKind(facts) <= *reserved.ofKind(facts)
}

// allReserved reports whether all that is left for calls of the tool's kind is reserved.
func (f *slots) allReserved(facts toolFacts) bool {
	return f.noCall(f.reserved) || f.noneOfKind(facts, f.reserved)
}

// comingCalls returns the calls of a tool that are about to start, or that budget is reserved
// for.
func (f *slots) comingCalls(facts toolFacts) int {
	return f.starting[facts.name] + f.reservedPerTool[facts.name]
}

// alsoChanging returns a set of files that those which running calls will change are in.
func (f *slots) alsoChanging() *slots {
	claimed := &slots{changing: map[string]bool{}}
	maps.Copy(claimed.changing, f.changing)
	return claimed
}

// servers returns slots in which the same serial calls run.
func (f *slots) servers() *slots { return &slots{calling: maps.Clone(f.calling)} }

// stepsLeft returns how many unapproved steps may start.
func (f *slots) stepsLeft() int { return f.left.steps - f.reserved.steps }

// start counts a call that is about to start.
func (f *slots) start(facts toolFacts, steps int) {
	f.left.add(facts, -1, -steps)
	if f.starting != nil {
		f.starting[facts.name]++
	}
}

// reserve reserves budget for calls, or releases it if calls is negative.
func (f *slots) reserve(facts toolFacts, calls, steps int) {
	f.reserved.add(facts, calls, steps)
	if f.reservedPerTool != nil {
		f.reservedPerTool[facts.name] += calls
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

// call records a call that is under way or about to start.
func (f *slots) call(t plan.Tool) {
	if !t.Serial {
		return
	}
	if f.calling == nil {
		f.calling = map[string]bool{}
	}
	f.calling[t.Server] = true
}

// waits reports whether a call of the tool has to wait for another one of its server.
func (f *slots) waits(t plan.Tool) bool { return t.Serial && f.calling[t.Server] }

// left returns the remainder of a budget.
func left(limit, used int) int {
	if limit == 0 {
		return unlimited
	}
	return max(limit-used, 0)
}
