package wording_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/planning/expression"
	"replan/planning/plan"
	"replan/tui/panetest"
	"replan/tui/wording"
)

func TestEvidenceIsCountedOnceACheckHasRun(t *testing.T) {
	step := panetest.TimedStep("1", "look")
	step.Checks = []plan.Check{{Title: "it is there", Expect: "result != ''"}}
	started, created := panetest.TimedPlan(step)
	run, _ := panetest.Past{{At: 0, Data: started}, {At: 0, Data: created}}.Folded(t)
	if got := wording.EvidenceWords(run); got != "" {
		t.Errorf("before the first check it says %q", got)
	}
}

func TestLongArgumentIsCut(t *testing.T) {
	if got := wording.ArgsLine(map[string]any{"text": strings.Repeat("é", 500)}, false); len(got) > 250 || !strings.HasPrefix(got, "text") {
		t.Errorf("got %d bytes: %s", len(got), got)
	}
}

func TestEvidenceOfUndoneRunIsNotCounted(t *testing.T) {
	step := panetest.TimedStep("1", "look")
	step.Checks = []plan.Check{{Title: "it is there", Expect: "result != ''"}}
	started, created := panetest.TimedPlan(step)
	past := panetest.Past{
		{At: 0, Data: started},
		{At: 0, Data: created},
		{At: 1, Data: panetest.Begins("1", 1)},
		{At: 2, Data: panetest.Succeeds("1", 1)},
		{At: 2, Data: event.CheckCompleted{Index: "1", Attempt: 1, Check: 1, State: plan.StateVerified, Saw: []expression.Sight{{Path: "result"}}}},
		{At: 3, Data: event.RunCompleted{Result: event.Result{Status: event.StatusCompleted}}},
	}
	for _, c := range []struct {
		then  event.Data
		count string
		step  plan.EvidenceState
	}{
		{nil, "1 verified", plan.StateVerified},
		{event.RunUndone{}, "", plan.StateClaimed},
		{event.RunUndone{Redo: true}, "1 verified", plan.StateVerified},
	} {
		if c.then != nil {
			past = append(past, panetest.Past{{At: 4, Data: c.then}}...)
		}
		run, _ := past.Folded(t)
		if count, state := wording.EvidenceWords(run), wording.EvidenceOf(run, run.Step("1")); count != c.count || state != c.step {
			t.Errorf("after %T it says %q, and the step is %q", c.then, count, state)
		}
	}
}
