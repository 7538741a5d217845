package wording_test

import (
	"slices"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
	"replan/tui/panetest"
	"replan/tui/wording"
)

func TestListsAreNamedWithTheirBounds(t *testing.T) {
	long := make([]any, 20)
	for want, f := range map[string]*plan.ForEach{
		"":               nil,
		"${found.files}": {Items: "${found.files}", As: "item", Max: 50},
		"${found.files} as file, at most 9, 2 at once": {Items: "${found.files}", As: "file", Max: 9, AtOnce: 2},
		`["a",3]`:  {Items: []any{"a", 3}, As: "item", Max: 50},
		"20 items": {Items: long, As: "item", Max: 50},
	} {
		if got := wording.EachWords(f); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestItemsAreEstimatedBeforeARun(t *testing.T) {
	p := plan.Plan{Variables: map[string]any{"names": []any{"a", "b"}}, Steps: []plan.Step{{Index: "1", ResultVariable: "found"}}}
	for items, want := range map[string]string{
		"${names}":       "2 items",
		"${found.files}": "at most 50 items, known once step 1 is done",
		"${given}":       "at most 50 items",
	} {
		if got := wording.EstimateWords(p, &plan.ForEach{Items: items, Max: 50}); got != want {
			t.Errorf("%s: got %q, want %q", items, got, want)
		}
	}
}

func TestItemsAreCountedWithWhatWentWrong(t *testing.T) {
	run := panetest.EachRun(30, 20)
	s := run.Step("2")
	if got := wording.ItemsWords(s); got != "20 of 30 items, 2 failed" {
		t.Errorf("got %q", got)
	}
	s.Items[20].Status, s.Items[21].Status, s.Items[22].Status = agent.StepWaiting, agent.StepInDoubt, agent.StepSkipped
	s.Items[22].NotTaken = true
	if got := wording.ItemsWords(s); got != "22 of 30 items, 1 asks you, 2 failed, 1 in doubt, 1 not taken" {
		t.Errorf("got %q", got)
	}
}

func TestPartialRunNamesTheItemsThatItIsWithout(t *testing.T) {
	run := panetest.EachRun(50, 50)
	if err := run.Apply(event.Event{Seq: run.Seq + 1, Time: run.Now, Run: "r", Data: event.StepCompleted{Index: "2", Attempt: 1}}); err != nil {
		t.Fatal(err)
	}
	want := "5 items did not succeed: 2.10 internal/part10/file.go, 2.20 internal/part20/file.go, 2.30 internal/part30/file.go and 2 more items"
	if got := wording.PartialWords(run, event.Result{}); got != want {
		t.Errorf("got %q", got)
	}
}

func TestResultsOfItemsTakeALineEach(t *testing.T) {
	run := panetest.EachRun(4, 4)
	s := run.Step("2")
	s.Items[1].Result = "two\nlines\n"
	s.Items[2].Result = map[string]any{"matches": []any{1, 2}}
	s.Items[3].Status, s.Items[3].Error = agent.StepFailed, "the disk is full\nreally"
	want := []string{"2.1 internal/part1/file.go: written", "2.2 internal/part2/file.go:", "  two", "  lines", "2.3 internal/part3/file.go: 2 matches", "2.4 internal/part4/file.go: the disk is full"}
	if got := wording.ItemLines(s); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if lines := wording.ItemLines(run.Step("1")); lines != nil {
		t.Errorf("got %q", lines)
	}
}

func TestDeniedItemsAreNotCalledFailed(t *testing.T) {
	s := &agent.StepState{Items: []*agent.StepState{
		{Status: agent.StepCompleted}, {Status: agent.StepFailed, Failure: event.FailureDenied}, {Status: agent.StepFailed, Failure: event.FailureTool},
	}}
	if c := wording.CountItems(s); c.Denied != 1 || c.Failed != 1 {
		t.Errorf("got %d denied and %d failed", c.Denied, c.Failed)
	}
}
