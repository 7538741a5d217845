package agent_test

import (
	"errors"
	"fmt"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// stubborn makes the planner answer each failure with a step that fails as before: the plan that
// failed ("same"), or one with other arguments ("other").
func stubborn(w *world, answers string) {
	n := 0
	plan := func() (string, error) {
		n++
		at := n
		if answers == "same" {
			at = 1
		}
		return fmt.Sprintf(`{"title":"x","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":%d}},{"index":"2","title":"Change","tool":"change","args":{"at":%d},"depends_on":["1"]}]}`, at, at), nil
	}
	w.reply = func(r prompt.Request) (string, error) {
		if r.Purpose == prompt.PurposePlan || r.Purpose == prompt.PurposeReplan {
			return plan()
		}
		return "", errors.New("no reply")
	}
	w.tool = func(c agent.CallTool) event.Data {
		if c.Tool.Name == "change" {
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: untrusted.Text(fmt.Sprint("broke ", c.Args["at"])), Failure: event.FailureTool}
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "seen"}
	}
}

// Each bound of a run is tried at 0 and at 1, with a planner that never finds another way. The
// run ends, and for the reason that the manual gives.
func TestEveryBoundHoldsAtZeroAndOne(t *testing.T) {
	type want struct {
		reason event.Reason
		starts int // of steps
	}
	// without is how the run ends by the other bounds, whose defaults are in force.
	without := want{event.ReasonReplanBudget, 12}
	for name, c := range map[string]struct {
		set       func(l *event.Limits, n int)
		zero, one want
	}{
		"max_steps":           {func(l *event.Limits, n int) { l.MaxSteps, l.GrowSteps = n, false }, want{event.ReasonReplanBudget, 12}, want{event.ReasonStepBudget, 1}},
		"max_plan_steps":      {func(l *event.Limits, n int) { l.MaxPlanSteps = n }, without, want{event.ReasonNoPlan, 1}},
		"max_replans":         {func(l *event.Limits, n int) { l.MaxReplans = n }, want{event.ReasonReplanBudget, 2}, want{event.ReasonReplanBudget, 4}},
		"max_tool_calls":      {func(l *event.Limits, n int) { l.MaxToolCalls = n }, without, want{event.ReasonToolBudget, 1}},
		"max_discovery_calls": {func(l *event.Limits, n int) { l.MaxDiscoveryCalls = n }, without, want{event.ReasonToolBudget, 2}},
		"max_execution_calls": {func(l *event.Limits, n int) { l.MaxExecutionCalls = n }, without, want{event.ReasonToolBudget, 3}},
		"max_calls_per_tool":  {func(l *event.Limits, n int) { l.MaxCallsPerTool = n }, without, want{event.ReasonToolBudget, 2}},
		"max_repeats":         {func(l *event.Limits, n int) { l.MaxRepeats = n }, without, without},
		"max_tokens":          {func(l *event.Limits, n int) { l.MaxTokens = n }, without, want{event.ReasonTokenBudget, 2}},
		"max_duration":        {func(l *event.Limits, n int) { l.MaxDurationMS = int64(n) }, without, want{event.ReasonTimeBudget, 0}},
		"step_timeout":        {func(l *event.Limits, n int) { l.StepTimeoutMS = int64(n) }, without, without},
		"max_concurrency":     {func(l *event.Limits, n int) { l.MaxConcurrency = n }, without, without},
		"model_slots":         {func(l *event.Limits, n int) { l.ModelSlots = n }, without, without},
	} {
		for n, want := range []want{c.zero, c.one} {
			t.Run(fmt.Sprintf("%s=%d", name, n), func(t *testing.T) {
				w := newWorld(t)
				stubborn(w, "other")
				limits := event.DefaultLimits()
				limits.GrowSteps = false
				c.set(&limits, n)
				start := started(limits)
				start.Rules = []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}}
				got := w.play(start)
				if got.Reason != want.reason || len(w.starts()) != want.starts {
					t.Errorf("the run ended with %s (%s) after %d steps, want %s after %d", got.Reason, got.Error, len(w.starts()), want.reason, want.starts)
				}
			})
		}
	}
}

// A planner whose answer is refused uses up no step, so that only the replans bound it.
func TestPlannerThatRepeatsItselfIsBounded(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 5: 5} {
		w := newWorld(t)
		stubborn(w, "same")
		limits := event.DefaultLimits()
		limits.MaxReplans, limits.MaxSteps, limits.MaxRepeats = n, 0, 0
		start := started(limits)
		start.Rules = []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}}
		got := w.play(start)
		if replans := len(all[event.ReplanStarted](w)); got.Reason != event.ReasonReplanBudget || replans != want {
			t.Errorf("max_replans %d: the run ended with %s (%s) after %d replans, want %d", n, got.Reason, got.Error, replans, want)
		}
	}
}

func TestRaisedReplansAreTheHigherOfBoth(t *testing.T) {
	for _, c := range []struct{ has, given, want int }{{0, 0, 0}, {0, 3, 3}, {3, 0, 3}, {2, 5, 5}, {event.NothingLeft, 0, 0}} {
		if got := (event.Limits{MaxReplans: c.has}).RaisedTo(event.Limits{MaxReplans: c.given}).MaxReplans; got != c.want {
			t.Errorf("%d raised to %d is %d, want %d", c.has, c.given, got, c.want)
		}
	}
}
