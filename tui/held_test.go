package tui

import (
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/tui/dag"
	"replan/tui/panetest"
	"replan/tui/telling"
)

// heldPlan is a run whose second step is ready while the first has failed and the
// user is asked how to go on.
func heldPlan(t *testing.T, more ...event.Data) *agent.Run {
	t.Helper()
	plan := plan.Plan{Title: "P", Steps: []plan.Step{timedStep("1", "look"), timedStep("2", "look")}, OnFailure: plan.OnFailureAbort}
	started := event.RunStarted{Plan: &plan, Limits: event.DefaultLimits(), Catalogue: timedTools, Attended: true, Rules: []rule.Rule{{Tool: "look", Verdict: rule.VerdictRun}}}
	told := past{{0, started}, {0, event.PlanCreated{Plan: plan, Revision: 1}}, {0, begins("1", 1)}, {1, fails("1", 1)}}
	for _, data := range more {
		told = append(told, past{{2, data}}...)
	}
	run, _ := told.folded(t)
	return run
}

func drawnPlan(run *agent.Run, width int) string {
	d := dag.New(panetest.DarkLook())
	d.SetSize(width, 12)
	d.Show(run)
	return panetest.Stripped(d.Lines())
}

func TestWhatWouldBeReadySaysWhatHoldsIt(t *testing.T) {
	for _, width := range []int{90, 40} {
		got := drawnPlan(heldPlan(t), width)
		if !strings.Contains(got, "held: 1") || strings.Contains(got, "ready") {
			t.Errorf("at %d:\n%s", width, got)
		}
	}
}

func TestWhatWasNeverBegunSaysSoWhenTheRunHasEnded(t *testing.T) {
	run := heldPlan(t, event.FailureResolved{Step: "1", Decision: event.FailureAbort, By: "user"},
		event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonStepFailed}})
	if got := drawnPlan(run, 90); !strings.Contains(got, "not run") {
		t.Errorf("it says\n%s", got)
	}
}

func TestAPlanThatIsToBeLookedOverSaysSoInItsRows(t *testing.T) {
	plan := plan.Plan{Title: "P", Steps: []plan.Step{timedStep("1", "look")}}
	run, _ := past{
		{0, event.RunStarted{Plan: &plan, Limits: event.DefaultLimits(), Catalogue: timedTools, Review: true}},
		{0, event.PlanCreated{Plan: plan, Revision: 1}},
	}.folded(t)
	if got := drawnPlan(run, 90); !strings.Contains(got, "review") || strings.Contains(got, "ready") {
		t.Errorf("it says\n%s", got)
	}
}

func TestARollUpCountsWhatIsReadyApart(t *testing.T) {
	l := panetest.DarkLook()
	var c telling.Counts
	c[telling.ClassReady], c[telling.ClassWaits] = 3, 1
	if got, want := panetest.Stripped([]string{dag.CountWords(l, &c, dag.AsItIs)}), l.Glyphs.Ready+"3 "+l.Glyphs.Pending+"1"; got != want {
		t.Errorf("it says %q, not %q", got, want)
	}
}
