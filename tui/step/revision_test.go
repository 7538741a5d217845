package step_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/panetest"
	"replan/tui/step"
)

func TestRevisionIsDrawnWithItsReason(t *testing.T) {
	started, created := panetest.TimedPlan(panetest.TimedStep("1", "look"), panetest.TimedStep("2", "change", "1"))
	next := panetest.TimedStep("3", "look")
	next.Title = "Look once more"
	run, _ := panetest.Past{
		{At: 0, Data: started},
		{At: 0, Data: created},
		{At: 1, Data: panetest.Begins("1", 1)},
		{At: 2, Data: panetest.Fails("1", 1)},
		{At: 2, Data: event.ReplanStarted{Attempt: 1, Step: "1", Error: "no", Remaining: []string{"1", "2"}}},
		{At: 3, Data: event.PlanDiff{Revision: 2, Reason: "it was not there", Removed: []string{"1", "2"}, Added: []string{"3"}, Plan: plan.Plan{Title: "P", Steps: []plan.Step{next}, OnFailure: plan.OnFailureReplan}}},
	}.Folded(t)
	revision := run.Revisions[len(run.Revisions)-1]
	p := step.New(panetest.DarkLook(), panetest.Keys())
	p.Show(run, &step.Subject{Kind: step.SubjectRevision, Key: "revision 2", Revision: &revision})
	p.SetState(step.State{Size: draw.Rect{W: 60, H: 20}})
	text := panetest.Stripped(p.View())
	for _, want := range []string{"Revision 2", "removed", "added", "because", "it was not there"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not drawn:\n%s", want, text)
		}
	}
}
