package digest_test

import (
	"strings"
	"testing"

	"replan/mcpclient/workspace/code/digest"
)

const combined = "diff --cc a\nindex 975fbec,587be6b..0000000\n--- a/a\n+++ b/a\n@@@ -1,1 -1,1 +1,5 @@@\n"

// A merge, a rebase, a cherry-pick and a stash leave the same diff of a file in conflict.
func TestConflictsOfADiffAreNamed(t *testing.T) {
	marked := combined + "++<<<<<<< HEAD\n +y\n++=======\n+ x\n++>>>>>>> x\n"
	for name, tt := range map[string]struct{ diff, want string }{
		"changed on both sides":      {marked, "a has conflicts"},
		"removed on one side":        {"* Unmerged path dir/b.go\n", "dir/b.go has conflicts"},
		"several files":              {marked + "* Unmerged path b\n* Unmerged path a\n", "a and b have conflicts"},
		"beside another change":      {marked + "diff --git a/c b/c\nindex d00491f..0cfbf08 100644\n--- a/c\n+++ b/c\n@@ -1 +1 @@\n-1\n+2\n", "a has conflicts"},
		"a merge that was committed": {combined + "- y\n -x\n++both\n", "changes no file"},
		"words alone":                {"hello", "changes no file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := digest.Diff(t.Context(), tt.diff)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
