package workcopy_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/mcpclient/workcopy"
)

func TestChangesOutliveTheSession(t *testing.T) {
	t.Parallel()
	b := newBench(t, three)
	b.run(t, "r-1", map[string]string{"a.txt": "A\n"})
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b.open(t)
	if err := b.Refresh(t.Context(), "r-1"); err != nil {
		t.Error(err)
	}
	if o := b.changes(t); !slices.Equal(names(o), []string{"changed a.txt"}) || !slices.Equal(o.Runs, []string{"r-1"}) {
		t.Errorf("got %q of %q", names(o), o.Runs)
	}
}

// A second session leaves changes behind, and the first ends.
func TestChangesOfAnotherCopyAreFound(t *testing.T) {
	t.Parallel()
	b := newBench(t, three)
	second := &bench{folder: b.folder, copies: b.copies, backups: b.backups}
	second.open(t)
	second.run(t, "r-2", map[string]string{"c.txt": "C\n"})
	third, err := workcopy.Open(t.Context(), workcopy.Config{Folder: b.folder, Copies: b.copies})
	if err != nil {
		t.Fatal(err)
	}
	if !third.Busy || third.Waits() {
		t.Error("the changes in use are not found")
	}
	if err := errors.Join(third.Close(), second.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
	b.open(t)
	if o := b.changes(t); !slices.Equal(names(o), []string{"changed c.txt"}) {
		t.Errorf("got %q", names(o))
	}
}

func TestSessionsHaveCopiesOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t, three)
	b.run(t, "r-1", map[string]string{"a.txt": "A\n"})
	other, err := workcopy.Open(context.Background(), workcopy.Config{Folder: b.folder, Copies: b.copies})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close() //nolint:errcheck // only read
	if other.Others != 1 || b.Others != 0 {
		t.Errorf("other copies with changes: %d and %d", other.Others, b.Others)
	}
	if got := read(t, filepath.Join(other.Dir, "a.txt")); got != "a\n" {
		t.Errorf("got %q", got)
	}
	var elsewhere *workcopy.ElsewhereError
	if err := other.Refresh(t.Context(), "r-1"); !errors.As(err, &elsewhere) {
		t.Errorf("a run of another copy: got %v", err)
	}
	if err := workcopy.Elsewhere(b.copies, b.folder, "r-1"); !errors.As(err, &elsewhere) {
		t.Errorf("without a copy: got %v", err)
	}
}

func TestCopiesThatNobodyUsesAreRemoved(t *testing.T) {
	t.Parallel()
	b := newBench(t, three)
	waiting := &bench{folder: filepath.Join(t.TempDir(), "other"), copies: b.copies, backups: b.backups}
	write(t, filepath.Join(waiting.folder, "a.txt"), "a\n")
	waiting.open(t)
	waiting.run(t, "r-1", map[string]string{"a.txt": "A\n"})
	if err := errors.Join(waiting.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
	places, err := filepath.Glob(filepath.Join(b.copies, "*", "*", "lock"))
	if err != nil || len(places) != 2 {
		t.Fatalf("got %q, %v", places, err)
	}
	old := time.Now().Add(-30 * 24 * time.Hour)
	for _, lock := range places {
		if err := os.Chtimes(lock, old, old); err != nil {
			t.Fatal(err)
		}
	}
	third := &bench{folder: t.TempDir(), copies: b.copies, backups: b.backups}
	third.open(t)
	left, err := filepath.Glob(filepath.Join(b.copies, "*", "*", "files", "a.txt"))
	if err != nil || len(left) != 1 || !strings.Contains(left[0], "other") {
		t.Errorf("got %q, %v", left, err)
	}
}
