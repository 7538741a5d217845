package agent

import (
	"math"
	"slices"

	"replan/planning/plan"
)

// Budgets returns the budgets of the run that have a limit, as the guards count
// them.
func (r *Run) Budgets() []Budget {
	var out []Budget
	for _, b := range r.guards().budgets() {
		if b.limit > 0 {
			out = append(out, Budget{Guard: b.guard, Used: b.used, Limit: b.limit, Low: b.low()})
		}
	}
	return out
}

// whom names the step that a guard keeps from starting.
func whom(step string) string {
	if step == "" {
		return ""
	}
	return "; step " + step + " was next"
}

// guardKey returns the key of a warning by a guard that counts per tool or per
// step.
func guardKey(guard, what string) string { return guard + " " + what }

// callKey and resultKey return keys to recognize a repeated call or failing
// result.
func callKey(tool string, args map[string]any) string {
	return "call " + hashOf(tool+" ", args)
}

func resultKey(tool, err string) string { return "result " + tool + " " + err }

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
	calling         map[string]bool // servers of running serial calls
	reservedPerTool map[*toolFacts]int
}

// account counts the budget of steps that are about to start.
type account struct {
	steps, calls, discovery, execution int
}

// ofKind returns the count for calls of the tool's kind.
func (a *account) ofKind(facts *toolFacts) *int {
	if facts.Tool.ReadOnly {
		return &a.discovery
	}
	return &a.execution
}

// add counts so many calls of the tool, and the steps that they are.
func (a *account) add(facts *toolFacts, calls, steps int) {
	a.steps += steps
	a.calls += calls
	*a.ofKind(facts) += calls
}

// unlimited is the remainder of a budget without a limit.
const unlimited = math.MaxInt32

// stepsLeft returns how many unapproved steps may start.
func (f *slots) stepsLeft() int { return f.left.steps - f.reserved.steps }

// start counts a call that is about to start.
func (f *slots) start(facts *toolFacts, steps int) {
	f.left.add(facts, -1, -steps)
	if f.starting != nil {
		f.starting[facts]++
	}
}

// reserve reserves budget for calls, or releases it if calls is negative.
func (f *slots) reserve(facts *toolFacts, calls, steps int) {
	f.reserved.add(facts, calls, steps)
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
