package workspace_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

func TestApplyKeepsConcurrentEdits(t *testing.T) {
	first := workspace.Step{Path: "a", Before: "1", After: "2"}
	for name, c := range map[string]struct {
		second workspace.Step
		now    map[string]string
	}{
		"edited file":             {workspace.Step{Path: "b", Before: "old", After: "new"}, map[string]string{"b": "mine"}},
		"edited file to remove":   {workspace.Step{Path: "b", Before: "old", After: "-"}, map[string]string{"b": "mine"}},
		"existing file to create": {workspace.Step{Path: "b", Before: "-", After: "new"}, map[string]string{"b": "mine"}},
		"missing file":            {workspace.Step{Path: "b", Before: "old", After: "new"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{Backups: t.TempDir()})
			want := map[string]string{"a": "1"}
			for at, text := range c.now {
				want[at] = text
			}
			b.Write(t, want)
			err := workspace.Apply(b.Ops, "r-1", first, c.second)
			if err == nil || workspace.IsUnsure(err) || !strings.Contains(err.Error(), "nothing was changed: b was ") {
				t.Errorf("got %v", err)
			}
			b.Same(t, want)
			if u, err := b.Ops.Undo(t.Context(), false, "r-1"); err != nil || len(u.Files) > 0 {
				t.Errorf("got changes to undo: %+v", u)
			}
		})
	}
}

func TestRestoreKeepsLaterEdits(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a": "mine", "b": "2"})
	err := workspace.Restore(b.Ops, workspace.Step{Path: "a", Before: "1", After: "2"}, workspace.Step{Path: "b", Before: "1", After: "2"})
	if err == nil || !strings.Contains(err.Error(), "a was changed by another program") {
		t.Errorf("got %v", err)
	}
	b.Same(t, map[string]string{"a": "mine", "b": "1"})
}

func TestPreviewSizeIsLimited(t *testing.T) {
	if testing.Short() {
		t.Skip("has no goroutine that the race detector could watch")
	}
	b := newBench(t, workspace.Config{})
	files := map[string]string{"bin": "\x00xx"}
	for i := range 6 {
		files[fmt.Sprintf("d/f%d", i)] = strings.Repeat("a line of text\n", 20_000)
	}
	b.Write(t, files)
	ask := func(tool string, a args) (string, int) {
		shown := workspacetest.Into[struct {
			Diff   string
			Hashes map[string]string
		}](t, b.Ask(t, tool, a, map[string]any{builtin.MetaPreview: true}).Data)
		return shown.Diff, len(shown.Hashes)
	}
	diff, hashes := ask("fs.remove", args{"path": "d", "recursive": true})
	if hashes != 7 || len(diff) > 1000 || !strings.Contains(diff, "file d/f3 removed: 20000 lines\n") || !strings.Contains(diff, "folder d removed\n") {
		t.Errorf("large removal: got %d hashes, %.300q", hashes, diff)
	}
	if diff, _ := ask("fs.remove", args{"path": "d/f1"}); !strings.Contains(diff, "\n-a line of text\n") {
		t.Errorf("small removal: got %.300q", diff)
	}
	diff, hashes = ask("fs.write", args{"path": "large", "text": strings.Repeat("more\n", 400_000)})
	if hashes != 1 || len(diff) > 1<<20+200 || !strings.Contains(diff, "\n[cut: ") || !strings.HasSuffix(diff, " bytes of what changes in large are not shown]\n") {
		t.Errorf("large file: got %d bytes, %q", len(diff), diff[max(0, len(diff)-200):])
	}
	var patch strings.Builder
	for i := range 4 {
		fmt.Fprintf(&patch, "--- /dev/null\n+++ b/n%d\n@@ -0,0 +1,100000 @@\n%s", i, strings.Repeat("+more\n", 100_000))
	}
	diff, hashes = ask("fs.patch", args{"diff": patch.String()})
	if hashes != 4 || !strings.HasSuffix(diff, " and 2 changes after it are not shown]\n") {
		t.Errorf("many files: got %d hashes, %q", hashes, diff[max(0, len(diff)-200):])
	}
}
