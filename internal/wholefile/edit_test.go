package wholefile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"replan/internal/wholefile"
)

func TestEditKeepsLinkAndMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and modes are those of Unix")
	}
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(real, []byte("a"), 0o644), os.Symlink("real", link)); err != nil {
		t.Fatal(err)
	}
	if err := wholefile.Edit(t.Context(), link, func(before []byte) ([]byte, error) { return append(before, 'b'), nil }); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(real)
	info, statErr := os.Lstat(real)
	if string(got) != "ab" || errors.Join(err, statErr) != nil || info.Mode() != 0o644 {
		t.Errorf("got %q, %v, mode %v; want ab with mode 0644", got, errors.Join(err, statErr), info.Mode())
	}
	if target, err := os.Readlink(link); target != "real" {
		t.Errorf("the link is gone: %q, %v", target, err)
	}
	if entries, err := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("got entries %v, %v; want the file and its link", entries, err)
	}
}

func TestEditLeavesFileThatMustNotChange(t *testing.T) {
	dir := t.TempDir()
	readOnly, loose := filepath.Join(dir, "f"), filepath.Join(dir, "loose")
	if err := errors.Join(os.WriteFile(readOnly, []byte("a"), 0o400), os.Symlink("gone", loose)); err != nil {
		t.Fatal(err)
	}
	change := func([]byte) ([]byte, error) { return []byte("b"), nil }
	if err := wholefile.Edit(t.Context(), readOnly, change); !errors.Is(err, wholefile.ErrReadOnly) {
		t.Errorf("got error %v, want %v", err, wholefile.ErrReadOnly)
	}
	if err := wholefile.Edit(t.Context(), loose, change); err == nil {
		t.Error("a link that leads nowhere was replaced")
	}
	refused := errors.New("refused")
	if err := wholefile.Edit(t.Context(), filepath.Join(dir, "new"), func([]byte) ([]byte, error) { return []byte("b"), refused }); !errors.Is(err, refused) {
		t.Errorf("got error %v, want %v", err, refused)
	}
	if got, err := os.ReadFile(readOnly); string(got) != "a" {
		t.Errorf("got %q, %v; want a", got, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
		t.Error("a refused change made a file")
	}
}

func TestEditThatChangesNothingWritesNothing(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "f"), filepath.Join(dir, "new", "f")} {
		if err := wholefile.Edit(t.Context(), path, func(before []byte) ([]byte, error) { return before, nil }); err != nil {
			t.Error(err)
		}
	}
	if entries, err := os.ReadDir(dir); runtime.GOOS != "windows" && len(entries) != 0 || err != nil {
		t.Errorf("got entries %v, %v; want none", entries, err)
	}
}

func TestEditSaysWhyItHasNoLock(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows locks a file beside it")
	}
	path := filepath.Join(t.TempDir(), "f")
	edit := func(ctx context.Context) error {
		return wholefile.Edit(ctx, path, func([]byte) ([]byte, error) { return []byte("a"), nil })
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := edit(canceled); err == nil || err.Error() != "lock the folder: context canceled" {
		t.Errorf("canceled: got %v", err)
	}
	held := flock.New(filepath.Dir(path), flock.SetFlag(os.O_RDONLY))
	if _, err := held.TryLock(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Unlock() })
	late, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := edit(late); err == nil || !strings.HasPrefix(err.Error(), "another program is writing the file: ") {
		t.Errorf("while it is held: got %v", err)
	}
}

func TestEditsAtTheSameTimeAreAllKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "f")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			line := fmt.Sprintf("line %d\n", i)
			if err := wholefile.Edit(context.Background(), path, func(before []byte) ([]byte, error) { return append(before, line...), nil }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := os.ReadFile(path); bytes.Count(got, []byte("\n")) != 20 {
		t.Errorf("got %q, %v; want 20 lines", got, err)
	}
}
