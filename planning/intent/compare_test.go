package intent_test

import (
	"strings"
	"testing"

	"replan/planning/intent"
	"replan/planning/plan"
)

// reads returns the history of files of data that were read.
func reads(files map[string]any, order ...string) []plan.HistoryItem {
	var items []plan.HistoryItem
	for i, path := range order {
		items = append(items, plan.HistoryItem{
			Index: string(rune('1' + i)), Tool: "fs.read", Args: map[string]any{"path": path}, Status: plan.ItemCompleted, Result: files[path],
		})
	}
	return items
}

func TestDifferencesOfDataAreFoundByRule(t *testing.T) {
	files := map[string]any{
		"a.json": map[string]any{"port": 80, "log": "warn", "db": map[string]any{"host": "x"}, "old": true},
		"b.json": map[string]any{"port": 80, "log": "debug", "db": map[string]any{"host": "y"}, "new": 1},
		"c.txt":  "text",
	}
	for _, tc := range []struct {
		name, goal string
		order      []string
		has        []string // nil: no answer
	}{
		{"keys of two files", "Which keys differ between a.json and b.json?", []string{"a.json", "b.json"}, []string{"`log`", "`db.host`", "only in `a.json`", "only in `b.json`", "The same in both: `port`"}},
		{"keys with one value", "Which keys have the same value in a.json and b.json?", []string{"a.json", "b.json"}, []string{"The same in `a.json` and `b.json`:\n\n- `port`: `80`"}},
		{"one key is left to the model", "Do a.json and b.json have the same host?", []string{"a.json", "b.json"}, nil},
		{"equal files", "Compare a.json and a.json", []string{"a.json", "a.json"}, []string{"do not differ"}},
		{"text is left to the model", "What differs between a.json and c.txt?", []string{"a.json", "c.txt"}, nil},
		{"another question", "Which port do a.json and b.json set?", []string{"a.json", "b.json"}, nil},
		{"a change", "Compare a.json and b.json, and fix the differences", []string{"a.json", "b.json"}, nil},
		{"one file", "How does a.json differ?", []string{"a.json"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			answer, ok := intent.Compare(tc.goal, reads(files, tc.order...))
			if ok != (tc.has != nil) {
				t.Fatalf("answered: %t, %q", ok, answer)
			}
			for _, want := range tc.has {
				if !strings.Contains(answer, want) {
					t.Errorf("%q lacks %q", answer, want)
				}
			}
		})
	}
}
