package undo_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/undo"
)

// runMeta returns the `_meta` of a call in a run.
func runMeta(run string) map[string]any { return map[string]any{builtin.MetaRun: run} }

const twoFiles = `some words before
--- a/one.txt
+++ b/one.txt
@@ -1,3 +1,3 @@
 a
-b
+B
 c
--- a/sub/two.txt
+++ b/sub/two.txt
@@ -1 +1,2 @@
 x
+y
`

// mustCall calls a tool in a run; the call must succeed.
func (b *bench) mustCall(t tb, run, tool string, a args) {
	t.Helper()
	if out := b.Ask(t, tool, a, runMeta(run)); out.IsError {
		t.Fatalf("%s %v: %s", tool, a, out.Text)
	}
}

// undo undoes runs; it must succeed.
func (b *bench) undo(t tb, runs ...string) undo.Undone {
	t.Helper()
	u, err := b.Ops.Undo(context.Background(), false, runs...)
	if err != nil {
		t.Fatalf("undo %v: %v", runs, err)
	}
	return u
}

// wholeTree returns every file and folder of the workspace with mode and content.
func (b *bench) wholeTree(t tb) map[string]string {
	t.Helper()
	tree := map[string]string{}
	err := filepath.WalkDir(b.Dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == b.Dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(b.Dir, at)
		if err != nil {
			return err
		}
		entry := info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(at)
			if err != nil {
				return err
			}
			entry += " " + string(data)
		}
		tree[name] = entry
		return nil
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return tree
}

// sameTree compares two trees.
func sameTree(t tb, got, want map[string]string) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	var wrong []string
	for name := range want {
		if got[name] != want[name] {
			wrong = append(wrong, fmt.Sprintf("%s: got %q, want %q", name, got[name], want[name]))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s: got %q, want no file", name, got[name]))
		}
	}
	slices.Sort(wrong)
	t.Fatalf("%s", strings.Join(wrong, "\n"))
}

func actions(u undo.Undone) (all []string) {
	for _, f := range u.Files {
		all = append(all, f.Action+" "+f.Path)
	}
	return all
}

