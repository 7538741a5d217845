package wording_test

import (
	"slices"
	"testing"
	"time"

	"replan/planning/plan"
	"replan/tui/wording"
)

// TestEveryChangedFieldIsNamed changes one field after the other.
func TestEveryChangedFieldIsNamed(t *testing.T) {
	before := plan.Step{Index: "1", Title: "Read", Executor: plan.ExecutorTool, Tool: "fs.read", Args: map[string]any{"path": "a", "tail": true}}
	for want, change := range map[string]func(*plan.Step){
		"title":    func(s *plan.Step) { s.Title = "Look" },
		"tool":     func(s *plan.Step) { s.Tool = "fs.list" },
		"executor": func(s *plan.Step) { s.Executor = plan.ExecutorSelf },
		"profile":  func(s *plan.Step) { s.Profile = "explorer" },
		"after":    func(s *plan.Step) { s.DependsOn = []string{"0"} },
		"expects":  func(s *plan.Step) { s.ExpectedOutcome = "a text" },
		"for each": func(s *plan.Step) { s.ForEach = &plan.ForEach{Items: "${files}", As: "file"} },
		"when":     func(s *plan.Step) { s.When = "found" },
		"until":    func(s *plan.Step) { s.Until = &plan.Until{Expect: "result", Every: time.Second, For: time.Minute} },
		"check":    func(s *plan.Step) { s.Checks = []plan.Check{{Expect: "result"}} },
		"path":     func(s *plan.Step) { s.Args = map[string]any{"path": "b", "tail": true} },
	} {
		after := before
		change(&after)
		changes := wording.StepChanges(&before, &after)
		if len(changes) != 1 || changes[0].Name != want || changes[0].Before == changes[0].After || changes[0].Arg != (want == "path") {
			t.Errorf("%s: got %+v", want, changes)
		}
	}
}

func TestChangedArgumentsComeLastByName(t *testing.T) {
	before := plan.Step{Title: "Read", Args: map[string]any{"b": 1, "same": 2}}
	after := plan.Step{Title: "Look", Args: map[string]any{"a": "x\ny", "same": 2}}
	want := []wording.FieldChange{{Name: "title", Before: "Read", After: "Look"}, {Name: "a", After: "x\ny", Arg: true}, {Name: "b", Before: "1", Arg: true}}
	if got := wording.StepChanges(&before, &after); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
