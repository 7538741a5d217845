package agent_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// parallel returns a plan of n independent changes.
func parallel(n int) string {
	var steps []string
	for i := 1; i <= n; i++ {
		steps = append(steps, fmt.Sprintf(`{"index":"%d","title":"Step %d","tool":"change","args":{"at":%d}}`, i, i, i))
	}
	return `{"title":"Parallel","steps":[` + strings.Join(steps, ",") + `]}`
}

func TestGuardedCallOpensNoGate(t *testing.T) {
	for name, limit := range map[string]func(*event.Limits){
		"steps":           func(l *event.Limits) { l.MaxSteps, l.GrowSteps = 2, false },
		"tool calls":      func(l *event.Limits) { l.MaxToolCalls = 2 },
		"execution calls": func(l *event.Limits) { l.MaxExecutionCalls = 2 },
		"calls of a tool": func(l *event.Limits) { l.MaxCallsPerTool = 2 },
	} {
		for shape, steps := range map[string]string{"one after the other": serial(4, true), "at once": parallel(4)} {
			t.Run(name+", "+shape, func(t *testing.T) {
				w := newWorld(t)
				start := given(t, steps)
				limit(&start.Limits)
				got := w.play(start)
				blocked := all[event.GuardBlocked](w)
				if len(blocked) != 1 || got.Error != blocked[0].Reason {
					t.Fatalf("ended %s (%s) after %+v", got.Reason, got.Error, blocked)
				}
				if asked, called := len(gates(w)), len(w.starts()); asked != 2 || called != 2 {
					t.Errorf("got %d gates and %d calls, want 2 of each", asked, called)
				}
			})
		}
	}
}

func TestRepeatedCallOpensNoGate(t *testing.T) {
	w := newWorld(t)
	var plans []string
	for i := 1; i < 6; i++ {
		plans = append(plans, fmt.Sprintf(`{"title":"x","steps":[{"index":"%d","title":"Change","tool":"change","args":{"at":7}},
			{"index":"%d","title":"Look","tool":"look","args":{"at":%d},"depends_on":["%d"]}]}`, 10*i, 10*i+1, i, 10*i))
	}
	w.reply = script{prompt.PurposePlan: plans[:1], prompt.PurposeReplan: plans[1:]}.reply
	w.tool = func(c agent.CallTool) event.Data {
		if c.Tool.Name == "change" {
			return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: c.Index}
		}
		return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: untrusted.Text("broken in the way of step " + c.Index), Failure: event.FailureTool}
	}
	limits := event.DefaultLimits()
	limits.MaxRepeats = 2
	got := w.play(started(limits))
	if got.Reason != event.ReasonGuard || len(gates(w)) != 2 {
		t.Errorf("ended %s (%s) after %d gates, want the guard after 2", got.Reason, got.Error, len(gates(w)))
	}
}

// TestGuardNeverRefusesApprovedCall plays random plans under random budgets with
// a user who allows everything.
func TestGuardNeverRefusesApprovedCall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, start := randomWorld(t, executors)
		start.Limits = randomLimits(t)
		w.resolve = func(g event.GateRequested) event.GateResolved {
			return event.GateResolved{Gate: g.Gate, Decision: event.Allow, Scope: event.ScopeOnce, By: "test"}
		}
		steps, approved := map[string]string{}, map[string]bool{}
		w.check = func(e event.Event) {
			switch d := e.Data.(type) {
			case event.GateRequested:
				steps[d.Gate] = d.Step
			case event.GateResolved:
				approved[steps[d.Gate]] = true
			case event.StepStarted:
				delete(approved, d.Index)
			case event.StepExpanded: // a new attempt of the items asks again
				maps.DeleteFunc(approved, func(step string, _ bool) bool { return strings.HasPrefix(step, d.Index+".") })
			case event.PlanDiff:
				approved = map[string]bool{}
			case event.GuardBlocked:
				if approved[d.Step] && d.Guard != event.GuardTime {
					t.Fatalf("step %s was approved and then refused: %s\n%s", d.Step, d.Reason, w.tail())
				}
			}
		}
		w.apply(start)
		w.playOrStop(t)
	})
}

