package agent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
)

func TestResumeKeepsVariablesAndUsage(t *testing.T) {
	long := strings.Repeat("ä", 300_000)
	w := newWorld(t)
	w.tool = func(c agent.CallTool) event.Data {
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: map[string]any{"text": long, "n": json.Number("12345678901234567890.50")}}
	}
	start := given(t, with(chain, second, `{"at":"${a.text}"}`, `"c"`, `"${a.n}"`))
	start.Limits.MaxConcurrency = 1
	w.apply(start)
	w.until(event.KindStepCompleted)
	w.killAt(event.KindStepCompleted)
	if got := w.run.Usage; got.Steps != 1 || got.ToolCalls != 1 {
		t.Errorf("after reading the events: used %+v", got)
	}
	if got := w.resume(resumed(start)); got.Usage.Steps != 4 || got.Reason != event.ReasonGoalMet {
		t.Errorf("%s: %s, used %+v", got.Reason, got.Error, got.Usage)
	}
	if w.run.Step("2").Args["at"] != long || fmt.Sprint(w.run.Step("3").Args["at"]) != "12345678901234567890.50" {
		t.Error("a step after the kill was called with incomplete values")
	}
}

func TestLimitsAfterResume(t *testing.T) {
	for name, c := range map[string]struct {
		limit func(*event.Limits)
		raise func(*event.Limits)
		first event.Reason
		then  event.Reason
	}{
		"steps raised":              {func(l *event.Limits) { l.MaxSteps, l.GrowSteps = 2, false }, func(l *event.Limits) { l.MaxSteps = 4 }, event.ReasonStepBudget, event.ReasonGoalMet},
		"steps unlimited":           {func(l *event.Limits) { l.MaxSteps, l.GrowSteps = 2, false }, func(l *event.Limits) { l.MaxSteps = 0 }, event.ReasonStepBudget, event.ReasonGoalMet},
		"steps unchanged":           {func(l *event.Limits) { l.MaxSteps, l.GrowSteps = 2, false }, nil, event.ReasonStepBudget, event.ReasonStepBudget},
		"steps raised too little":   {func(l *event.Limits) { l.MaxSteps, l.GrowSteps = 2, false }, func(l *event.Limits) { l.MaxSteps = 3 }, event.ReasonStepBudget, event.ReasonStepBudget},
		"calls raised":              {func(l *event.Limits) { l.MaxToolCalls = 2 }, func(l *event.Limits) { l.MaxToolCalls = 9 }, event.ReasonToolBudget, event.ReasonGoalMet},
		"calls unchanged":           {func(l *event.Limits) { l.MaxToolCalls = 2 }, nil, event.ReasonToolBudget, event.ReasonToolBudget},
		"calls of a tool raised":    {func(l *event.Limits) { l.MaxCallsPerTool = 3 }, func(l *event.Limits) { l.MaxCallsPerTool = 4 }, event.ReasonToolBudget, event.ReasonGoalMet},
		"calls of a tool unchanged": {func(l *event.Limits) { l.MaxCallsPerTool = 3 }, nil, event.ReasonToolBudget, event.ReasonToolBudget},
		"time raised":               {func(l *event.Limits) { l.MaxDurationMS = 60 }, func(l *event.Limits) { l.MaxDurationMS = 60_000 }, event.ReasonTimeBudget, event.ReasonGoalMet},
		"time unchanged":            {func(l *event.Limits) { l.MaxDurationMS = 60 }, nil, event.ReasonTimeBudget, event.ReasonTimeBudget},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			start := given(t, chain)
			c.limit(&start.Limits)
			w.choose = w.noTimers
			if got := w.play(start); got.Reason != c.first {
				t.Fatalf("%s: %s", got.Reason, got.Error)
			}
			w.kill(len(w.events))
			again := resumed(start)
			if c.raise != nil {
				c.raise(&again.Limits)
			}
			starts := len(w.starts())
			got := w.resume(again)
			if got.Reason != c.then {
				t.Fatalf("after the resume: %s (%s), want %s", got.Reason, got.Error, c.then)
			}
			if c.raise == nil && len(w.starts()) != starts {
				t.Errorf("the budget is spent, but %v started", w.starts()[starts:])
			}
		})
	}
}

func (w *world) noTimers(int) int {
	return max(0, slices.IndexFunc(w.pending, func(e agent.Effect) bool { _, timer := e.(agent.Wake); return !timer }))
}

func TestTimeBetweenRunAndResumeDoesNotCount(t *testing.T) {
	w := newWorld(t)
	start := given(t, chain)
	start.Limits.MaxDurationMS = 10_000
	w.choose = w.noTimers
	w.apply(start)
	w.until(event.KindStepCompleted)
	before := w.run.Elapsed()
	w.kill(len(w.events)) // a day passes
	w.apply(resumed(start))
	if got := w.run.Elapsed(); got != before {
		t.Errorf("elapsed %v, want %v as before the kill", got, before)
	}
	for _, a := range w.run.Next() {
		if wake, ok := a.Effect.(agent.Wake); ok && wake.At.Sub(w.now) != 10*time.Second-before {
			t.Errorf("the timer fires in %v, with %v of 10 s used", wake.At.Sub(w.now), before)
		}
	}
	if got := w.finish(); got.Reason != event.ReasonGoalMet || got.DurationMS >= 10_000 {
		t.Errorf("%s (%s) after %d ms", got.Reason, got.Error, got.DurationMS)
	}
}

func TestResumeSetsNewDeadline(t *testing.T) {
	w := newWorld(t)
	start := given(t, chain)
	start.Limits.MaxDurationMS = 1_000
	w.apply(start)
	w.choose = func(int) int { // time is up before any tool comes back
		return max(0, slices.IndexFunc(w.pending, func(e agent.Effect) bool { _, timer := e.(agent.Wake); return timer }))
	}
	w.until(event.KindTimerFired)
	if got := w.finish(); got.Reason != event.ReasonTimeBudget {
		t.Fatalf("%s: %s", got.Reason, got.Error)
	}
	w.kill(len(w.events))
	again := resumed(start)
	again.Limits.MaxDurationMS = 3_000
	w.pending, w.begun = nil, map[string]bool{}
	w.apply(again)
	if !slices.ContainsFunc(w.run.Next(), func(a agent.Action) bool { _, timer := a.Effect.(agent.Wake); return timer }) {
		t.Error("no timer is set for the deadline")
	}
}

func TestBudgetWarningRepeatsOnlyForNewLimit(t *testing.T) {
	for limit, want := range map[int]string{10: "8 of 10", 11: "8 of 10, 9 of 11"} {
		w := newWorld(t)
		start := given(t, serial(9, false))
		start.Limits.MaxSteps, start.Limits.GrowSteps = 10, false
		w.play(start)
		w.killAt(event.KindBudgetWarned)
		again := resumed(start)
		again.Limits.MaxSteps = limit
		if got := w.resume(again); got.Reason != event.ReasonGoalMet {
			t.Fatalf("%s: %s", got.Reason, got.Error)
		}
		var warnings []string
		for _, d := range all[event.BudgetWarned](w) {
			warnings = append(warnings, fmt.Sprintf("%d of %d", d.Used, d.Limit))
		}
		if got := strings.Join(warnings, ", "); got != want {
			t.Errorf("with a limit of %d: got the warnings %s, want %s", limit, got, want)
		}
	}
}
