package step

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/expression"
	"replan/planning/plan"
	"replan/tui/panetest"
)

// shown is a tab of a step as text.
func shown(run *agent.Run, index string, t tab) string {
	d := New(panetest.DarkLook(), panetest.Keys())
	d.Show(run, &Subject{Kind: SubjectStep, Key: index, Step: run.Step(index)})
	d.setSize(76, 20)
	d.choose(t)
	return ansi.Strip(strings.Join(d.View(), "\n"))
}

func contains(t *testing.T, got string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(got, want) {
			t.Errorf("the pane lacks %q:\n%s", want, got)
		}
	}
}

func TestStepListsItsItemsWithTheirStates(t *testing.T) {
	run := panetest.EachRun(50, 12)
	d := New(panetest.DarkLook(), panetest.Keys())
	d.Show(run, &Subject{Kind: SubjectStep, Key: "2", Step: run.Step("2")})
	if d.tabs.current != tabItems {
		t.Errorf("a step with items shows its %s", tabNames[d.tabs.current])
	}
	contains(t, shown(run, "2", tabItems), "${found.files} as file, at most 10000", "12 of 50 items, 1 failed", "✓  2.1 internal/part1/file.go", "✗ 2.10 internal/part10/file.go  the disk is full", "failed")
	contains(t, shown(run, "2", tabArgs), "args of each item, as planned", "${file} is from the item", "so far")
}

func TestItemThatTheUserStoppedHasNotFailed(t *testing.T) {
	run := panetest.EachRun(50, 12)
	for _, data := range []event.Data{
		event.StepStarted{Index: "2.13", Parent: "2", Attempt: 1, Executor: plan.ExecutorTool, Tool: "change"},
		event.RunPaused{Reason: "user"},
		event.StepFailed{Index: "2.13", Attempt: 1, Error: "stopped by the user", Failure: event.FailureInterrupted},
		event.RunCompleted{Result: event.Result{Status: event.StatusCanceled, Reason: event.ReasonInterrupted}},
	} {
		apply(t, run, int(run.Seq)+1, data)
	}
	contains(t, shown(run, "2", tabItems), "12 of 50 items, 1 failed, 1 stopped", "■ 2.13 internal/part13/file.go")
	contains(t, shown(run, "2.13", tabArgs), "stopped before it was done")
}

func TestItemThatWaitsSaysHowOftenItWasPolled(t *testing.T) {
	run := panetest.EachRun(50, 12)
	item := run.Step("2.13")
	item.Status, item.Polls, item.RetryAt = agent.StepPending, 3, time.Unix(200, 0)
	contains(t, shown(run, "2", tabItems), "↻ 2.13 internal/part13/file.go", "poll 4")
	item.Polls, item.Attempt = 0, 1
	contains(t, shown(run, "2", tabItems), "↻ 2.13 internal/part13/file.go", "retry 2")
}

func TestItemShowsItsValueAndPlace(t *testing.T) {
	run := panetest.EachRun(50, 12)
	contains(t, shown(run, "2.2", tabArgs), "index", "1 (from 0 to 49)", "file", "internal/part2/file.go", "as written \"${file}\"")
	contains(t, shown(run, "2.2", tabOutput), "written")
	contains(t, shown(run, "2.40", tabArgs), "args, as planned")
}

func TestChecksOfItemsAreCounted(t *testing.T) {
	run := agent.NewRun(nil)
	p := plan.Plan{Title: "Test", Variables: map[string]any{"names": []any{"a", "b"}}, Steps: []plan.Step{{
		Index: "1", Title: "Test", Executor: plan.ExecutorTool, Tool: "change", ForEach: &plan.ForEach{Items: "${names}", As: "item", Max: 50},
		Checks: []plan.Check{{Title: "changed", Expect: "result == item"}},
	}}}
	for i, data := range []event.Data{
		event.RunStarted{Goal: "Test", Plan: &p, SkipSynthesis: true},
		event.PlanCreated{Plan: p, Revision: 1},
		event.StepExpanded{Index: "1", Attempt: 1, Items: []any{"a", "b"}},
		event.StepStarted{Index: "1.1", Parent: "1", Attempt: 1, Executor: plan.ExecutorTool, Tool: "change"},
		event.StepCompleted{Index: "1.1", Attempt: 1, Result: "a"},
		event.CheckCompleted{Index: "1.1", Attempt: 1, Check: 1, Title: "changed", Expect: "result == item", State: plan.StateVerified},
		event.StepStarted{Index: "1.2", Parent: "1", Attempt: 1, Executor: plan.ExecutorTool, Tool: "change"},
		event.StepCompleted{Index: "1.2", Attempt: 1, Result: "c"},
		event.CheckCompleted{Index: "1.2", Attempt: 1, Check: 1, Title: "changed", Expect: "result == item", State: plan.StateRefuted, Saw: []expression.Sight{{Path: "result", Value: "c"}}},
	} {
		apply(t, run, i+1, data)
	}
	contains(t, shown(run, "1", tabChecks), "✗ changed: verified for 1 of 2, refuted for 1 of 2", "result == item", "step 1.2: result is")
	contains(t, shown(run, "1.1", tabChecks), "✓ verified: changed")
	apply(t, run, 10, event.StepFailed{Index: "1", Attempt: 1, Error: "step 1.2 failed", Failure: event.FailureCheck})
	if got := shown(run, "1", tabArgs); strings.Contains(got, "so far") {
		t.Errorf("the step has ended, and the pane says\n%s", got)
	}
}

func apply(t *testing.T, run *agent.Run, seq int, data event.Data) {
	t.Helper()
	if err := run.Apply(event.Event{Seq: uint64(seq), Time: time.Unix(int64(seq), 0), Run: "r", Data: data}); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkItemList measures the list of 10,000 items, drawn anew.
func BenchmarkItemList(b *testing.B) {
	run := panetest.EachRun(10_000, 5000)
	d := New(panetest.DarkLook(), panetest.Keys())
	d.Show(run, &Subject{Kind: SubjectStep, Key: "2", Step: run.Step("2")})
	d.setSize(76, 20)
	for b.Loop() {
		run.Seq++
		d.Invalidate()
		d.View()
	}
}
