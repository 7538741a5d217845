package planning_test

import (
	"strings"
	"testing"

	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
)

func TestNewPlanOfASmallModelGoesOnFromWhatIsKnown(t *testing.T) {
	read := func(index, file string) plan.Step {
		return plan.Step{Index: index, Title: "Read", Executor: plan.ExecutorTool, Tool: "fs.read", Args: map[string]any{"path": file}, DependsOn: []string{}}
	}
	patch := func(index, file string) plan.Step {
		return plan.Step{Index: index, Title: "Change", Executor: plan.ExecutorTool, Tool: "fs.patch", Args: map[string]any{"path": file, "old": "a", "new": "b"}, DependsOn: []string{"1"}}
	}
	for name, tt := range map[string]struct {
		changed string // the file that a finished step changed, "" for none
		steps   []string
		small   bool
		want    string // "" for a repair
		asks    string // what the repair says
	}{
		"a finished look is not repeated": {
			steps: []string{`7 fs.read {"path":"a/x.go"}`, `8 fs.patch {"path":"a/x.go"} ["7"]`}, small: true, want: `1 fs.read{"path":"a/x.go"}; 8 fs.patch{"path":"a/x.go"} ←1`,
		},
		"not even after a change of another file": {
			changed: "b/x.go", steps: []string{`7 fs.read {"path":"a/x.go"}`, `8 fs.patch {"path":"a/x.go"} ["7"]`}, small: true,
			want: `1 fs.read{"path":"a/x.go"}; 2 fs.patch{"new":"b","old":"a","path":"b/x.go"} ←1; 8 fs.patch{"path":"a/x.go"} ←1`,
		},
		"a file that has changed is read again": {
			changed: "a/x.go", steps: []string{`7 fs.read {"path":"a/x.go"}`, `8 fs.patch {"path":"a/x.go"} ["7"]`}, small: true,
			want: `1 fs.read{"path":"a/x.go"}; 2 fs.patch{"new":"b","old":"a","path":"a/x.go"} ←1; 7 fs.read{"path":"a/x.go"}; 8 fs.patch{"path":"a/x.go"} ←7`,
		},
		"looks alone are no progress": {steps: []string{`7 fs.read {"path":"a/x.go"}`}, small: true, asks: "repeats a finished one"},
		"nor is a plan that changes nothing": {
			steps: []string{`7 fs.read {"path":"b/x.go"}`}, small: true, asks: "no step changes a file",
		},
		"a large model may look again": {steps: []string{`7 fs.read {"path":"a/x.go"}`}, want: `1 fs.read{"path":"a/x.go"}; 7 fs.read{"path":"a/x.go"}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan.Plan{Title: "Fix", Steps: []plan.Step{read("1", "a/x.go")}}
			s := prompt.Situation{
				Finished: map[string]bool{"1": true}, Failed: "3", Error: "old does not occur", StepsLeft: 9, ReplansLeft: 2,
				History: []plan.HistoryItem{{Index: "1", Tool: "fs.read", Args: p.Steps[0].Args, Status: plan.ItemCompleted, Attempt: 1, Result: "text"}},
			}
			if tt.changed != "" {
				change := patch("2", tt.changed)
				p.Steps, s.Finished["2"] = append(p.Steps, change), true
				s.History = append(s.History, plan.HistoryItem{Index: "2", Tool: change.Tool, Args: change.Args, Status: plan.ItemCompleted, Attempt: 1})
			}
			failed := patch("3", "a/x.go")
			p.Steps = append(p.Steps, failed)
			s.Plan, s.Remaining = p, []plan.Step{failed}
			s.History = append(s.History, plan.HistoryItem{Index: "3", Tool: failed.Tool, Args: failed.Args, Status: plan.ItemFailed, Attempt: 1, Error: "old does not occur"})
			b := workplace(t, "Fix a/x.go", tt.small)
			for i, tool := range b.Catalog {
				b.Catalog[i].Previews = tool.Name == "fs.patch"
			}
			r := planning.NewReplanner(b, s)
			r.Absorb(stepsOf(tt.steps...))
			if req, asks := r.Next(); asks != (tt.want == "") || asks && !strings.Contains(last(req), tt.asks) {
				t.Fatalf("asks for a repair: %v\n%s", asks, last(req))
			}
			if got := drawn(r.Outcome().Plan); got != tt.want {
				t.Errorf("got\n     %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestSmallModelWritesAPatchOnceMoreIfTheTestsFail(t *testing.T) {
	patch := plan.Step{Index: "2", Title: "Fix it", Executor: plan.ExecutorTool, Tool: "fs.patch", Args: map[string]any{"path": "a/x.go", "old": "a"}, DependsOn: []string{"1"}}
	for name, tt := range map[string]struct {
		goal    string
		small   bool
		patched int
		want    string // "" if the model is asked
	}{
		"once":                 {"Fix a/x.go", true, 1, `1 fs.read{"path":"a/x.go"}; 2 fs.patch{"old":"a","path":"a/x.go"} ←1; 4 fs.patch{"old":"b","path":"a/x.go"} ←1; 5 test.run{} ←4`},
		"and once more":        {"Fix a/x.go", true, 2, `1 fs.read{"path":"a/x.go"}; 2 fs.patch{"old":"a","path":"a/x.go"} ←1; 4 fs.patch{"old":"b","path":"a/x.go"} ←1; 5 test.run{} ←4`},
		"not a third time":     {"Fix a/x.go", true, 3, ""},
		"not for a large one":  {"Fix a/x.go", false, 1, ""},
		"not without a change": {"Run the tests", true, 1, ""},
		"not of any text":      {"Fix a/x.go", true, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			patch := patch
			if name == "not of any text" {
				patch.Args = map[string]any{"path": "a/x.go"}
			}
			read := plan.Step{Index: "1", Title: "Read", Executor: plan.ExecutorTool, Tool: "fs.read", Args: map[string]any{"path": "a/x.go"}, DependsOn: []string{}}
			run := plan.Step{Index: "3", Title: "Run the tests", Executor: plan.ExecutorTool, Tool: "test.run", Args: map[string]any{}, DependsOn: []string{"2"}}
			s := prompt.Situation{
				Plan: plan.Plan{Title: "Fix", Steps: []plan.Step{read, patch, run}}, Finished: map[string]bool{"1": true, "2": true}, Failed: "3",
				Error: "1 failed: TestX\na/x.go:3: wrong", Remaining: []plan.Step{run}, StepsLeft: 9, ReplansLeft: 2,
				History: []plan.HistoryItem{{Index: "1", Tool: "fs.read", Args: read.Args, Status: plan.ItemCompleted, Attempt: 1, Result: "a"}},
			}
			for range tt.patched {
				s.History = append(s.History, plan.HistoryItem{Index: "2", Tool: "fs.patch", Args: map[string]any{"path": "a/x.go", "old": "a", "new": "b"}, Status: plan.ItemCompleted, Attempt: 1})
			}
			r := planning.NewReplanner(workplace(t, tt.goal, tt.small), s)
			if _, asks := r.Next(); asks != (tt.want == "") {
				t.Fatalf("the model is asked: %v", asks)
			}
			out := r.Outcome()
			if got := drawn(out.Plan); got != tt.want {
				t.Errorf("got\n     %s\nwant %s", got, tt.want)
			}
			if step, _ := out.Plan.Step("4"); tt.want != "" && !strings.HasSuffix(string(step.Title), "since 1 failed: TestX") {
				t.Errorf("the step is %q", step.Title)
			}
		})
	}
}

func TestNewPlanOfAGoalThatOnlyAsksHasNoEffect(t *testing.T) {
	look := plan.Step{Index: "1", Title: "Look", Executor: plan.ExecutorTool, Tool: "fs.read", Args: map[string]any{"path": "b/x.go"}, DependsOn: []string{}}
	for _, small := range []bool{true, false} {
		s := prompt.Situation{
			Plan: plan.Plan{Title: "Look", Steps: []plan.Step{look}}, Finished: map[string]bool{}, Failed: "1", Error: "there is no such file",
			Remaining: []plan.Step{look}, StepsLeft: 9, ReplansLeft: 2,
		}
		r := planning.NewReplanner(workplace(t, "What does a/x.go do?", small), s)
		r.Absorb(stepsOf(`1 fs.read {"path":"a/x.go"}`, `2 fs.remove {"path":"a/x.go"} ["1"]`))
		p := r.Outcome().Plan
		gated := len(p.Steps) == 2 && p.Steps[1].Gate
		if left := len(p.Steps) == 1 && p.Steps[0].Tool == "fs.read"; left != small || gated == small {
			t.Errorf("small %v: %s", small, drawn(p))
		}
	}
}

func TestFailureOfAnotherTestDoesNotUndoAChange(t *testing.T) {
	for failure, want := range map[string]string{
		"1 failed: TestOut\na/y_test.go:3: no": `1 fs.patch{"old":"func Len() int {","path":"a/x.go"}; 3 test.run{} ←1 skip`,
		"1 failed: TestLen\na/y_test.go:3: no": `1 fs.patch{"old":"func Len() int {","path":"a/x.go"}; 3 fs.patch{"old":"func Len() int {\n\treturn 1\n}","path":"a/x.go"}; 4 test.run{} ←3`,
	} {
		patch := plan.Step{Index: "1", Title: "Fix it", Executor: plan.ExecutorTool, Tool: "fs.patch", Args: map[string]any{"path": "a/x.go", "old": "func Len() int {"}, DependsOn: []string{}}
		run := plan.Step{Index: "2", Title: "Run the tests", Executor: plan.ExecutorTool, Tool: "test.run", Args: map[string]any{}, DependsOn: []string{"1"}}
		done := map[string]any{"path": "a/x.go", "old": "func Len() int {", "new": "func Len() int {\n\treturn 1\n}"}
		r := planning.NewReplanner(workplace(t, "Fix the length and run the tests", true), prompt.Situation{
			Plan: plan.Plan{Title: "Fix", Steps: []plan.Step{patch, run}}, Finished: map[string]bool{"1": true}, Failed: "2", Error: failure,
			Remaining: []plan.Step{run}, StepsLeft: 9, ReplansLeft: 2,
			History: []plan.HistoryItem{{Index: "1", Tool: "fs.patch", Args: done, Status: plan.ItemCompleted, Attempt: 1}},
		})
		if _, asks := r.Next(); asks {
			t.Errorf("%s: the model is asked", failure)
			continue
		}
		got := drawn(r.Outcome().Plan)
		if steps := r.Outcome().Plan.Steps; steps[len(steps)-1].OnFailure == plan.OnFailureSkip {
			got += " skip"
		}
		if got != want {
			t.Errorf("%s: got\n     %s\nwant %s", failure, got, want)
		}
	}
}

func TestFailureOfAnotherTestDoesNotUndoARename(t *testing.T) {
	for failure, asks := range map[string]bool{
		"1 failed: TestFee\ntariff/tariff_test.go:3: no":            false,
		"1 failed: TestFee\na/x.go:3: no":                           true,
		"build failed\ntariff/tariff.go:3: undefined: ErrUnknown":   true,
		"build failed\ntariff/tariff.go:3: ErrNotInside redeclared": true,
	} {
		rename := plan.Step{Index: "1", Title: "Rename", Executor: plan.ExecutorTool, Tool: "code.transform", Args: map[string]any{"kind": "rename", "symbol": "garage.ErrUnknown", "new_name": "ErrNotInside"}, ResultVariable: "change", DependsOn: []string{}}
		apply := plan.Step{Index: "2", Title: "Apply", Executor: plan.ExecutorTool, Tool: "fs.patch", Args: map[string]any{"diff": "${change.diff}"}, DependsOn: []string{"1"}}
		run := plan.Step{Index: "3", Title: "Run the tests", Executor: plan.ExecutorTool, Tool: "test.run", Args: map[string]any{}, DependsOn: []string{"2"}}
		r := planning.NewReplanner(workplace(t, "Rename ErrUnknown to ErrNotInside everywhere", true), prompt.Situation{
			Plan: plan.Plan{Title: "Rename", Steps: []plan.Step{rename, apply, run}}, Finished: map[string]bool{"1": true, "2": true}, Failed: "3", Error: failure,
			Remaining: []plan.Step{run}, StepsLeft: 9, ReplansLeft: 2,
			History: []plan.HistoryItem{
				{Index: "1", Tool: "code.transform", Args: rename.Args, Status: plan.ItemCompleted, Attempt: 1, Result: map[string]any{"diff": "d"}},
				{Index: "2", Tool: "fs.patch", Args: map[string]any{"diff": "d"}, Status: plan.ItemCompleted, Attempt: 1, Result: map[string]any{"files": []any{map[string]any{"path": "a/x.go"}}}},
			},
		})
		if _, asked := r.Next(); asked != asks {
			t.Errorf("%s: the model is asked: %v", failure, asked)
		}
	}
}
