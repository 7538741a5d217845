package digest_test

import (
	"strings"
	"testing"

	"replan/mcpclient/workspace/code/digest"
)

func TestSubjectNamesTheFunctionThatChanged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, hunk, want string }{
		"in the function of the header":         {"a.go", "@@ -10,3 +10,3 @@ func A() {\n \tx()\n-\ty()\n+\tz()\n \tw()\n", "Update A in a.go"},
		"in the one that begins in the hunk":    {"a.go", "@@ -10,6 +10,6 @@ func A() {\n \tx()\n }\n \n func B() {\n-\ty()\n+\tz()\n }\n", "Update B in a.go"},
		"in its comment":                        {"a.go", "@@ -10,6 +10,6 @@ func A() {\n \tx()\n }\n \n-// B is.\n+// B was.\n func B() {\n \ty()\n }\n", "Update B in a.go"},
		"in both":                               {"a.go", "@@ -10,6 +10,6 @@ func A() {\n-\tx()\n+\tw()\n }\n \n func B() {\n-\ty()\n+\tz()\n }\n", "Update A and B in a.go"},
		"between functions":                     {"a.go", "@@ -10,5 +10,5 @@ func A() {\n \tx()\n }\n \n-// One.\n+// Two.\n \n", "Update a.go"},
		"after the function of the header":      {"a.py", "@@ -10,4 +10,4 @@ def a():\n     x()\n \n-run(1)\n+run(2)\n", "Update a.py"},
		"in a function and after another":       {"a.go", "@@ -3,3 +3,3 @@ func A() {\n \tx()\n-\ty()\n+\tz()\n \tw()\n@@ -20,4 +20,4 @@ func B() {\n }\n \n-var v = 1 +\n+var v = 2 +\n \t1\n", "Update A and v in a.go"},
		"in a function and between others":      {"a.go", "@@ -3,3 +3,3 @@ func A() {\n \tx()\n-\ty()\n+\tz()\n \tw()\n@@ -20,5 +20,5 @@ func B() {\n }\n \n-// One.\n+// Two.\n \n", "Update a.go"},
		"in a class":                            {"a.py", "@@ -10,3 +10,3 @@ class Signer:\n         x()\n-        y()\n+        z()\n", "Update Signer in a.py"},
		"with an import":                        {"a.go", "@@ -1,5 +1,6 @@\n package m\n \n import (\n+\t\"fmt\"\n \t\"os\"\n )\n@@ -20,4 +21,4 @@ import (\n \n func B() {\n-\ty()\n+\tz()\n }\n", "Update B in a.go"},
		"in a value after the last declaration": {"a.go", "@@ -10,4 +10,4 @@ func A() {\n }\n \n-var v = 1 +\n+var v = 2 +\n \t1\n", "Update v in a.go"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := digest.Diff(t.Context(), "--- a/"+c.path+"\n+++ b/"+c.path+"\n"+c.hunk)
			if err != nil || d.Title != c.want {
				t.Errorf("got %q, want %q\n%s\nerror %v", d.Title, c.want, strings.TrimSpace(d.Summary), err)
			}
		})
	}
}
