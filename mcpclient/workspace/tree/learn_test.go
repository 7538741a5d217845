package tree_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"replan/mcpclient/workspace/tree"
)

// learned is an index of a folder, and what it reads there.
type learned struct {
	*testing.T
	dir   string
	index *tree.Index
	reads atomic.Int64
}

func newLearned(t *testing.T, files map[string]string) *learned {
	t.Helper()
	l := &learned{T: t, dir: t.TempDir()}
	folder, err := tree.Open(l.dir, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.index = tree.NewIndex(folder)
	t.Cleanup(func() { l.index.Close(); _ = folder.Close() })
	for at, text := range files {
		l.write(at, text, time.Now().Add(-time.Hour))
	}
	for _, at := range append(l.walk(), ".") { // a folder that has just changed is never taken to be as before
		if _, file := files[at]; !file {
			l.age(at, time.Now().Add(-time.Hour))
		}
	}
	return l
}

func (l *learned) write(at, text string, changed time.Time) {
	l.Helper()
	name := filepath.Join(l.dir, filepath.FromSlash(at))
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600), os.Chtimes(name, changed, changed)); err != nil {
		l.Fatal(err)
	}
}

func (l *learned) age(at string, changed time.Time) {
	l.Helper()
	if err := os.Chtimes(filepath.Join(l.dir, at), changed, changed); err != nil {
		l.Fatal(err)
	}
}

func (l *learned) open(at string) *os.File {
	l.Helper()
	f, err := os.OpenFile(filepath.Join(l.dir, at), os.O_WRONLY, 0)
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { _ = f.Close() })
	return f
}

// learn learns the words of all files, and returns how many it read.
func (l *learned) learn() int64 {
	l.Helper()
	l.walk()
	before := l.reads.Load()
	if err := l.index.Learn(context.Background(), func(data []byte) (string, bool) {
		l.reads.Add(1)
		return string(data), !strings.HasPrefix(string(data), "unknown")
	}); err != nil {
		l.Fatal(err)
	}
	return l.reads.Load() - before
}

// walk returns the files and folders.
func (l *learned) walk() (all []string) {
	l.Helper()
	if _, err := l.index.Walk(context.Background(), func(at string, _ bool) { all = append(all, at) }); err != nil {
		l.Fatal(err)
	}
	return all
}

// find returns the files that may hold a word.
func (l *learned) find(word string) []string {
	l.Helper()
	files, _, err := l.index.Search(context.Background(), func(string, bool) {}, func(text string) bool { return strings.Contains(text, word) })
	found := files()
	if err != nil {
		l.Fatal(err)
	}
	return found
}

func TestSearchLeavesOutFilesThatAreAsTheyWere(t *testing.T) {
	files := map[string]string{"a.go": "one", "a-b.go": "two", "a/c.go": "one", "a/d/e.go": "two", "empty": "", "binary": "one\x00", "strange": "unknown", "large": strings.Repeat("two", 1<<14)}
	known := []string{"large", "strange"} // always looked through
	for name, tc := range map[string]struct {
		change func(l *learned)
		want   []string // for "none"
		reads  int64
	}{
		"nothing":                {func(*learned) {}, nil, 0},
		"other text of the size": {func(l *learned) { l.write("a.go", "1ne", time.Now()) }, []string{"a.go"}, 0},
		"other size with the time": {func(l *learned) {
			info, _ := os.Stat(filepath.Join(l.dir, "a/c.go"))
			l.write("a/c.go", "none", info.ModTime())
		}, []string{"a/c.go"}, 1},
		"new file":                 {func(l *learned) { l.write("a/new.go", "none", time.Now().Add(-time.Minute)) }, []string{"a/new.go"}, 1},
		"removed file":             {func(l *learned) { _ = os.Remove(filepath.Join(l.dir, "a.go")) }, nil, 0},
		"file of another name":     {func(l *learned) { _ = os.Rename(filepath.Join(l.dir, "a.go"), filepath.Join(l.dir, "z.go")) }, []string{"z.go"}, 1},
		"file in place of another": {func(l *learned) { _ = os.Rename(filepath.Join(l.dir, "a/d/e.go"), filepath.Join(l.dir, "a.go")) }, []string{"a.go"}, 1},
		"folder of another name":   {func(l *learned) { _ = os.Rename(filepath.Join(l.dir, "a/d"), filepath.Join(l.dir, "b")) }, []string{"b/e.go"}, 1},
		"link":                     {func(l *learned) { _ = os.Symlink("a.go", filepath.Join(l.dir, "link")) }, nil, 0},
	} {
		for _, watched := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/watched=%v", name, watched), func(t *testing.T) {
				l := newLearned(t, files)
				if all := l.find("one"); len(all) != len(files) || l.index.Learned() {
					t.Errorf("before Learn the files are %q", all)
				}
				if n := l.learn(); n != 6 || !l.index.Learned() {
					t.Errorf("%d texts were read", n)
				}
				if found, want := l.find("one"), []string{"a/c.go", "a.go", "large", "strange"}; !slices.Equal(found, want) {
					t.Errorf("the files are %q, not %q", found, want)
				}
				if !watched {
					l.index.Close()
				}
				tc.change(l)
				found, want := l.find("none"), slices.Concat(tc.want, known)
				if slices.Sort(want); !slices.Equal(found, want) {
					t.Errorf("after the change the files are %q, not %q", found, want)
				}
				if n := l.learn(); n != tc.reads {
					t.Errorf("%d texts were read after the change, not %d", n, tc.reads)
				}
			})
		}
	}
}

