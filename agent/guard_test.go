package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// serial returns a plan of n reads in a row; effects makes them changes.
func serial(n int, effects bool) string {
	tool := "look"
	if effects {
		tool = "change"
	}
	var steps []string
	for i := 1; i <= n; i++ {
		depends := ""
		if i > 1 {
			depends = fmt.Sprintf(`,"depends_on":["%d"]`, i-1)
		}
		steps = append(steps, fmt.Sprintf(`{"index":"%d","title":"Step %d","tool":"%s","args":{"at":%d}%s}`, i, i, tool, i, depends))
	}
	return `{"title":"Serial","steps":[` + strings.Join(steps, ",") + `]}`
}

func TestGuardNamesItselfAndStep(t *testing.T) {
	for name, c := range map[string]struct {
		plan   string
		limit  func(*event.Limits)
		guard  string
		reason event.Reason
		step   string // that is blocked
		used   int64
		starts int // before the block
	}{
		"steps":           {serial(6, false), func(l *event.Limits) { l.MaxSteps, l.GrowSteps = 5, false }, event.GuardSteps, event.ReasonStepBudget, "6", 5, 5},
		"tool calls":      {serial(6, false), func(l *event.Limits) { l.MaxToolCalls = 5 }, event.GuardToolCalls, event.ReasonToolBudget, "6", 5, 5},
		"discovery calls": {serial(6, false), func(l *event.Limits) { l.MaxDiscoveryCalls = 5 }, event.GuardDiscovery, event.ReasonToolBudget, "6", 5, 5},
		"execution calls": {serial(6, true), func(l *event.Limits) { l.MaxExecutionCalls = 5 }, event.GuardExecution, event.ReasonToolBudget, "6", 5, 5},
		"calls of a tool": {serial(6, false), func(l *event.Limits) { l.MaxCallsPerTool = 5 }, event.GuardPerTool, event.ReasonToolBudget, "6", 5, 5},
		"time":            {serial(6, false), func(l *event.Limits) { l.MaxDurationMS = 100 }, event.GuardTime, event.ReasonTimeBudget, "", 100, 5},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.choose = w.noTimersOrGates
			start := given(t, c.plan)
			c.limit(&start.Limits)
			got := w.play(start)
			blocked := all[event.GuardBlocked](w)
			if got.Reason != c.reason || len(blocked) != 1 {
				t.Fatalf("ended %s (%s) after %v", got.Reason, got.Error, blocked)
			}
			b := blocked[0]
			if b.Guard != c.guard || b.Step != c.step || b.Limit != c.used || b.Used < c.used || c.guard != event.GuardTime && b.Used != c.used {
				t.Errorf("blocked %+v", b)
			}
			if !strings.Contains(string(b.Reason), " limit reached (") && c.guard != event.GuardTime || got.Error != b.Reason {
				t.Errorf("the guard says %q, the run ended with %q", b.Reason, got.Error)
			}
			if c.guard != event.GuardTime && len(w.starts()) != c.starts {
				t.Errorf("got %d starts, want %d", len(w.starts()), c.starts)
			}
		})
	}
}

// noTimersOrGates answers gates at once and fires timers last.
func (w *world) noTimersOrGates(int) int {
	if len(w.run.Gates) > 0 {
		return len(w.pending)
	}
	return w.noTimers(0)
}

