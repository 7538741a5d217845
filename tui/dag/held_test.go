package dag_test

import (
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/tui/dag"
	"replan/tui/draw"
	"replan/tui/panetest"
)

// heldPlan is a run whose second step is ready while the first has failed and waits
// for the user to decide.
func heldPlan(t *testing.T, more ...event.Data) *agent.Run {
	t.Helper()
	plan := plan.Plan{Title: "P", Steps: []plan.Step{panetest.TimedStep("1", "look"), panetest.TimedStep("2", "look")}, OnFailure: plan.OnFailureAbort}
	started := event.RunStarted{Plan: &plan, Limits: event.DefaultLimits(), Catalog: panetest.TimedTools, Attended: true, Rules: []rule.Rule{{Tool: "look", Verdict: rule.VerdictRun}}}
	events := panetest.Past{{0, started}, {0, event.PlanCreated{Plan: plan, Revision: 1}}, {0, panetest.Begins("1", 1)}, {1, panetest.Fails("1", 1)}}
	for _, data := range more {
		events = append(events, panetest.Past{{2, data}}...)
	}
	run, _ := events.Folded(t)
	return run
}

func drawnPlan(run *agent.Run, width int) string {
	d := dag.New(panetest.DarkLook(), panetest.Keys())
	d.Show(run)
	d.SetState(dag.State{Size: draw.Rect{W: width, H: 12}})
	return panetest.Stripped(d.View())
}

func TestHeldStepNamesStepItWaitsFor(t *testing.T) {
	for _, width := range []int{90, 40} {
		got := drawnPlan(heldPlan(t), width)
		if !strings.Contains(got, "held: 1") || strings.Contains(got, "ready") {
			t.Errorf("at width %d got\n%s", width, got)
		}
	}
}

func TestUnstartedStepOfEndedRunIsMarkedNotRun(t *testing.T) {
	run := heldPlan(t, event.FailureResolved{Step: "1", Decision: event.FailureAbort, By: "user"},
		event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonStepFailed}})
	if got := drawnPlan(run, 90); !strings.Contains(got, "not run") {
		t.Errorf("got\n%s", got)
	}
}

func TestStepsAwaitingReviewAreMarked(t *testing.T) {
	plan := plan.Plan{Title: "P", Steps: []plan.Step{panetest.TimedStep("1", "look")}}
	run, _ := panetest.Past{
		{0, event.RunStarted{Plan: &plan, Limits: event.DefaultLimits(), Catalog: panetest.TimedTools, Review: true}},
		{0, event.PlanCreated{Plan: plan, Revision: 1}},
	}.Folded(t)
	if got := drawnPlan(run, 90); !strings.Contains(got, "review") || strings.Contains(got, "ready") {
		t.Errorf("got\n%s", got)
	}
}
