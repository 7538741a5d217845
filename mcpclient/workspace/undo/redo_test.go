package undo_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/undo"
)

// redo redoes runs; it must succeed.
func (b *bench) redo(t tb, runs ...string) undo.Undone {
	t.Helper()
	u, err := b.Ops.Redo(context.Background(), false, runs...)
	if err != nil {
		t.Fatalf("redo %v: %v", runs, err)
	}
	return u
}

func TestRedoTakesBackTheUndoOfRandomTrees(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Backups: t.TempDir()})
	number := 0
	rapid.Check(t, func(t *rapid.T) {
		b.furnish(t)
		before := b.wholeTree(t)
		number++
		runs := []string{fmt.Sprintf("r-%d", number), fmt.Sprintf("i-%d", number)}
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			b.randomChange(t, rapid.SampledFrom(runs).Draw(t, "run"))
		}
		after := b.wholeTree(t)
		for range rapid.IntRange(1, 3).Draw(t, "times") {
			if len(b.undo(t, runs...).Files) == 0 {
				return // nothing was changed in the end
			}
			sameTree(t, b.wholeTree(t), before)
			b.redo(t, runs...)
			sameTree(t, b.wholeTree(t), after)
			if u := b.redo(t, runs...); !u.Already || len(u.Files) > 0 {
				t.Fatalf("second redo: %+v", u)
			}
		}
		b.undo(t, runs...)
		sameTree(t, b.wholeTree(t), before)
	})
}

func TestRedoShowsItsDiffAndRefusesFilesThatChangedSince(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Backups: t.TempDir()})
	b.Write(t, map[string]string{"f": "one\n"})
	b.mustCall(t, "r-1", "fs.write", args{"path": "f", "text": "two\n"})
	b.mustCall(t, "r-1", "fs.write", args{"path": "new", "text": "new\n"})
	b.undo(t, "r-1")
	would, err := b.Ops.Redo(t.Context(), true, "r-1")
	if err != nil || !strings.Contains(would.Diff, "-one\n+two\n") || strings.Join(actions(would), ", ") != "restored f, recreated new" {
		t.Errorf("got %v and %+v", err, would)
	}
	b.Same(t, map[string]string{"f": "one\n"})
	b.mustCall(t, "r-2", "fs.write", args{"path": "f", "text": "mine\n"})
	var changed *undo.ChangedError
	if _, err := b.Ops.Redo(t.Context(), false, "r-1"); !errors.As(err, &changed) || !strings.Contains(changed.Diff, "-one\n+mine\n") || !strings.Contains(err.Error(), "by the run r-2") {
		t.Errorf("got %v", err)
	}
	b.Same(t, map[string]string{"f": "mine\n"})
}

func TestRedoNeedsAnUndoThatCanBeTakenBack(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	b := newBench(t, workspace.Config{Backups: state})
	b.Write(t, map[string]string{"f": "0"})
	refused := func(run, want string) {
		t.Helper()
		if _, err := b.Ops.Redo(t.Context(), false, run); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", run, err, want)
		}
	}
	refused("r-0", "is not undone, so there is nothing to redo")
	b.mustCall(t, "r-1", "fs.write", args{"path": "f", "text": "1"})
	b.mustCall(t, "i-1", "fs.write", args{"path": "g", "text": "1"})
	refused("r-1", "is not undone")
	b.undo(t, "r-1", "i-1")
	refused("i-1", "was undone with the run r-1: redo that run")
	if at := undo.UndoneAt(state, "i-1"); !at.IsZero() {
		t.Errorf("the inner run can be redone alone, undone at %v", at)
	}
	if undo.UndoneAt(state, "r-1").IsZero() || !undo.AllUndone(state, "r-1") {
		t.Error("the run cannot be redone")
	}
	b.redo(t, "r-1", "i-1")
	if !undo.UndoneAt(state, "r-1").IsZero() || undo.AllUndone(state, "r-1") || !undo.Changed(state, "i-1") {
		t.Error("the run is still undone")
	}

	// What was undone before an undo kept what it replaced, or before a later change.
	b.undo(t, "r-1", "i-1")
	list := filepath.Join(state, "r-1.undo", "manifest.jsonl")
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	var old []string
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, `"reverts"`) && !strings.Contains(line, `"redone"`) {
			old = append(old, line)
		}
	}
	if err := os.WriteFile(list, []byte(strings.Join(old, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("r-1", "is not kept: give its goal again")
	b.mustCall(t, "r-3", "fs.write", args{"path": "f", "text": "3"})
	b.undo(t, "r-3")
	b.mustCall(t, "r-3", "fs.write", args{"path": "f", "text": "4"})
	refused("r-3", "is not undone")
	b.undo(t, "r-3")
	b.redo(t, "r-3")
	b.Same(t, map[string]string{"f": "4"})
}
