package tui

import (
	"slices"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"replan/themes"
)

func TestADiffKeepsEveryLineOfItsHunks(t *testing.T) {
	for name, c := range map[string]struct {
		diff string
		want []string
	}{
		"one heading for one file": {
			"--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-old\n+new\n",
			[]string{"x.go", "@@ -1 +1 @@", "-old", "+new"},
		},
		"a line of a file is no heading": {
			"--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- drop it\n+++ keep it\n same\n",
			[]string{"x.sql", "@@ -1,2 +1,2 @@", "--- drop it", "+++ keep it", " same"},
		},
		"a new file":           {"--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n", []string{"n (new file)", "@@ -0,0 +1 @@", "+a"}},
		"a file that is gone":  {"--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", []string{"n (removed)", "@@ -1 +0,0 @@", "-a"}},
		"two files":            {"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", []string{"x", "@@ -1 +1 @@", "-a", "+b", "y", "@@ -1 +1 @@", "-a", "+b"}},
		"no line break at end": {"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", []string{"x", "@@ -1 +1 @@", "-a", "\\ No newline at end of file", "+b"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &document{look: newLook(themes.New(themes.Dark, true, themes.Mode{})), width: 60}
			d.diff(c.diff)
			var got []string
			for _, line := range d.lines {
				got = append(got, ansi.Strip(line))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
