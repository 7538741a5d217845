package plantext_test

import (
	"strings"
	"testing"

	"replan/tui/panetest"
	"replan/tui/plantext"
	"replan/tui/wording"
)

func TestItemsAreListedBelowTheirStep(t *testing.T) {
	got := plantext.Run(panetest.EachRun(20, 12), false, wording.StateSummary)
	for _, want := range []string{"for each ${found.files} as file, at most 10000  running, 12 of 20 items, 1 failed", "✓ 2.1. internal/part1/file.go", "✗ 2.10. internal/part10/file.go", "▸ 2.13. "} {
		if !strings.Contains(got, want) {
			t.Errorf("the plan lacks %q:\n%s", want, got)
		}
	}
}

func TestOfVeryManyItemsOnlyThoseThatDidNotSucceedAreListed(t *testing.T) {
	got := plantext.Run(panetest.EachRun(100, 100), false, wording.StateSummary)
	if lines := strings.Count(got, "\n"); lines != 3+10 || !strings.Contains(got, "✗ 2.100. ") {
		t.Errorf("the plan has %d lines:\n%s", lines, got)
	}
}
