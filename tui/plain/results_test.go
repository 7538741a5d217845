package plain_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/planning/plan"
)

func TestResultOfAProgramIsTheEndOfItsOutput(t *testing.T) {
	var written strings.Builder
	for i := range 100 {
		fmt.Fprintf(&written, "line %d\n", i+1)
	}
	got := runOutput(t, false, samplePlan(step("1")), call("1", "", nil),
		event.StepCompleted{Index: "1", Attempt: 1, Result: map[string]any{"exit": 0, "output": written.String(), "timed_out": false}},
		event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Plan: &plan.Plan{}}})
	if !strings.Contains(got, "\n    … 80 earlier lines\n    line 81\n") || !strings.Contains(got, "\n    line 100\n") || strings.Contains(got, "timed_out") {
		t.Errorf("got\n%s", got)
	}
}
