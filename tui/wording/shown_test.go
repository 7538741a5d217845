package wording_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"replan/agent"
	"replan/planning/plan"
	"replan/tui/wording"
)

// described writes what a result is about as text, a part per line.
func described(s wording.Shown) string {
	var b strings.Builder
	if t := s.Tests; t != nil {
		fmt.Fprintf(&b, "tests %v %s: %s\n", t.Passed, t.Summary, strings.Join(t.Failures, "; "))
	}
	if s.Silent {
		fmt.Fprintln(&b, "no output")
	} else if s.Output != "" {
		fmt.Fprintf(&b, "output %q\n", s.OutputLines())
	}
	if s.Diff != "" {
		fmt.Fprintf(&b, "diff %q\n", s.Diff)
	}
	if len(s.Table.Rows) > 0 {
		fmt.Fprintf(&b, "table %q %q %v\n", s.Table.Names, s.Table.Rows, s.Table.Numbers)
	}
	if s.Words != "" {
		fmt.Fprintf(&b, "words %q\n", s.Words)
	}
	if len(s.Lines) > 0 {
		fmt.Fprintf(&b, "lines %q\n", s.Lines)
	}
	if len(s.Facts)+len(s.Denied) > 0 {
		fmt.Fprintf(&b, "facts %s | %s\n", strings.Join(s.Facts, ", "), strings.Join(s.Denied, ", "))
	}
	for name := range s.Rest() {
		fmt.Fprintf(&b, "rest %s\n", name)
	}
	return b.String()
}

func TestResultSaysWhatItIsAbout(t *testing.T) {
	for name, c := range map[string]struct {
		result string // JSON
		path   string // of the call
		diff   string // of the step
		want   string
	}{
		"output of a program": {
			result: `{"command": "seq 1 2", "duration_ms": 203, "exit": 0, "output": "\n1\n2\n\n", "timed_out": false}`,
			want:   "output [\"1\" \"2\"]\nfacts exit 0, 0.2s, command seq 1 2 | not timed out\n",
		},
		"output of a program of another server": {
			result: `{"exitCode": 1, "stderr": "bad\n", "stdout": "good\n"}`,
			want:   "output [\"good\" \"bad\"]\nfacts exitCode 1 | \n",
		},
		"failed tests": {
			result: `{"passed": false, "summary": "1 of 2 failed", "failed": ["TestA"], "failures": [], "output": "x", "total": 2}`,
			want:   "tests false 1 of 2 failed: TestA\noutput [\"x\"]\nfacts total 2 | \n",
		},
		"a diff before the list of its files": {
			result: `{"diff": "--- a/x\n+++ b/x\n", "files": [{"path": "x", "added": 1}], "truncated": true}`,
			want:   "diff \"--- a/x\\n+++ b/x\\n\"\nfacts truncated | \nrest files\n",
		},
		"a written file": {
			result: `{"bytes": 3, "path": "x"}`, diff: "--- a/x\n+++ b/x\n",
			want: "diff \"--- a/x\\n+++ b/x\\n\"\nfacts bytes 3, path x | \n",
		},
		"objects with the same members": {
			result: `[{"stars": 2, "name": "a", "on": true}, {"stars": 10.5, "name": "b"}]`,
			want:   "table [\"name\" \"on\" \"stars\"] [[\"a\" \"true\" \"2\"] [\"b\" \"\" \"10.5\"]] [false false true]\n",
		},
		"objects in a member": {
			result: `{"total": 1, "commits": [{"hash": "ab", "subject": "one\ntwo"}]}`,
			want:   "table [\"hash\" \"subject\"] [[\"ab\" \"one two\"]] [false false]\nfacts total 1 | \n",
		},
		"entries of a folder": {
			result: `{"path": ".", "entries": [{"path": "a", "type": "dir"}, {"path": "b", "type": "file", "size": 2048}, {"path": "c", "type": "link"}]}`,
			want:   "table [] [[\"a/\" \"\"] [\"b\" \"2 KB\"] [\"c\" \"link\"]] [false true]\nfacts path . | \n",
		},
		"places in files": {
			result: `{"matches": [{"path": "a.go", "line": 3, "text": "\tx"}], "total": 1}`,
			want:   "lines [\"a.go:3: x\"]\nfacts total 1 | \n",
		},
		"JSON in a text": {
			result: `"[{\"id\": 1, \"name\": \"a\"}]"`,
			want:   "table [\"id\" \"name\"] [[\"1\" \"a\"]] [true false]\n",
		},
		"a file of comma-separated values": {
			result: `"n,what\n1,\"a, b\"\n,c\n"`, path: "x.CSV",
			want: "table [\"n\" \"what\"] [[\"1\" \"a, b\"] [\"\" \"c\"]] [true false]\n",
		},
		"controls in a table are made visible": {
			result: `[{"name": "a\u001b[31m", "x\u0007": 1}]`,
			want:   "table [\"name\" \"x^G\"] [[\"a^[[31m\" \"1\"]] [false true]\n",
		},
		"a summary in Markdown":      {result: `{"summary": "# One\n\ntwo", "lines": 4}`, want: "words \"# One\\n\\ntwo\"\nfacts lines 4 | \n"},
		"values":                     {result: `["a", 2, null]`, want: "lines [\"a\" \"2\" \"\"]\n"},
		"text":                       {result: `"just a text"`, path: "x.txt"},
		"ragged separated values":    {result: `"a,b\n1\n"`, path: "x.csv"},
		"objects that differ":        {result: `[{"a": 1, "b": 1}, {"c": 1, "d": 2}]`},
		"members that are all short": {result: `{"exists": false, "path": "x"}`},
		"empty output":               {result: `{"output": "\n", "exit": 0}`, want: "no output\nfacts exit 0 | \n"},
		"none":                       {result: `null`},
	} {
		value, err := plan.DecodeValue([]byte(c.result))
		if err != nil {
			t.Fatal(err)
		}
		s := &agent.StepState{Status: agent.StepCompleted, Result: value, Diff: c.diff, Args: map[string]any{"path": c.path}}
		if got := described(wording.ShownOf(s)); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
		var decoded any // numbers of results that a session did not decode are floats
		if err := json.Unmarshal([]byte(c.result), &decoded); err != nil {
			t.Fatal(err)
		}
		s.Result = decoded
		if got := described(wording.ShownOf(s)); got != c.want {
			t.Errorf("%s, as floats: got\n%swant\n%s", name, got, c.want)
		}
	}
}