func TestUndoRestoresContentModeAndExistence(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	b := newBench(t, workspace.Config{Backups: state})
	b.Write(t, map[string]string{"one.txt": "a\nb\nc\n", "sub/two.txt": "x\n", "run.sh": "echo\n", "old.txt": "old\n", "bin": "\x00\x01"})
	for name, mode := range map[string]fs.FileMode{"run.sh": 0o755, "bin": 0o600, "sub": 0o750} {
		if err := os.Chmod(filepath.Join(b.Dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	before := b.wholeTree(t)
	b.mustCall(t, "r-1", "fs.patch", args{"diff": twoFiles})
	b.mustCall(t, "r-1", "fs.write", args{"path": "one.txt", "text": "again"})
	b.mustCall(t, "r-1", "fs.write", args{"path": "deep/er/new.txt", "text": "n"})
	b.mustCall(t, "r-1", "fs.mkdir", args{"path": "empty/folder"})
	b.mustCall(t, "r-1", "fs.move", args{"from": "run.sh", "to": "bin2/run.sh"})
	b.mustCall(t, "r-1", "fs.remove", args{"path": "bin"})
	b.mustCall(t, "r-1", "fs.remove", args{"path": "sub", "recursive": true})
	b.mustCall(t, "r-1", "fs.write", args{"path": "sub", "text": "a file now"})
	after := b.wholeTree(t)

	shown, err := b.Ops.Undo(t.Context(), true, "r-1")
	if err != nil {
		t.Fatal(err)
	}
	sameTree(t, b.wholeTree(t), after) // a dry run changes nothing
	u := b.undo(t, "r-1")
	sameTree(t, b.wholeTree(t), before)
	if u.Diff != shown.Diff || !slices.Equal(u.Files, shown.Files) {
		t.Errorf("got dry run %v\n%s\nand undo %v\n%s", actions(shown), shown.Diff, actions(u), u.Diff)
	}
	for _, want := range []string{"restored one.txt", "recreated run.sh", "recreated bin", "removed deep/er/new.txt", "removed deep", "removed empty/folder", "recreated sub/two.txt"} {
		if !slices.Contains(actions(u), want) {
			t.Errorf("no %q in %v", want, actions(u))
		}
	}
	for _, want := range []string{"-again\n", "+a\n", "+++ /dev/null"} {
		if !strings.Contains(u.Diff, want) {
			t.Errorf("the diff has no %q: %s", want, u.Diff)
		}
	}

	again := b.undo(t, "r-1")
	if !again.Already || len(again.Files) > 0 {
		t.Errorf("second undo: got %+v", again)
	}
	if err := filepath.WalkDir(state, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == state {
			return err
		}
		info, err := d.Info()
		if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[d.IsDir()]; err == nil && info.Mode().Perm() != want {
			t.Errorf("%s: got mode %v", at, info.Mode())
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

func TestUndoOfRunWithoutChanges(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Backups: t.TempDir()})
	if u := b.undo(t, "r-none"); u.Changed || u.Already || len(u.Files) > 0 {
		t.Errorf("got %+v", u)
	}
	for _, run := range []string{"../x", "", "a/b"} {
		if _, err := b.Ops.Undo(t.Context(), false, run); err == nil {
			t.Errorf("run ID %q was accepted", run)
		}
	}
	if out := b.Ask(t, "fs.write", args{"path": "f", "text": "x"}, runMeta("../x")); !out.IsError || !strings.Contains(out.Text, "id of a run") {
		t.Errorf("got %q", out.Text)
	}
	b.Must(t, "fs.write", args{"path": "f", "text": "x"}) // outside any run
	b.Same(t, map[string]string{"f": "x"})
}

func TestUndoRefusesFilesThatChangedSince(t *testing.T) {
	t.Parallel()
	write := func(name, text string) func(*testing.T, *bench) {
		return func(t *testing.T, b *bench) { b.Write(t, map[string]string{name: text}) }
	}
	remove := func(name string) func(*testing.T, *bench) {
		return func(t *testing.T, b *bench) {
			if err := os.RemoveAll(filepath.Join(b.Dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		since   func(*testing.T, *bench)
		wantErr string
		diff    []string
	}{
		"edited file":               {write("one.txt", "mine\n"), "one.txt changed since", []string{"-one\n", "+mine\n"}},
		"missing file":              {remove("one.txt"), "one.txt was removed since", []string{"+++ /dev/null", "-one\n"}},
		"edited new file":           {write("new.txt", "mine\n"), "new.txt changed since", []string{"+mine\n"}},
		"recreated file":            {write("gone.txt", "mine\n"), "gone.txt was made again since", []string{"--- /dev/null", "+mine\n"}},
		"folder in place of a file": {func(t *testing.T, b *bench) { remove("new.txt")(t, b); write("new.txt/x", "x")(t, b) }, "new.txt was made a folder since", nil},
		"link in place of a file":   {func(t *testing.T, b *bench) { remove("new.txt")(t, b); link(t, b, "one.txt", "new.txt") }, "new.txt is no longer what the run left", nil},
		"change by another run":     {func(t *testing.T, b *bench) { b.mustCall(t, "r-2", "fs.write", args{"path": "one.txt", "text": "two"}) }, "one.txt changed since by the run r-2: nothing was put back; undo the run r-2 first", []string{"+two"}},
		"file too large to back up": {write("one.txt", strings.Repeat("x", 4<<20+1)), "one.txt is no longer what the run left", nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{Backups: t.TempDir()})
			b.Write(t, map[string]string{"one.txt": "before\n", "gone.txt": "g\n", "other.txt": "o\n"})
			b.mustCall(t, "r-1", "fs.write", args{"path": "other.txt", "text": "p"})
			b.mustCall(t, "r-1", "fs.write", args{"path": "one.txt", "text": "one\n"})
			b.mustCall(t, "r-1", "fs.write", args{"path": "new.txt", "text": "n"})
			b.mustCall(t, "r-1", "fs.remove", args{"path": "gone.txt"})
			c.since(t, b)
			now := b.wholeTree(t)
			_, err := b.Ops.Undo(t.Context(), false, "r-1")
			var changed *undo.ChangedError
			if !errors.As(err, &changed) || !strings.Contains(err.Error(), c.wantErr) || !strings.Contains(err.Error(), "nothing was put back") {
				t.Fatalf("got %v", err)
			}
			for _, want := range c.diff {
				if !strings.Contains(changed.Diff, want) {
					t.Errorf("the diff has no %q:\n%s", want, changed.Diff)
				}
			}
			sameTree(t, b.wholeTree(t), now)
		})
	}
}

func link(t *testing.T, b *bench, to, at string) {
	t.Helper()
	if err := os.Symlink(to, filepath.Join(b.Dir, at)); err != nil {
		t.Skip(err)
	}
}

func TestUndoKeepsOtherChanges(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Backups: t.TempDir()})
	b.Write(t, map[string]string{"a.sh": "a", "b.txt": "b", "same.txt": "s"})
	b.mustCall(t, "r-1", "fs.write", args{"path": "a.sh", "text": "A"})
	b.mustCall(t, "r-1", "fs.write", args{"path": "made/x", "text": "x"})
	b.mustCall(t, "r-1", "fs.write", args{"path": "same.txt", "text": "changed"})
	b.Write(t, map[string]string{"made/mine": "m", "b.txt": "mine", "same.txt": "s"}) // the user restored one by hand
	if err := os.Chmod(filepath.Join(b.Dir, "a.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	u := b.undo(t, "r-1")
	b.Same(t, map[string]string{"a.sh": "a", "b.txt": "mine", "same.txt": "s", "made/mine": "m"})
	if len(u.Notes) != 1 || !strings.Contains(u.Notes[0], "the folder made stays") {
		t.Errorf("got notes %q", u.Notes)
	}
	if !strings.HasPrefix(b.wholeTree(t)["a.sh"], "-rwxr-xr-x") {
		t.Errorf("the mode set by the user was lost: %s", b.wholeTree(t)["a.sh"])
	}
}

func TestUndoIncludesInnerRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Backups: t.TempDir()})
	b.Write(t, map[string]string{"f": "0"})
	before := b.wholeTree(t)
	b.mustCall(t, "r-out", "fs.write", args{"path": "f", "text": "1"})
	b.mustCall(t, "r-in", "fs.write", args{"path": "f", "text": "2"})
	b.mustCall(t, "r-in", "fs.write", args{"path": "g", "text": "2"})
	b.mustCall(t, "r-out", "fs.write", args{"path": "f", "text": "3"})
	if _, err := b.Ops.Undo(t.Context(), false, "r-in"); err == nil || !strings.Contains(err.Error(), "by the run r-out") {
		t.Errorf("inner run alone: got error %v", err)
	}
	b.undo(t, "r-out", "r-in")
	sameTree(t, b.wholeTree(t), before)
	for _, run := range []string{"r-in", "r-out"} {
		if u := b.undo(t, run); !u.Already {
			t.Errorf("%s: got %+v", run, u)
		}
	}
}

func TestUndoOfRunResumedAfterUndo(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Backups: t.TempDir()})
	b.Write(t, map[string]string{"f": "0"})
	b.mustCall(t, "r-1", "fs.write", args{"path": "f", "text": "1"})
	b.undo(t, "r-1")
	b.Write(t, map[string]string{"f": "mine"})
	b.mustCall(t, "r-1", "fs.write", args{"path": "f", "text": "2"})
	b.undo(t, "r-1")
	b.Same(t, map[string]string{"f": "mine"})
}

