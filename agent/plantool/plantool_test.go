package plantool_test

import (
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/plantool"
	"replan/planning/plan"
)

func TestLongResultIsShortenedAndNamesItsPlace(t *testing.T) {
	run := &agent.Run{Terms: agent.Terms{ID: "r-1"}, Outcome: agent.Outcome{Result: &event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet}}}
	for _, result := range []any{strings.Repeat("é", 2000), "short", map[string]any{"n": 1}} {
		run.Steps = append(run.Steps, &agent.StepState{Step: plan.Step{Index: "7"}, Status: agent.StepCompleted, Result: result})
	}
	got := plantool.Executed(run)
	long, ok := got.Steps[0].Result.(string)
	if !ok || !strings.Contains(long, "[… 500 characters left out; the full text is in run r-1, step 7 …]") || len([]rune(long)) > 1700 {
		t.Errorf("got %v", got.Steps[0].Result)
	}
	if got.Steps[1].Result != "short" {
		t.Errorf("got %v", got.Steps[1].Result)
	}
	if _, ok := got.Steps[2].Result.(map[string]any); !ok {
		t.Errorf("a short value is no longer a value: %T", got.Steps[2].Result)
	}
	if got.Status != "completed" || got.Reason != "goal_met" {
		t.Errorf("got %+v", got)
	}
}

func TestRunWithoutEndIsUnfinished(t *testing.T) {
	if got := plantool.Executed(&agent.Run{Terms: agent.Terms{ID: "r-1"}}); got.Status != "unfinished" || got.Reason != "" || got.Steps == nil {
		t.Errorf("got %+v", got)
	}
}
