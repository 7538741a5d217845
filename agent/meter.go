package agent

import (
	"fmt"
	"strconv"
	"time"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/reply"
)

// Meter is what a run may use and has used.
type Meter struct {
	Limits event.Limits
	Usage  event.Usage

	planned      bool              // there is a first plan
	firstLength  int               // of the first plan, in steps
	innerSteps   int               // step executions in loops and in the runs that they started
	streaks      map[string]streak // calls and failing results across successive revisions
	counted      int               // history items included in streaks
	warned       map[string]bool   // budgets and guards that warned
	dryCalls     int               // tool calls that a dry run reported
	dryDiscovery int               // of those, calls of read-only tools
}

// newMeter returns the meter of a run that begins.
func newMeter(limits event.Limits) Meter {
	return Meter{Limits: limits, streaks: map[string]streak{}, warned: map[string]bool{}}
}

// limits returns what the run may use.
func (m *Meter) limits() event.Limits { return m.Limits }

// used returns what the run has used.
func (m *Meter) used() event.Usage { return m.Usage }

// resume sets the limits of a resumed run.
func (m *Meter) resume(limits event.Limits) {
	if limits != m.Limits {
		m.warned = map[string]bool{} // 80 % of another limit is another amount
	}
	m.Limits = limits
}

// plan notes the length of the first plan, in steps.
func (m *Meter) plan(steps int) { m.planned, m.firstLength = true, steps }

// beginStep counts the execution of a step.
func (m *Meter) beginStep() { m.Usage.Steps++ }

// takeBackStep takes the execution of a step back: nothing was done.
func (m *Meter) takeBackStep() { m.Usage.Steps-- }

// beginInner counts a step execution in a loop.
func (m *Meter) beginInner() { m.innerSteps++ }

// takeBackInner takes a step execution in a loop back.
func (m *Meter) takeBackInner() { m.innerSteps-- }

// call counts a call of a tool.
func (m *Meter) call(readOnly bool) {
	m.Usage.ToolCalls++
	if readOnly {
		m.Usage.DiscoveryCalls++
	}
}

// takeBackCall takes back a call that may change something.
func (m *Meter) takeBackCall() { m.Usage.ToolCalls-- }

// dryCall counts a call that a dry run reports.
func (m *Meter) dryCall(readOnly bool) {
	m.dryCalls++
	if readOnly {
		m.dryDiscovery++
	}
}

// replan counts a new plan.
func (m *Meter) replan() { m.Usage.Replans++ }

// reply counts a model call.
func (m *Meter) reply(reply reply.Reply) {
	m.Usage.ModelCalls++
	m.Usage.PromptTokens += reply.PromptTokens
	m.Usage.CompletionTokens += reply.CompletionTokens
}

// spend adds what another run has used that shares the budget.
func (m *Meter) spend(more event.Usage) {
	m.Usage = m.Usage.Plus(more)
	m.innerSteps += more.Steps
}

// mayPropose returns how many steps a planner may propose now, within both the
// bound of one plan and the step budget. 0 means no bound.
func (m *Meter) mayPropose() int {
	most := m.Limits.MaxPlanSteps
	if !m.planned && m.Limits.GrowSteps {
		return most
	}
	if left := m.stepsLeft(); left >= 0 && (most == 0 || left < most) {
		return max(left, 1)
	}
	return most
}

// maxSteps returns the step budget of the run. It is the limit, or one and a half
// times the length of the first plan if that is more and the limit may grow.
// Steps within loops do not count toward a limit that may grow, since loops have
// their own bounds. A limit set by the user counts everything.
func (m *Meter) maxSteps() int {
	limit := m.Limits.MaxSteps
	if limit > 0 && m.Limits.GrowSteps {
		if !m.planned {
			return 0 // its growth depends on the plan
		}
		limit = max(limit, (m.firstLength*3+1)/2) + m.innerSteps
	}
	return limit
}

// stepsLeft returns the remaining step budget, or -1 if there is no limit.
func (m *Meter) stepsLeft() int {
	if m.maxSteps() == 0 {
		return -1
	}
	return max(m.maxSteps()-m.Usage.Steps, 0)
}

// replansLeft returns the remaining replan budget.
func (m *Meter) replansLeft() int { return max(m.Limits.MaxReplans-m.Usage.Replans, 0) }

// modelSlots returns how many requests to models may be under way.
func (m *Meter) modelSlots() int { return max(m.Limits.ModelSlots, 1) }

// account returns what is left of the budgets of steps and calls.
func (m *Meter) account() account {
	calls, discovery := m.calls()
	return account{
		steps:     left(m.maxSteps(), m.Usage.Steps),
		calls:     left(m.Limits.MaxToolCalls, calls),
		discovery: left(m.Limits.MaxDiscoveryCalls, discovery),
		execution: left(m.Limits.MaxExecutionCalls, calls-discovery),
	}
}

// calls counts the tool calls for the guards, and how many of them were
// read-only. In a dry run it counts the reported calls.
func (m *Meter) calls() (all, discovery int) {
	return m.Usage.ToolCalls + m.dryCalls, m.Usage.DiscoveryCalls + m.dryDiscovery
}

