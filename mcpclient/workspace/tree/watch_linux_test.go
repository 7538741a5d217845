package tree_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A file that is only touched tells whether it was looked at.
func TestFilesOfWatchedFoldersAreLookedAtOnlyWhenWritten(t *testing.T) {
	l := newLearned(t, map[string]string{"a.go": "one", "b.go": "one", "in/c.go": "one", "in/d.go": "one"})
	l.learn()
	now := time.Now()
	for _, at := range []string{"a.go", "in/c.go"} {
		if err := os.Chtimes(filepath.Join(l.dir, at), now, now); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(filepath.Join(l.dir, "in/d.go"))
	if err != nil {
		t.Fatal(err)
	}
	l.write("in/d.go", "other", info.ModTime())
	for range 2 {
		if found := l.find("two"); !slices.Equal(found, []string{"in/d.go"}) {
			t.Errorf("the files are %q", found)
		}
	}
	l.index.Close()
	if found := l.find("two"); !slices.Equal(found, []string{"a.go", "in/c.go", "in/d.go"}) {
		t.Errorf("without a watch the files are %q", found)
	}
}

// TestFolderInPlaceOfAWatchedOneIsLookedAt replaces a folder by one with the same times.
func TestFolderInPlaceOfAWatchedOneIsLookedAt(t *testing.T) {
	l := newLearned(t, map[string]string{"in/a.go": "one", "in/b.go": "one"})
	old := time.Now().Add(-time.Hour)
	at := func(name string) string { return filepath.Join(l.dir, name) }
	fill := func() {
		l.write("in/a.go", "one", old)
		l.write("in/b.go", "one", old)
		l.age("in", old)
	}
	fill()
	l.learn()
	if err := os.Rename(at("in"), filepath.Join(t.TempDir(), "in")); err != nil {
		t.Fatal(err)
	}
	fill()
	l.find("two")
	l.write("in/a.go", "two", time.Now())
	if found := l.find("two"); !slices.Equal(found, []string{"in/a.go"}) {
		t.Errorf("the files are %q", found)
	}
}

func TestTooManyWritesToBeToldOfAreLookedAt(t *testing.T) {
	l := newLearned(t, map[string]string{"a.go": "one", "b.go": "one", "c.go": "one"})
	l.learn()
	queue, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil || len(queue) > 6 {
		t.Skipf("the queue of the kernel has %q entries, %v", queue, err)
	}
	a, b := l.open("a.go"), l.open("b.go")
	for range 20_000 / 2 { // writes to the same file are told of once
		for _, f := range []*os.File{a, b} {
			if _, err := f.WriteAt([]byte("x"), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	l.write("c.go", "two", time.Now())
	if found := l.find("two"); !slices.Equal(found, []string{"a.go", "b.go", "c.go"}) {
		t.Errorf("the files are %q", found)
	}
}
