package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/tree"
)

func TestCanceledCallChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o, err := New(Config{Dir: dir, Backups: t.TempDir(), SpillDir: t.TempDir(), Memory: filepath.Join(t.TempDir(), "memory.md")})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close() //nolint:errcheck // the folder is temporary
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(stopped)
	err = o.changes.Apply(ctx, "r-1", []change.Change{{Path: "a.txt", After: tree.File{Exists: true, Data: []byte("x")}}})
	if !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.txt")); err == nil {
		t.Error("the file was written")
	}
}