func TestUndoNotesOutsideChangesInBetween(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Backups: t.TempDir()})
	b.Write(t, map[string]string{"f": "0"})
	b.mustCall(t, "r-1", "fs.write", args{"path": "f", "text": "1"})
	b.Write(t, map[string]string{"f": "formatted"})
	b.mustCall(t, "r-1", "fs.write", args{"path": "f", "text": "2"})
	u := b.undo(t, "r-1")
	b.Same(t, map[string]string{"f": "0"})
	if len(u.Notes) != 1 || !strings.Contains(u.Notes[0], "changed by something else") {
		t.Errorf("got notes %q", u.Notes)
	}
}

func TestUndoRequiresFolderOfTheRun(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	b := newBench(t, workspace.Config{Backups: state})
	b.mustCall(t, "r-1", "fs.write", args{"path": "f", "text": "1"})
	other := newBench(t, workspace.Config{Backups: state})
	var elsewhere *undo.NotHereError
	if _, err := other.Ops.Undo(t.Context(), false, "r-1"); !errors.As(err, &elsewhere) || elsewhere.Workspace != b.Dir {
		t.Errorf("got %v", err)
	}
}

func TestServerRecordsAllCallsUnderOneRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Backups: t.TempDir(), Run: "w-1"})
	b.Must(t, "fs.write", args{"path": "f", "text": "1"})
	b.mustCall(t, "r-9", "fs.write", args{"path": "g", "text": "1"})
	b.undo(t, "w-1")
	b.Same(t, map[string]string{})
}

