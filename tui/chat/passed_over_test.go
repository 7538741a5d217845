package chat

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

func TestFailedStepThatTheRunGoesOnWithoutIsShownAndCounted(t *testing.T) {
	step := func(index, title string) plan.Step {
		return plan.Step{Index: index, Title: untrusted.Text(title), Executor: plan.ExecutorTool, Tool: "a:b", OnFailure: plan.OnFailureSkip}
	}
	given := &plan.Plan{Title: "a plan", Steps: []plan.Step{step("1", "Look"), step("2", "fail"), step("3", "Tell")}}
	started := func(index string) event.Data {
		return event.StepStarted{Index: index, Attempt: 1, Executor: plan.ExecutorTool, Tool: "a:b"}
	}
	begun := []event.Data{event.RunStarted{Goal: "a goal", Plan: given}, event.PlanCreated{Plan: *given, Revision: 1}, started("1"), event.StepCompleted{Index: "1", Attempt: 1}, started("2")}
	failed := append(begun, event.StepFailed{Index: "2", Attempt: 1, Error: "exit status 1", Failure: event.FailureTool})
	_, got := narrate(t, narratedPane(), false, failed...)
	if !strings.Contains(got, "✗ step 2 failed: exit status 1") {
		t.Errorf("while it runs the chat shows\n%s", got)
	}
	_, got = narrate(t, narratedPane(), false, append(failed, started("3"), event.StepCompleted{Index: "3", Attempt: 1},
		event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonPartial}})...)
	if !strings.Contains(got, "partial: 2 of 3 done, 1 failed: fail (exit status 1)") || strings.Contains(got, "skipped") {
		t.Errorf("at the end the chat shows\n%s", got)
	}
}
