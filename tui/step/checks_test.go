package step

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/expression"
	"replan/planning/plan"
	"replan/tui/panetest"
)

func TestChecksShowWhatTheySaw(t *testing.T) {
	run := agent.NewRun(nil)
	p := plan.Plan{Title: "Test", Steps: []plan.Step{{
		Index: "1", Title: "Test", Executor: plan.ExecutorTool, Tool: "change",
		Checks: []plan.Check{{Title: "nothing failed", Expect: "result.failed == 0"}, {Tool: "look", Args: map[string]any{"at": "here"}, Expect: "result == 'there'"}},
	}}}
	for i, data := range []event.Data{
		event.RunStarted{Goal: "Test", Plan: &p, SkipSynthesis: true},
		event.PlanCreated{Plan: p, Revision: 1},
		event.StepStarted{Index: "1", Attempt: 1, Executor: plan.ExecutorTool, Tool: "change"},
		event.StepCompleted{Index: "1", Attempt: 1, Result: "done"},
		event.CheckCompleted{Index: "1", Attempt: 1, Check: 1, Title: "nothing failed", Expect: "result.failed == 0", State: plan.StateRefuted, Saw: []expression.Sight{{Path: "result.failed", Value: 3}}},
	} {
		if err := run.Apply(event.Event{Seq: uint64(i + 1), Run: "r", Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	d := New(panetest.DarkLook(), panetest.Keys())
	d.Show(run, &Subject{Kind: SubjectStep, Key: "1", Step: run.Step("1")})
	d.setSize(70, 20)
	if d.tabs.current != tabChecks {
		t.Errorf("a step that is being checked shows its %s", tabNames[d.tabs.current])
	}
	got := ansi.Strip(strings.Join(d.View(), "\n"))
	for _, want := range []string{"✗ refuted: nothing failed", "result.failed == 0", "result.failed is 3", "□ unchecked: result == 'there'", `look {"at":"here"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("the checks lack %q:\n%s", want, got)
		}
	}
}
