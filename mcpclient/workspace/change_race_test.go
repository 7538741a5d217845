package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

func TestApplyKeepsConcurrentEdits(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a": "mine", "b": "2"})
	err := workspace.Restore(b.Ops, workspace.Step{Path: "a", Before: "1", After: "2"}, workspace.Step{Path: "b", Before: "1", After: "2"})
	if err == nil || !strings.Contains(err.Error(), "a was changed by another program") {
		t.Errorf("got %v", err)
	}
	b.Same(t, map[string]string{"a": "mine", "b": "1"})
}

func TestPreviewSizeIsLimited(t *testing.T) {
	t.Parallel()
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

func TestProgramsThatChangeAFileKeepEachOthersChanges(t *testing.T) {
	t.Parallel()
	dir, state := t.TempDir(), t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	// Each bench stands for a program: they share nothing but the folders.
	programs := []*bench{
		newBench(t, workspace.Config{Dir: dir, Backups: state}), newBench(t, workspace.Config{Dir: link, Backups: state}),
		newBench(t, workspace.Config{Dir: dir, Backups: state}), newBench(t, workspace.Config{Dir: link, Backups: state}),
	}
	for round := range 30 {
		programs[0].Write(t, map[string]string{"f": "base\n"})
		done := make([]bool, len(programs))
		var calls sync.WaitGroup
		for i, p := range programs {
			calls.Go(func() {
				added := fmt.Sprintf("base\nadded %d\n", i)
				answer, err := p.Try(t.Context(), "fs.patch", args{"path": "f", "old": "base\n", "new": added}, nil)
				done[i] = err == nil && !answer.IsError
			})
		}
		calls.Wait()
		text, err := os.ReadFile(filepath.Join(dir, "f"))
		if err != nil {
			t.Fatal(err)
		}
		for i, ok := range done {
			if ok && !strings.Contains(string(text), fmt.Sprintf("added %d\n", i)) {
				t.Fatalf("round %d: the change of program %d was lost: %q", round, i, text)
			}
		}
	}
}