func TestUndoRefusesDamagedBackups(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil   func(t *testing.T, kept string)
		wantErr string
	}{
		"missing content": {func(t *testing.T, kept string) { each(t, kept, os.Remove) }, "missing or damaged"},
		"changed content": {func(t *testing.T, kept string) {
			each(t, kept, func(at string) error { return os.WriteFile(at, []byte("x"), 0o600) })
		}, "missing or damaged"},
		"damaged list": {func(t *testing.T, kept string) {
			at := filepath.Join(kept, "manifest.jsonl")
			text, err := os.ReadFile(at)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, append([]byte("{]\n"), text...), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "damaged at line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			b := newBench(t, workspace.Config{Backups: state})
			b.Write(t, map[string]string{"f": "0", "g": "0"})
			b.mustCall(t, "r-1", "fs.write", args{"path": "f", "text": "1"})
			b.mustCall(t, "r-1", "fs.write", args{"path": "g", "text": "1"})
			now := b.wholeTree(t)
			c.spoil(t, filepath.Join(state, "r-1.undo"))
			if _, err := b.Ops.Undo(t.Context(), false, "r-1"); err == nil || !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("got %v", err)
			}
			sameTree(t, b.wholeTree(t), now)
		})
	}
}

// each calls do for every backed up file.
func each(t *testing.T, kept string, do func(string) error) {
	t.Helper()
	entries, err := os.ReadDir(kept)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "manifest.jsonl" {
			continue
		}
		if err := do(filepath.Join(kept, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

type backupLine struct {
	Change, Path, Mode string
	BeforeSHA          string `json:"before_sha"`
	AfterSHA           string `json:"after_sha"`
	RolledBack         bool   `json:"rolled_back"`
}

func readManifest(t *testing.T, dir string) (lines []backupLine) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "manifest.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for s := bufio.NewScanner(f); s.Scan(); {
		var l backupLine
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

func TestFailedChangeIsMarkedAsRolledBack(t *testing.T) {
	t.Parallel()
	kept := t.TempDir()
	b := newBench(t, workspace.Config{Backups: kept})
	b.Write(t, map[string]string{"one.txt": "b\n"})
	got := b.Ask(t, "fs.patch", args{"diff": "--- a/one.txt\n+++ b/one.txt\n@@ -1 +1 @@\n-b\n+B\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+1\n--- /dev/null\n+++ b/x/y\n@@ -0,0 +1 @@\n+1\n"}, runMeta("r-1"))
	if !got.IsError || !strings.Contains(got.Text, "nothing was changed") {
		t.Fatalf("got %q", got.Text)
	}
	b.Same(t, map[string]string{"one.txt": "b\n"})
	lines := readManifest(t, filepath.Join(kept, "r-1.undo"))
	if last := lines[len(lines)-1]; !last.RolledBack || last.Change != lines[1].Change {
		t.Errorf("got manifest %+v", lines)
	}
}