// A file that has just changed may change again without another time.
func TestFileThatHasJustChangedIsNotLearned(t *testing.T) {
	l := newLearned(t, map[string]string{"old.go": "one"})
	now := time.Now()
	l.write("new.go", "one", now)
	l.learn()
	l.write("new.go", "two", now)
	if found := l.find("two"); !slices.Equal(found, []string{"new.go"}) {
		t.Errorf("the files are %q", found)
	}
	l.write("old.go", "two", time.Now())
	l.learn()
	if found := l.find("two"); !slices.Equal(found, []string{"new.go", "old.go"}) {
		t.Errorf("after another Learn the files are %q", found)
	}
}

func TestFilesOfASearchComeAsAWalkVisitsThem(t *testing.T) {
	files := map[string]string{}
	for _, at := range []string{"a/b/c", "a/b.c", "a/b-c", "a-b/c", "a.go", "a!", "a/b/!", "ab", "b", "a/b/c.d/e", "a/b/c-d", "Z"} {
		files[at+".x"] = "one"
	}
	l := newLearned(t, files)
	walked := slices.DeleteFunc(l.walk(), func(at string) bool { return !strings.HasSuffix(at, ".x") })
	if found := l.find("one"); len(walked) != len(files) || !slices.Equal(found, walked) {
		t.Errorf("got  %q\nwant %q", found, walked)
	}
}

func TestLearnEndsWithItsContextAndGoesOnLater(t *testing.T) {
	files := map[string]string{}
	for i := range 100 {
		files[strings.Repeat("d/", i%5)+strings.Repeat("f", 1+i)] = "one"
	}
	l := newLearned(t, files)
	l.walk()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var first atomic.Int64
	err := l.index.Learn(ctx, func([]byte) (string, bool) {
		first.Add(1)
		cancel()
		return "", true
	})
	if !errors.Is(err, context.Canceled) || l.index.Learned() || first.Load() > 8 {
		t.Errorf("%d files were read, error %v", first.Load(), err)
	}
	if found := l.find("two"); len(found) != 100-int(first.Load()) {
		t.Errorf("the files are %d, and %d are known", len(found), first.Load())
	}
	if n := l.learn(); n+first.Load() != 100 {
		t.Errorf("%d and %d files were read", first.Load(), n)
	}
	canceled, _, err := l.index.Search(ctx, func(string, bool) {}, func(string) bool { return true })
	if found := canceled(); !errors.Is(err, context.Canceled) || len(found) > 0 {
		t.Errorf("got %q, error %v", found, err)
	}
	if found := l.find("two"); len(found) > 0 {
		t.Errorf("after a search that was stopped, %d files are not known", len(found))
	}
}
