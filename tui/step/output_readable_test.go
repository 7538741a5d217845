package step

import (
	"strings"
	"testing"

	"replan/agent"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/panetest"
)

func TestResultBeginsWithReadablePart(t *testing.T) {
	for _, c := range []struct {
		name   string
		step   agent.StepState
		result any
		want   []string // lines, in this order
	}{
		{
			"failed tests: summary, facts, failures, output",
			agent.StepState{},
			map[string]any{
				"summary": "1 of 3 tests failed", "passed": false, "failed": []any{"TestA"}, "command": "go test ./...", "duration_ms": 12.0,
				"output":   "--- FAIL: TestA\n",
				"failures": []any{map[string]any{"name": "TestA", "file": "a_test.go", "line": 7.0, "message": "got 1\nwant 2"}},
			},
			[]string{"✗ 1 of 3 tests failed", "0.0s · command go test ./...", "TestA  a_test.go:7", "got 1", "want 2", "--- FAIL: TestA"},
		},
		{
			"passed tests",
			agent.StepState{},
			map[string]any{"summary": "3 tests passed", "passed": true, "failed": []any{}, "output": "ok"},
			[]string{"✓ 3 tests passed", "ok"},
		},
		{
			"search matches below their number",
			agent.StepState{},
			map[string]any{"matches": []any{map[string]any{"path": "auth/jwt.go", "line": 33.0, "text": "\tuser := authenticate()"}}, "total": 1.0},
			[]string{"total 1", "auth/jwt.go:33:", "user := authenticate()"},
		},
		{
			"written file: its diff below the facts",
			agent.StepState{Diff: "--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-old\n+new\n"},
			map[string]any{"bytes": 3.0, "path": "x.go"},
			[]string{"bytes 3", "old", "new"},
		},
		{
			"other object: its members",
			agent.StepState{},
			map[string]any{"summary": "fine", "path": "x.go"},
			[]string{"path", "summary"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.step.Status, c.step.Result = agent.StepCompleted, c.result
			c.step.Step = plan.Step{Index: "1", Tool: "test.run"}
			l := panetest.DarkLook()
			p := draw.NewSheetPage(l, 60)
			output{}.drawResult(p, &c.step)
			var rows []string
			s := draw.NewSheet(l, 60, p.All())
			for i := range s.Total {
				rows = append(rows, s.Rows(i)...)
			}
			got, at := panetest.Stripped(rows), 0
			for _, want := range c.want {
				i := strings.Index(got[at:], want)
				if i < 0 {
					t.Fatalf("%q is missing or out of order:\n%s", want, got)
				}
				at += i + len(want)
			}
			if strings.Contains(got, "[]") {
				t.Errorf("an empty list is drawn:\n%s", got)
			}
		})
	}
}

func TestWrapBreaksBetweenWordsAndKeepsBlanks(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"the quick brown fox", 10, "the quick |brown fox"},
		{`"the last word"`, 14, `"the last |word"`},
		{"aaaa bbbbbbbbbbbbbbbb", 10, "aaaa bbbbb|bbbbbbbbbb|b"},
		{"a  b", 10, "a  b"},
		{"日本語日本", 4, "日本|語日|本"},
	} {
		if got := strings.Join(draw.WrapKept(c.text, c.width), "|"); got != c.want {
			t.Errorf("%q in %d cells: got %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
