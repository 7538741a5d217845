package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFailedWriteLeavesTheOldFileAndNoOther(t *testing.T) {
	failed := errors.New("the disk is broken")
	for what, fail := range map[string]func(*disk){
		"write": func(d *disk) {
			d.write = func(f *os.File, _ io.WriterTo) (int64, error) {
				n, err := f.WriteString("n")
				return int64(n), errors.Join(failed, err)
			}
		},
		"sync":   func(d *disk) { d.sync = func(*os.File) error { return failed } },
		"rename": func(d *disk) { d.rename = func(string, string) error { return failed } },
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := Write(path, []byte("old")); err != nil {
			t.Fatal(err)
		}
		d := system()
		fail(&d)
		if err := d.replace(path, strings.NewReader("new"), 0o600, time.Time{}); !errors.Is(err, failed) {
			t.Errorf("%s: got %v", what, err)
		}
		holds(t, path, "old")
	}
}

func TestFailedSyncOfTheFolderLeavesTheNewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	d := system()
	d.syncFolder = func(string) error { return errors.New("not supported") }
	if err := d.replace(path, strings.NewReader("new"), 0o600, time.Time{}); err != nil {
		t.Error(err)
	}
	holds(t, path, "new")
}

// holds checks that the file is the only one in its folder.
func holds(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	entries, listed := os.ReadDir(filepath.Dir(path))
	if err := errors.Join(err, listed); err != nil || string(got) != want || len(entries) != 1 {
		t.Errorf("got %q and entries %v, %v; want %q alone", got, entries, err, want)
	}
}
