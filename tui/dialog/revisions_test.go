package dialog_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/tui/dialog"
	"replan/tui/panetest"
)

func TestRevisionUnderlinesChangedWords(t *testing.T) {
	s := revisions(t, 50, repaired()...)
	s.Wants("− path \"auth/handler.go\"")
	s.Wants("+ path \"auth/jwt.go\"")
	s.Wants("− all true")
	if content := strings.Join(s.Draw(), "\n"); !strings.Contains(content, ";4mj\x1b[m") {
		t.Errorf("the changed word is not underlined:\n%q", content)
	}
}

// repaired: a step failed and was revised to have other arguments.
func repaired() []event.Data {
	step := plan.Step{Index: "1", Title: "Rename", Executor: plan.ExecutorTool, Tool: "fs.patch", Args: map[string]any{"path": "auth/handler.go", "all": true}}
	p := plan.Plan{ID: "p", Title: "Rename", Steps: []plan.Step{step}, OnFailure: plan.OnFailureReplan}
	data := []event.Data{
		event.RunStarted{Goal: "rename", Workspace: "/src/auth-service", Model: "qwen3:8b", Limits: event.DefaultLimits(), Plan: &p},
		event.PlanCreated{Plan: p, Revision: 1},
		event.StepStarted{Index: "1", Attempt: 1, Tool: "fs.patch", Executor: plan.ExecutorTool, Args: step.Args},
		event.StepFailed{Index: "1", Attempt: 1, Error: "no such text", Failure: event.FailureTool, MS: 400},
		event.ReplanStarted{Attempt: 1, Step: "1", Error: "no such text", Remaining: []string{"1"}},
	}
	step.Args = map[string]any{"path": "auth/jwt.go"}
	p.Steps = []plan.Step{step}
	return append(data, event.PlanDiff{Revision: 2, Reason: "no such text", Revised: []string{"1"}, Plan: p})
}

// revisions shows the newest revision of the plan of a run.
func revisions(t *testing.T, height int, data ...event.Data) *panetest.Driver {
	t.Helper()
	k, runs := panetest.Keys(), begun(t, data...)
	d := dialog.NewRevisions(panetest.DarkLook(), k, runs)
	d.Open(len(stateOf(runs).Revisions))
	return panetest.Drive(t, d, k, 120, height)
}