func TestBudgetWarnsOnceAtFourFifths(t *testing.T) {
	for name, c := range map[string]struct {
		plan  string
		limit func(*event.Limits)
		guard string
		at    int64
	}{
		"steps":           {serial(9, false), func(l *event.Limits) { l.MaxSteps, l.GrowSteps = 10, false }, event.GuardSteps, 8},
		"tool calls":      {serial(9, false), func(l *event.Limits) { l.MaxToolCalls = 10 }, event.GuardToolCalls, 8},
		"discovery calls": {serial(9, false), func(l *event.Limits) { l.MaxDiscoveryCalls = 10 }, event.GuardDiscovery, 8},
		"execution calls": {serial(9, true), func(l *event.Limits) { l.MaxExecutionCalls = 10 }, event.GuardExecution, 8},
		"calls of a tool": {serial(9, false), func(l *event.Limits) { l.MaxCallsPerTool = 10 }, event.GuardPerTool, 8},
		"calls of a tool, several at once": {
			`{"title":"x","steps":[` + strings.Repeat(`{"title":"Look","tool":"look","args":{}},`, 8) + `{"title":"Look","tool":"look","args":{}}]}`,
			func(l *event.Limits) { l.MaxCallsPerTool, l.MaxConcurrency = 10, 9 }, event.GuardPerTool, 8,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.choose = w.noTimersOrGates
			start := given(t, c.plan)
			c.limit(&start.Limits)
			if got := w.play(start); got.Reason != event.ReasonGoalMet {
				t.Fatalf("%s: %s", got.Reason, got.Error)
			}
			var warnings []string
			for _, d := range all[event.BudgetWarned](w) {
				warnings = append(warnings, fmt.Sprint(d.Guard, " ", d.Used, " of ", d.Limit))
			}
			for _, d := range all[event.GuardWarned](w) {
				warnings = append(warnings, fmt.Sprint(d.Guard, " ", d.Used, " of ", d.Limit))
			}
			if want := fmt.Sprint(c.guard, " ", c.at, " of 10"); len(warnings) != 1 || warnings[0] != want {
				t.Errorf("got the warnings %q, want %q once", warnings, want)
			}
			if len(w.run.Warnings) != 1 {
				t.Errorf("the run has the warnings %q", w.run.Warnings)
			}
		})
	}
}

func TestTokenBudgetIsCheckedBeforeModelCalls(t *testing.T) {
	for name, c := range map[string]struct {
		tokens int
		calls  int
		want   event.Reason
	}{
		"before the repair":      {1, 1, event.ReasonTokenBudget},
		"before a step":          {220, 2, event.ReasonTokenBudget},
		"before the answer":      {330, 3, event.ReasonTokenBudget},
		"enough tokens":          {441, 4, event.ReasonGoalMet},
		"no limit":               {0, 4, event.ReasonGoalMet},
		"budget reached exactly": {440, 4, event.ReasonGoalMet},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reply = script{
				prompt.PurposePlan: {faulty}, prompt.PurposeRepair: {`{"title":"x","steps":[{"title":"Think","executor":"self"}]}`},
				prompt.PurposeStep: {"thought"},
			}.reply
			limits := event.DefaultLimits()
			limits.MaxTokens = c.tokens
			got := w.play(started(limits))
			if got.Reason != c.want || got.Usage.ModelCalls > c.calls {
				t.Errorf("%s after %d calls, want %s after %d", got.Reason, got.Usage.ModelCalls, c.want, c.calls)
			}
		})
	}
}

func TestZeroLimitsAreUnlimited(t *testing.T) {
	w := newWorld(t)
	w.choose = w.noTimersOrGates
	start := given(t, strings.Replace(serial(60, false), `"tool":"look","args":{"at":30}`, `"tool":"change","args":{"at":30}`, 1))
	start.Limits = event.Limits{}
	got := w.play(start)
	if got.Reason != event.ReasonGoalMet || got.Usage.Steps != 60 {
		t.Fatalf("%s (%s) after %d steps", got.Reason, got.Error, got.Usage.Steps)
	}
	if warnings := slices.Concat(w.run.Warnings, []string{}); len(warnings) != 0 {
		t.Errorf("got the warnings %q", warnings)
	}
}

