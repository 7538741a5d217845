package chat

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/planning/plan"
)

// Usage also counts calls of agents and earlier attempts: the end counts what the plan has.
func TestEndOfARunCountsTheStepsOfItsPlan(t *testing.T) {
	given := &plan.Plan{Title: "a plan", Steps: []plan.Step{
		{Index: "1", Title: "Look", Executor: plan.ExecutorTool, Tool: "a:b"}, {Index: "2", Title: "Look again", Executor: plan.ExecutorTool, Tool: "a:b"},
	}}
	for done, want := range map[int]string{1: "· 1 of 2 steps", 2: "· 2 steps"} {
		events := []event.Data{event.RunStarted{Plan: given}, event.PlanCreated{Plan: *given}}
		for _, index := range []string{"1", "2"}[:done] {
			events = append(events, event.StepStarted{Index: index, Attempt: 1, Executor: plan.ExecutorTool, Tool: "a:b"}, event.StepCompleted{Index: index, Attempt: 1})
		}
		ended := event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Usage: event.Usage{Steps: 3}}}
		if _, got := narrate(t, narratedPane(), false, append(events, ended)...); !strings.Contains(got, want) {
			t.Errorf("%d done: got\n%s", done, got)
		}
	}
}