func TestCheckLeavesCallsToOpenGates(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"x","steps":[
		{"index":"1","title":"Change","tool":"change","args":{"at":1},"check":{"tool":"look","args":{"at":1},"expect":"result != nil"}},
		{"index":"2","title":"Look","tool":"look","args":{"at":2},"gate":true}]}`)
	start.Rules = []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}}
	start.Limits.MaxDiscoveryCalls = 1
	got := w.play(start)
	if got.Reason != event.ReasonGoalMet {
		t.Errorf("ended %s: %s\n%s", got.Reason, got.Error, w.tail())
	}
	if checked := all[event.CheckCompleted](w); len(checked) != 1 || checked[0].State != plan.StateUnchecked {
		t.Errorf("the check is %+v", checked)
	}
}

func TestCallApprovedAtItsSecondGateKeepsItsBudget(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"x","steps":[
		{"index":"1","title":"Look","tool":"look","args":{"at":1},"gate":true,"retries":1},
		{"index":"2","title":"Look on","tool":"look","args":{"at":2}},
		{"index":"3","title":"Look more","tool":"look","args":{"at":3},"depends_on":["2"]},
		{"index":"4","title":"Look last","tool":"look","args":{"at":4},"depends_on":["3"]}]}`)
	start.Limits.MaxConcurrency, start.Limits.MaxToolCalls = 1, 2
	flaw := "it does not apply"
	w.flaw = func(agent.OpenGate) string {
		defer func() { flaw = "" }()
		return flaw
	}
	w.choose = func(n int) int {
		if at := slices.IndexFunc(w.pending, func(e agent.Effect) bool { return !isCall("2")(e) }); at >= 0 || n == len(w.pending) {
			return max(at, 0)
		}
		return n - 1 // the gate, while step 2 runs
	}
	w.play(start)
	if got := w.starts(); !slices.Equal(got, []string{"2", "1"}) {
		t.Errorf("the calls %v started\n%s", got, w.tail())
	}
}

func TestApprovedItemInLineKeepsItsBudget(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"x","steps":[
		{"index":"1","title":"Change","tool":"change","for_each":["a","b"],"at_once":1,"args":{"at":"${item}"}},
		{"index":"2","title":"Look","tool":"look","args":{"at":1}},
		{"index":"3","title":"Look on","tool":"look","args":{"at":2},"depends_on":["2"]}]}`)
	start.Limits.MaxToolCalls = 3
	w.choose = func(n int) int {
		if n > len(w.pending) {
			return n - 1 // gates first, so that 1.2 waits for 1.1
		}
		return 0
	}
	w.play(start)
	if got := w.starts(); !slices.Equal(got, []string{"2", "1.1", "1.2"}) {
		t.Errorf("the calls %v started\n%s", got, w.tail())
	}
}

func TestApprovedItemOvertakesOneThatMustLeaveItBudget(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"x","steps":[{"index":"1","title":"Change","tool":"change","for_each":["a","b"],"at_once":1,"args":{"at":"${item}"}}]}`)
	start.Rules = []rule.Rule{{Tool: "change", Args: map[string]string{"at": "a"}, Verdict: rule.VerdictRun}, {Tool: "*", Verdict: rule.VerdictAsk}}
	start.Limits.MaxToolCalls = 1
	result := w.play(start)
	if got := w.starts(); !slices.Equal(got, []string{"1.2"}) || result.Reason != event.ReasonToolBudget {
		t.Errorf("the calls %v started, and the run ended with %s\n%s", got, result.Reason, w.tail())
	}
}

func TestItemThatWaitsForAnswerLeavesItsTurn(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"x","steps":[{"index":"1","title":"Change","tool":"change","for_each":["a","b"],"at_once":1,"args":{"at":"${item}"}}]}`)
	start.Rules = []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}}
	start.Catalog = slices.Clone(catalog)
	start.Catalog[1].Trusted, start.Catalog[1].Previews = true, true
	w.tool = func(c agent.CallTool) event.Data {
		if c.Index == "1.1" && c.Hold {
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "refused", Failure: event.FailureTool, Removes: "removes 9 of 10 lines of a"}
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: c.Index}
	}
	w.choose = func(int) int { return 0 } // gates last
	w.play(start)
	if got := w.starts(); !slices.Equal(got, []string{"1.1", "1.2", "1.1"}) {
		t.Errorf("the calls %v started\n%s", got, w.tail())
	}
}

func TestApprovedCallGetsBudgetFirst(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"x","steps":[
		{"index":"1","title":"Look","tool":"look","args":{"at":1}},
		{"index":"2","title":"Look on","tool":"look","args":{"at":2},"depends_on":["1"]},
		{"index":"3","title":"Change","tool":"change","args":{"at":3}}]}`)
	start.Limits.MaxConcurrency, start.Limits.MaxToolCalls = 1, 1
	got := w.play(start)
	if got.Reason != event.ReasonToolBudget || fmt.Sprint(w.starts()) != "[3]" {
		t.Errorf("ended %s (%s) after the steps %v", got.Reason, got.Error, w.starts())
	}
}

func TestRetryLeavesBudgetToOpenGates(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"x","steps":[
		{"index":"1","title":"Look","tool":"look","args":{"at":1},"gate":true,"retries":1},
		{"index":"2","title":"Look on","tool":"look","args":{"at":2}},
		{"index":"3","title":"Change","tool":"change","args":{"at":3},"depends_on":["2"]}]}`)
	start.Limits.MaxToolCalls = 3
	failed := false
	w.tool = func(c agent.CallTool) event.Data {
		if c.Index == "1" && !failed {
			failed = true
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "busy", Failure: event.FailureTool}
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: c.Index}
	}
	got := w.play(start)
	if starts := fmt.Sprint(w.starts()); got.Reason != event.ReasonToolBudget || starts != "[2 1 3]" || !strings.Contains(got.Error.Line(), "before step 1;") {
		t.Errorf("ended %s (%s) after the steps %s, want the tool budget after 2, 1 and 3", got.Reason, got.Error, starts)
	}
}
