package chat

import (
	"fmt"
	"strings"
	"testing"

	"replan/agent"
	"replan/tui/panetest"
)

func TestExcerptShowsTheThingItself(t *testing.T) {
	count := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%d\n", i+1)
		}
		return b.String()
	}
	people := []any{map[string]any{"name": "Ada", "id": 1}, map[string]any{"name": "Bob", "id": 2}, map[string]any{"name": "Cy", "id": 30}}
	for name, c := range map[string]struct {
		result any
		width  int
		most   int
		want   []string
		all    bool
	}{
		"the end of an output": {
			map[string]any{"command": "seq 1 10000", "duration_ms": 203, "exit": 0, "output": count(10000), "timed_out": false},
			60, 3,
			[]string{"9997 earlier lines", "9998", "9999", "10000", "exit 0 · 0.2s · command seq 1 10000"},
			false,
		},
		"all of it": {map[string]any{"exit": 0, "output": count(3)}, 60, 3, []string{"1", "2", "3", "exit 0"}, true},
		"no output": {map[string]any{"exit": 0, "output": ""}, 60, 3, []string{"no output", "exit 0"}, true},
		"long lines and facts are cut": {
			map[string]any{"command": "echo 12345", "exit": 0, "output": "123456789012345678"},
			12, 3,
			[]string{"12345678901…", "exit 0 · co…"},
			true,
		},
		"a table":                                {people, 60, 3, []string{"id  name", " 1  Ada", " 2  Bob", "30  Cy"}, true},
		"rows of a table":                        {people, 60, 1, []string{"id  name", " 1  Ada", "2 more rows"}, false},
		"a single other row replaces its number": {people, 60, 2, []string{"id  name", " 1  Ada", " 2  Bob", "30  Cy"}, true},
		"a folder": {
			map[string]any{"path": ".", "entries": []any{
				map[string]any{"path": "a", "type": "dir"}, map[string]any{"path": "b", "type": "file", "size": 3}, map[string]any{"path": "c", "type": "dir"},
			}},
			60, 1,
			[]string{"a/", "2 more lines", "path ."},
			false,
		},
		"a diff": {
			map[string]any{"diff": "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n"},
			60, 3,
			[]string{"x  +1 −1", "@@ -1,2 +1,2 @@", "1   -a", "2 more lines"},
			false,
		},
		"tests that passed, above their output": {
			map[string]any{"passed": true, "summary": "2 tests passed", "failures": []any{}, "output": count(9)},
			60, 3,
			[]string{"2 tests passed", "7 earlier lines", "8", "9"},
			false,
		},
		"failed tests before their output": {
			map[string]any{"passed": false, "summary": "3 of 3 failed", "failed": []any{"A", "B", "C"}, "output": count(9)},
			60, 4,
			[]string{"3 of 3 failed", "A", "B", "C"},
			false,
		},
		"hostile output": {map[string]any{"output": "a\x1b[2Jb\r\nc"}, 60, 3, []string{"a^[[2Jb", "c"}, true},
	} {
		s := &agent.StepState{Status: agent.StepCompleted, Result: c.result}
		lines, all := resultExcerpt(panetest.DarkLook(), s)(c.width, c.most)
		if got := panetest.Stripped(lines); got != strings.Join(c.want, "\n") || all != c.all {
			t.Errorf("%s: all %v, got\n%s", name, all, got)
		}
	}
}