// leftOver returns the remaining limits for a run that a call of a plan tool starts now.
// Both share one budget, which already includes that call. elapsed is the active time.
func (m *Meter) leftOver(readOnly bool, elapsed time.Duration) event.Limits {
	l := m.Limits
	calls := event.Usage{Steps: m.Usage.Steps + 1, ToolCalls: m.Usage.ToolCalls + 1, DiscoveryCalls: m.Usage.DiscoveryCalls}
	if readOnly {
		calls.DiscoveryCalls++
	}
	for _, b := range []struct {
		limit *int
		used  int
	}{
		{&l.MaxTokens, int(m.Usage.Tokens())},
		{&l.MaxToolCalls, calls.ToolCalls},
		{&l.MaxDiscoveryCalls, calls.DiscoveryCalls},
		{&l.MaxExecutionCalls, calls.ToolCalls - calls.DiscoveryCalls},
		{&l.MaxReplans, m.Usage.Replans},
	} {
		*b.limit = rest(*b.limit, b.used)
	}
	if !l.GrowSteps {
		l.MaxSteps = rest(l.MaxSteps, calls.Steps)
	}
	l.MaxDurationMS = rest(l.MaxDurationMS, elapsed.Milliseconds())
	return l
}

// rest returns the remainder of a limit; a limit of 0 means none.
func rest[T int | int64](limit, used T) T {
	switch {
	case limit == 0:
		return 0
	case limit <= used:
		return event.NothingLeft
	default:
		return limit - used
	}
}

// warn records that a budget or a guard has warned.
func (m *Meter) warn(key string) { m.warned[key] = true }

// hasWarned reports whether it has.
func (m *Meter) hasWarned(key string) bool { return m.warned[key] }

// budget is the limit of a guard and its usage.
type budget struct {
	guard       string
	used, limit int64
	words       string // what is counted
	flag        string // sets the limit
}

// isBound reports whether there is a limit: 0 is none, except for replans. [event.NothingLeft]
// allows nothing.
func (b budget) isBound() bool { return b.limit != 0 || b.guard == event.GuardReplans }

// low reports whether at least 80 % of a budget is used.
func (b budget) low() bool { return b.limit > 0 && b.used*5 >= b.limit*4 }

// budgets returns every budget of the run, after it was active for so long.
func (m *Meter) budgets(elapsed time.Duration) [7]budget {
	calls, discovery := m.calls()
	return [...]budget{
		{event.GuardSteps, int64(m.Usage.Steps), int64(m.maxSteps()), "step", "max-steps"},
		{event.GuardReplans, int64(m.Usage.Replans), int64(m.Limits.MaxReplans), "replan", "max-replans"},
		{event.GuardTokens, int64(m.Usage.PromptTokens + m.Usage.CompletionTokens), int64(m.Limits.MaxTokens), "token", "max-tokens"},
		{event.GuardTime, elapsed.Milliseconds(), m.Limits.MaxDurationMS, "time", "max-duration"},
		{event.GuardToolCalls, int64(calls), int64(m.Limits.MaxToolCalls), "tool call", "max-tool-calls"},
		{event.GuardDiscovery, int64(discovery), int64(m.Limits.MaxDiscoveryCalls), "read-only call", "max-discovery-calls"},
		{event.GuardExecution, int64(calls - discovery), int64(m.Limits.MaxExecutionCalls), "changing call", "max-execution-calls"},
	}
}

// sentence returns the message that a budget is used up before a step, "" for none.
func (b budget) sentence(step string) string {
	before := ""
	if step != "" {
		before = " before step " + step
	}
	if b.limit == event.NothingLeft {
		return "the run that started this one has no " + b.words + " left" + before
	}
	if b.limit == 0 {
		return "no " + b.words + " is allowed" + before + "; --" + b.flag + " allows some"
	}
	used, limit := strconv.FormatInt(b.used, 10), strconv.FormatInt(b.limit, 10)
	if b.guard == event.GuardTime {
		used, limit = (time.Duration(b.used) * time.Millisecond).String(), (time.Duration(b.limit) * time.Millisecond).String()
	}
	return fmt.Sprintf("%s limit reached (%s of %s)%s; raise it with --%s", b.words, used, limit, before, b.flag)
}

// streak counts successive revisions in which something occurred.
type streak struct {
	revision int // the latest one
	count    int
}

// seen adds a revision to a streak.
func (s streak) seen(revision int) streak {
	switch s.revision {
	case revision:
		return s
	case revision - 1:
		return streak{revision, s.count + 1}
	default:
		return streak{revision, 1}
	}
}

// upTo returns the length of the streak that ended with the previous revision.
func (s streak) upTo(revision int) int {
	if s.revision == revision-1 {
		return s.count
	}
	return 0
}

// closeRevision records the calls and results of a revision when another replaces
// it. Nothing counts as repeated within one revision, and so within a plan from a
// file.
func (m *Meter) closeRevision(revision int, history []plan.HistoryItem, toolName func(string) string) {
	for _, h := range history[m.counted:] {
		if h.Tool == "" || h.Parent != "" || h.Status == plan.ItemSkipped {
			continue
		}
		keys := []string{callKey(toolName(h.Tool), h.Args)}
		if h.Status == plan.ItemFailed {
			keys = append(keys, resultKey(toolName(h.Tool), string(h.Error)))
		}
		for _, key := range keys {
			m.streaks[key] = m.streaks[key].seen(revision)
		}
	}
	m.counted = len(history)
}

// repeats returns in how many revisions in a row before this one a call or a failing result
// occurred.
func (m *Meter) repeats(key string, revision int) int { return m.streaks[key].upTo(revision) }

// Budget is the usage of one limit of the run.
type Budget struct {
	Guard string
	Used  int64
	Limit int64 // above 0
	Low   bool  // at least 80 % of the limit is used
}

// callKey returns a key to recognize a repeated call.
func callKey(tool string, args map[string]any) string {
	return "call " + hashOf(tool+" ", args)
}

// resultKey returns a key to recognize a repeated failing result.
func resultKey(tool, err string) string { return "result " + tool + " " + err }
