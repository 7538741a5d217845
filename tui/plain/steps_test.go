package plain_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/planning/plan"
)

// The usage counts a step that a replan replaced, too; the screen does not.
func TestTheLastLineCountsTheStepsOfThePlan(t *testing.T) {
	got := runOutput(t, false, event.RunStarted{Goal: "g"}, samplePlan(step("1")),
		event.StepStarted{Index: "1", Attempt: 1, Executor: plan.ExecutorTool, Tool: "a:b"},
		event.StepCompleted{Index: "1", Attempt: 1},
		event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Usage: event.Usage{Steps: 9, ToolCalls: 9, Replans: 1}}})
	if !strings.HasSuffix(got, "· 1 step · 1 replan\n") {
		t.Errorf("got\n%s", got)
	}
}