func TestConcurrentStartsStayWithinBudget(t *testing.T) {
	plan := `{"title":"x","steps":[` + strings.Repeat(`{"title":"Look","tool":"look","args":{}},`, 7) + `{"title":"Look","tool":"look","args":{}}]}`
	for name, limit := range map[string]func(*event.Limits){
		"steps":           func(l *event.Limits) { l.MaxSteps, l.GrowSteps = 3, false },
		"tool calls":      func(l *event.Limits) { l.MaxToolCalls = 3 },
		"discovery calls": func(l *event.Limits) { l.MaxDiscoveryCalls = 3 },
		"calls of a tool": func(l *event.Limits) { l.MaxCallsPerTool = 3 },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			start := given(t, plan)
			limit(&start.Limits)
			start.Limits.MaxConcurrency = 8
			if got := w.play(start); len(w.starts()) != 3 || got.Reason.ExitCode() != 4 {
				t.Errorf("%s after %d starts, want 3", got.Reason, len(w.starts()))
			}
		})
	}
}

func TestNoGateBeyondStepBudget(t *testing.T) {
	w := newWorld(t)
	w.choose = w.noTimersOrGates
	start := given(t, serial(3, true))
	start.Limits.MaxSteps, start.Limits.GrowSteps = 2, false
	if got := w.play(start); got.Reason != event.ReasonStepBudget || len(all[event.GateRequested](w)) != 2 {
		t.Errorf("%s after %d gates, want 2", got.Reason, len(all[event.GateRequested](w)))
	}
}

// failingAlways makes every call of these tools fail with the same error.
func failingAlways(tools ...string) func(agent.CallTool) event.Data {
	return func(c agent.CallTool) event.Data {
		if slices.Contains(tools, c.Tool.Name) {
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: untrusted.Text(c.Tool.Name + " broke"), Failure: event.FailureTool}
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "result of " + c.Index}
	}
}

func TestRunawayGuard(t *testing.T) {
	step := func(index, tool string, at any) string {
		return fmt.Sprintf(`{"index":"%s","title":"Step","tool":"%s","args":{"at":%v}}`, index, tool, at)
	}
	plan := func(steps ...string) string { return `{"title":"x","steps":[` + strings.Join(steps, ",") + `]}` }
	again := func(from, to int, steps func(i int) string) []string {
		var out []string
		for i := from; i <= to; i++ {
			out = append(out, plan(steps(i)))
		}
		return out
	}
	for name, c := range map[string]struct {
		repeats int
		plans   []string // the first, and each answer to a replan
		given   bool
		tool    func(agent.CallTool) event.Data
		want    event.Reason
		starts  int
	}{
		"same failure in three revisions": {
			repeats: 3, plans: again(1, 6, func(i int) string { return step(fmt.Sprint(i), "look", i) }),
			tool: failingAlways("look"), want: event.ReasonGuard, starts: 3,
		},
		"two of three revisions": {
			repeats: 3, plans: []string{plan(step("1", "look", 1)), plan(step("2", "look", 2)), plan(step("3", "fill", `"x"`))},
			tool: failingAlways("look"), want: event.ReasonGoalMet, starts: 3,
		},
		"same call in three revisions": {
			repeats: 3, plans: again(1, 6, func(i int) string {
				return step(fmt.Sprint(10*i), "look", 7) + "," + fmt.Sprintf(`{"index":"%d","title":"Then","tool":"change","args":{"at":%d},"depends_on":["%d"]}`, 10*i+1, i, 10*i)
			}),
			tool: func() func(agent.CallTool) event.Data {
				n := 0
				return func(c agent.CallTool) event.Data {
					n++
					if c.Tool.Name == "change" {
						return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: untrusted.Text(fmt.Sprint("broke in way ", n)), Failure: event.FailureTool}
					}
					return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: n}
				}
			}(), want: event.ReasonGuard, starts: 6,
		},
		"first plan never trips it": {
			repeats: 1, plans: []string{plan(step("1", "look", 1)), plan(step("2", "fill", `"x"`))},
			tool: failingAlways("look"), want: event.ReasonGoalMet, starts: 2,
		},
		"0 is no limit": {
			repeats: 0, plans: again(1, 9, func(i int) string { return step(fmt.Sprint(i), "look", i) }),
			tool: failingAlways("look"), want: event.ReasonReplanBudget, starts: 6,
		},
		"equal calls in one revision": {
			repeats: 3, plans: []string{plan(step("1", "look", 1), step("2", "look", 1), step("3", "look", 1), step("4", "look", 1), step("5", "look", 1))},
			want: event.ReasonGoalMet, starts: 5,
		},
		"equal failures in one revision": {
			repeats: 2, plans: []string{
				plan(step("1", "look", 1), step("2", "look", 2), step("3", "look", 3), step("4", "look", 4)), plan(step("5", "fill", `"x"`)),
			},
			tool: failingAlways("look"), want: event.ReasonGoalMet, starts: 5,
		},
		"equal calls of a given plan": {
			repeats: 2, given: true, plans: []string{plan(step("1", "look", 1), step("2", "look", 1), step("3", "look", 1), step("4", "look", 1))},
			want: event.ReasonGoalMet, starts: 4,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reply = script{prompt.PurposePlan: c.plans[:1], prompt.PurposeReplan: c.plans[1:]}.reply
			if c.tool != nil {
				w.tool = c.tool
			}
			limits := event.DefaultLimits()
			limits.MaxRepeats, limits.MaxSteps = c.repeats, 0
			start := started(limits)
			if c.given {
				start = given(t, c.plans[0])
				start.Limits.MaxRepeats = c.repeats
			}
			got := w.play(start)
			if got.Reason != c.want || len(w.starts()) != c.starts {
				t.Errorf("%s (%s) after %d starts, want %s after %d", got.Reason, got.Error, len(w.starts()), c.want, c.starts)
			}
			if b := all[event.GuardBlocked](w); c.want == event.ReasonGuard && (b[0].Guard != event.GuardRunaway || b[0].Step == "" || b[0].Limit != int64(c.repeats)) {
				t.Errorf("blocked %+v", b[0])
			}
		})
	}
}

