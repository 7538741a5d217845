package patch_test

import (
	"strings"
	"testing"

	"replan/tui/patch"
)

func TestBriefDropsOnlyHeadersThatAHeadingRepeats(t *testing.T) {
	for name, c := range map[string]struct {
		diff string
		want []string
	}{
		"a new file and a changed one": {
			"diff --git a/x b/x\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+one\ndiff --git a/y b/y\nindex 1..2 100644\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-index 1\n+index 2\n",
			[]string{"x (new file)", "@@ -0,0 +1 @@", "one", "y", "@@ -1 +1 @@", "index 1", "index 2"},
		},
		"a moved file has no heading": {
			"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
			[]string{"diff --git a/x b/y", "similarity index 100%", "rename from x", "rename to y"},
		},
		"a moved file with changes": {
			"diff --git a/x b/y\nrename from x\nrename to y\nindex 1..2\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
			[]string{"rename from x", "rename to y", "x → y", "@@ -1 +1 @@", "a", "b"},
		},
		"a binary file before a text": {
			"diff --git a/p b/p\nindex 1..2\nBinary files a/p and b/p differ\ndiff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
			[]string{"diff --git a/p b/p", "index 1..2", "Binary files a/p and b/p differ", "x", "@@ -1 +1 @@", "a", "b"},
		},
	} {
		parsed := patch.Parse(c.diff)
		var got []string
		for _, line := range parsed.Brief().Lines {
			got = append(got, line.Text)
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: got\n%s", name, strings.Join(got, "\n"))
		}
		if again := patch.Parse(c.diff); len(again.Lines) != len(parsed.Lines) {
			t.Errorf("%s: the diff itself changed", name)
		}
	}
}
