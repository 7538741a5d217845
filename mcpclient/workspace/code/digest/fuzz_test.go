package digest_test

import (
	"strings"
	"testing"

	"replan/mcpclient/workspace/code/digest"
)

// FuzzDiff checks that any diff is summed up in a title of one line, or refused with
// a sentence.
func FuzzDiff(f *testing.F) {
	for _, text := range []string{
		"diff --git a/a.go b/a.go\nindex 1..2 100644\n--- a/a.go\n+++ b/a.go\n@@ -1,2 +1,3 @@ func x()\n package a\n-func b() {}\n+func c() {}\n+func d() {}\n", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", "diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n",
		"diff --git a/b.bin b/b.bin\nnew file mode 100644\nGIT binary patch\nliteral 3\nKcmZQz\n\n", "@@ -1,99999999999 +1 @@\n", "--- /dev/null\n+++ b/n.py\n@@ -0,0 +1,2 @@\n+def f():\n+  pass\n", " \n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		d, err := digest.Diff(t.Context(), text)
		if err == nil && (d.Title == "" || strings.Contains(d.Title, "\n")) {
			t.Fatalf("%q has the title %q", text, d.Title)
		}
	})
}