func TestNoReplanBeyondBudget(t *testing.T) {
	for name, c := range map[string]struct {
		limit func(*event.Limits)
		guard string
		want  event.Reason
	}{
		"steps":   {func(l *event.Limits) { l.MaxSteps, l.GrowSteps = 4, false }, event.GuardSteps, event.ReasonStepBudget},
		"replans": {func(l *event.Limits) { l.MaxReplans = 1 }, event.GuardReplans, event.ReasonReplanBudget},
		"tokens":  {func(l *event.Limits) { l.MaxTokens = 220 }, event.GuardTokens, event.ReasonTokenBudget},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reply = script{
				prompt.PurposePlan:   {`{"title":"x","steps":[{"index":"1","title":"A","tool":"look","args":{"at":1}},{"index":"2","title":"B","tool":"look","args":{"at":2},"depends_on":["1"]}]}`},
				prompt.PurposeReplan: {`{"title":"x","steps":[{"index":"3","title":"C","tool":"look","args":{"at":3}},{"index":"4","title":"D","tool":"fill","args":{"at":"4"},"depends_on":["3"]}]}`},
			}.reply
			w.tool = func(c agent.CallTool) event.Data {
				if c.Index == "2" || c.Index == "4" {
					return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "broke", Failure: event.FailureTool}
				}
				return event.StepCompleted{Index: c.Index, Attempt: c.Attempt}
			}
			limits := event.DefaultLimits()
			c.limit(&limits)
			got := w.play(started(limits))
			if got.Reason != c.want || len(all[event.ReplanStarted](w)) != 1 {
				t.Errorf("%s (%s) after %d replans, want one", got.Reason, got.Error, len(all[event.ReplanStarted](w)))
			}
			if b := all[event.GuardBlocked](w); len(b) != 1 || b[0].Guard != c.guard {
				t.Errorf("blocked %+v", b)
			}
		})
	}
}
