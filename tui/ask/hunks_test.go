package ask_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/tui/panetest"
)

// manyFiles is a gate of a diff of so many files with two hunks each.
func manyFiles(files int) event.GateRequested {
	var diff strings.Builder
	for i := range files {
		fmt.Fprintf(&diff, "--- a/file%d.go\n+++ b/file%d.go\n@@ -1,20 +1,20 @@ first of %d\n-a\n+b\n%s@@ -41,20 +41,20 @@ second of %d\n-a\n+b\n%s",
			i, i, i, strings.Repeat(" same\n", 19), i, strings.Repeat(" same\n", 19))
	}
	gate := panetest.HandlerGate()
	gate.Diff = diff.String()
	return gate
}

func TestKeysLeadThroughTheChangesAndFilesOfADiff(t *testing.T) {
	s := settled(t, 120, 36, renames(manyFiles(3))...)
	s.Wants("3 files", "file0.go", "file2.go")
	s.Offers("[/] change", "{/} file")
	for _, step := range []struct{ key, first string }{
		{"]", "first of 0"}, {"]", "second of 0"}, {"]", "first of 1"}, {"[", "second of 0"}, {"}", "file1.go"}, {"}", "file2.go"}, {"{", "file1.go"},
	} {
		s.Type(step.key)
		if lines := s.Lines(); !strings.Contains(strings.Join(lines[1:3], "\n"), step.first) {
			t.Fatalf("%s leads not to %s:\n%s", step.key, step.first, strings.Join(lines, "\n"))
		}
	}
	s.Sent()
}

func TestFilesOfAGreatChangeAreCounted(t *testing.T) {
	s := settled(t, 120, 60, renames(manyFiles(20))...)
	s.Type("g").Wants("20 files", "file6.go", "and 13 more files")
}
