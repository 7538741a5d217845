package plain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/planning/plan"
)

// itemsLog is what a log prints of a step that runs for n items, of which the last fails.
func itemsLog(t *testing.T, n int, ascii bool) string {
	each := plan.Step{Index: "1", Title: "Change", Tool: "look", Executor: plan.ExecutorTool, OnFailure: plan.OnFailureSkip, ForEach: &plan.ForEach{As: "item", Max: plan.MostItems}}
	var items []any
	for i := range n {
		items = append(items, fmt.Sprintf("file%d", i+1))
	}
	each.ForEach.Items = items
	data := []event.Data{started("do it"), samplePlan(each), event.StepExpanded{Index: "1", Attempt: 1, Title: "Change", Items: items}}
	for i := range n {
		index := fmt.Sprintf("1.%d", i+1)
		data = append(data, call(index, "1", map[string]any{"path": items[i]}))
		if i == n-1 {
			data = append(data, event.StepFailed{Index: index, Attempt: 1, Error: "the disk is full", Failure: event.FailureTool, MS: 5})
		} else {
			data = append(data, event.StepCompleted{Index: index, Attempt: 1, Result: "ok", MS: 5})
		}
	}
	data = append(data, event.StepCompleted{Index: "1", Attempt: 1, Result: items, MS: 900})
	got := output(t, ascii, slices.Repeat([]string{"r"}, len(data)), data...)
	return got[strings.LastIndex(got[:strings.Index(got, " 1 Change")], "\n")+1:]
}

func TestItemsAreIndentedBelowTheirStep(t *testing.T) {
	want := `▸ 1 Change  [look] · 3 items
  ▸ 1.1 file1  path: file1
  ✓ 1.1 file1  0.0s
  ▸ 1.2 file2  path: file2
  ✓ 1.2 file2  0.0s
  ▸ 1.3 file3  path: file3
  ✗ 1.3 file3  0.0s
      the disk is full
✓ 1 Change  3 items, 1 failed · 0.9s
`
	if got := itemsLog(t, 3, false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestThousandsOfItemsTakeFewLines(t *testing.T) {
	got := itemsLog(t, 2000, true)
	if lines := strings.Count(got, "\n"); lines != 13 {
		t.Errorf("2000 items take %d lines:\n%s", lines, got)
	}
	for _, want := range []string{"  . 1 200 of 2000 items\n", "  . 1 1800 of 2000 items\n", "  x 1.2000 file2000  0.0s\n      the disk is full\n", "ok 1 Change  2000 items, 1 failed, 0.9s\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the log lacks %q:\n%s", want, got)
		}
	}
}
