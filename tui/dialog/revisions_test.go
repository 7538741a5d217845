package dialog_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/tui/dialog"
	"replan/tui/panetest"

	"github.com/charmbracelet/x/exp/golden"
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

// stepping shows a revision of the plan of a story.
func stepping(t *testing.T, st *panetest.Story, at, width, height int) *panetest.Driver {
	t.Helper()
	k := panetest.Keys()
	d := dialog.NewRevisions(panetest.DarkLook(), k, st.Runs(t))
	d.Open(at)
	s := panetest.Drive(t, d, k, width, height)
	s.Draw()
	return s
}

func TestRevisionsAreDrawnWideAndNarrow(t *testing.T) {
	for name, at := range map[string]int{"revision": 1, "first plan": 0} {
		for _, size := range []struct{ w, h int }{{200, 50}, {120, 36}, {80, 24}, {40, 12}} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size.w, size.h), func(t *testing.T) {
				golden.RequireEqual(t, stepping(t, panetest.NewStory().Finished(), at, size.w, size.h).Front()+"\n")
			})
		}
	}
}

func TestRevisionsCanBeSteppedThrough(t *testing.T) {
	s := stepping(t, panetest.NewStory().Finished(), 1, 120, 50)
	s.Wants("Revision 2 of 2", "failed   step 5 · Run the tests", "+ title Sum up both changes")
	s.Press(panetest.Key("right")).Wants("Revision 2 of 2")
	s.Press(panetest.Key("left")).Wants("the plan as first made")
	s.Lacks("Rename in the token helper") // a step of the next revision
	s.Press(panetest.Named("left", "right")...).Wants("Revision 2 of 2")
	for _, key := range []string{"esc", "v", "alt+v"} {
		s := stepping(t, panetest.NewStory().Finished(), 1, 120, 50)
		s.Press(panetest.Key(key)).Lacks("Revision 2 of 2")
	}
}
