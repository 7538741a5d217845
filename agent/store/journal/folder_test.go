package journal_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"replan/agent/event"
	"replan/agent/store/journal"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// started returns the event that starts a run.
func started(goal string) event.Data { return event.RunStarted{Goal: untrusted.Text(goal)} }

// keep writes a run to a folder.
func keep(t *testing.T, f journal.Folder, id string, data ...event.Data) {
	t.Helper()
	written := number(data...)
	for i := range written {
		written[i].Run = id
	}
	store(t, f.Path(id), written)
}

func TestIDsAreCheckedBeforeUseInPaths(t *testing.T) {
	f := journal.Folder{Dir: filepath.Join(t.TempDir(), "runs")}
	for _, id := range []string{"", "..", "../x", "a/b", `a\b`, "/etc/passwd", ".hidden", "a\nb", "a\x00", strings.Repeat("a", 129), "ü"} {
		if path := f.Path(id); path != "" {
			t.Errorf("Path(%q) is %q", id, path)
		}
		_, createErr := f.Create(id)
		_, _, openErr := f.Open(id)
		_, readErr := f.Read(id)
		_, headErr := f.Head(id)
		_, foldErr := f.Fold(id)
		_, deleteErr := f.Delete(id)
		for name, err := range map[string]error{
			"Create": createErr, "Open": openErr, "Read": readErr, "Head": headErr, "Fold": foldErr, "Delete": deleteErr,
		} {
			if !errors.Is(err, plan.ErrBadID) {
				t.Errorf("%s(%q): %v, want ErrBadID", name, id, err)
			}
		}
	}
	if _, err := os.Stat(f.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was created: %v", err)
	}
}

func TestMissingRunIsAnError(t *testing.T) {
	f := journal.Folder{Dir: t.TempDir()}
	_, _, openErr := f.Open("r")
	_, readErr := f.Read("r")
	_, headErr := f.Head("r")
	_, foldErr := f.Fold("r")
	_, deleteErr := f.Delete("r")
	for name, err := range map[string]error{"Open": openErr, "Read": readErr, "Head": headErr, "Fold": foldErr, "Delete": deleteErr} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want fs.ErrNotExist", name, err)
		}
	}
}

func TestHeadReadsOnlyFirstEvent(t *testing.T) {
	f := journal.Folder{Dir: t.TempDir()}
	keep(t, f, "r", started("a goal"), event.Note{Text: "x"})
	good, err := os.ReadFile(f.Path("r"))
	if err != nil {
		t.Fatal(err)
	}
	first := strings.SplitAfter(string(good), "\n")[0]
	flipped := strings.Replace(first, "goal", "gaol", 1)
	cases := map[string]struct {
		text   string
		want   error
		damage bool
	}{
		"whole journal":               {text: string(good)},
		"damage after the first line": {text: first + "damage\ndamage\n"},
		"torn first line":             {text: first[:20], want: event.ErrNoEvents},
		"only line is damaged":        {text: flipped, want: event.ErrNoEvents},
		"empty file":                  {text: "", want: event.ErrNoEvents},
		"damaged first line":          {text: flipped + first, damage: true},
		"garbage before another line": {text: "garbage\n" + first, damage: true},
		"garbage before a torn line":  {text: "garbage\n" + first[:20], damage: true},
		"only garbage":                {text: "garbage\n", want: event.ErrNoEvents},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(f.Path("r"), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			e, err := f.Head("r")
			switch damage := (&journal.DamageError{}); {
			case c.damage:
				if !asDamage(err, damage) || damage.Line != 1 {
					t.Errorf("error %v, want damage at line 1", err)
				}
			case !errors.Is(err, c.want):
				t.Errorf("error %v, want %v", err, c.want)
			case err == nil && e.Data.(event.RunStarted).Goal != "a goal":
				t.Errorf("event %v", e)
			}
		})
	}
}

func TestHeadRestoresLargeValues(t *testing.T) {
	f := journal.Folder{Dir: t.TempDir()}
	goal := text(journal.MaxValue)
	keep(t, f, "r", started(goal))
	if e, err := f.Head("r"); err != nil || string(e.Data.(event.RunStarted).Goal) != goal {
		t.Errorf("the goal changed: %v", err)
	}
}

func TestFoldReturnsTheRun(t *testing.T) {
	f := journal.Folder{Dir: t.TempDir()}
	written := longRun(3)
	store(t, f.Path("r"), written)
	run, err := f.Fold("r")
	if err != nil || run.Goal != "a long run" || run.Seq != uint64(len(written)) || run.Result == nil {
		t.Errorf("run %q at %d: %v", run.Goal, run.Seq, err)
	}
}

func TestFoldNamesLineOfInvalidEvent(t *testing.T) {
	f := journal.Folder{Dir: t.TempDir()}
	keep(t, f, "r", started("g"), event.Note{Text: "x"}, started("again"))
	_, err := f.Fold("r")
	if damage := (&journal.DamageError{}); !asDamage(err, damage) || damage.Line != 3 {
		t.Errorf("error %v, want damage at line 3", err)
	}
}

func TestReadIgnoresTornEnd(t *testing.T) {
	f := journal.Folder{Dir: t.TempDir()}
	keep(t, f, "r", started("g"), event.Note{Text: "x"})
	info, err := os.Stat(f.Path("r"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(f.Path("r"), info.Size()-1); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Read("r"); err != nil || len(got) != 1 {
		t.Errorf("%d events: %v", len(got), err)
	}
}

func TestListIsNewestFirst(t *testing.T) {
	f := journal.Folder{Dir: t.TempDir()}
	keep(t, f, "old", started("g"))
	keep(t, f, "large", started("g"), event.Note{Text: untrusted.Text(text(journal.MaxValue))})
	keep(t, f, "new", started("g"))
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for i, id := range []string{"old", "large", "new"} {
		if err := os.Chtimes(f.Path(id), time.Time{}, at.Add(time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	// Other files are left out.
	for _, name := range []string{"notes.txt", ".hidden.jsonl", "x.jsonl.lock"} {
		if err := os.WriteFile(filepath.Join(f.Dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(f.Dir, "folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	held, _, err := f.Open("old")
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.List()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got[0].ID != "new" || got[1].ID != "large" || got[2].ID != "old" {
		t.Fatalf("listed %v", got)
	}
	if got[0].Locked || got[1].Locked || !got[2].Locked {
		t.Errorf("locked: %v, want only the last", got)
	}
	if !got[1].Modified.Equal(at.Add(time.Hour)) {
		t.Errorf("modified at %v", got[1].Modified)
	}
	if got[1].Bytes <= journal.MaxValue || got[0].Bytes > 4096 || got[0].Bytes == 0 {
		t.Errorf("bytes: %v", got)
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
	if got, err := f.List(); err != nil || got[2].Locked {
		t.Errorf("still locked: %v, %v", got, err)
	}
}

func TestMissingFolderHasNoRuns(t *testing.T) {
	f := journal.Folder{Dir: filepath.Join(t.TempDir(), "runs")}
	if got, err := f.List(); err != nil || len(got) != 0 {
		t.Errorf("listed %v: %v", got, err)
	}
	if ids, err := f.IDs(); err != nil || len(ids) != 0 {
		t.Errorf("ids %v: %v", ids, err)
	}
}

func TestListCreatesNoLockFile(t *testing.T) {
	f := journal.Folder{Dir: t.TempDir()}
	keep(t, f, "r", started("g"))
	if err := os.Remove(f.Path("r") + ".lock"); err != nil {
		t.Fatal(err)
	}
	if got, err := f.List(); err != nil || len(got) != 1 || got[0].Locked {
		t.Errorf("listed %v: %v", got, err)
	}
	if _, err := os.Stat(f.Path("r") + ".lock"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a lock file was created: %v", err)
	}
}

func TestDeleteReturnsAllRemovedFiles(t *testing.T) {
	f := journal.Folder{Dir: t.TempDir()}
	keep(t, f, "r", started("g"), event.Note{Text: untrusted.Text(text(journal.MaxValue))})
	keep(t, f, "r2", started("another"))
	removed, err := f.Delete("r")
	want := []string{f.Path("r"), filepath.Join(f.Dir, "r.values"), f.Path("r") + ".lock"}
	if err != nil || !slices.Equal(removed, want) {
		t.Errorf("removed %q, want %q: %v", removed, want, err)
	}
	files, err := filepath.Glob(filepath.Join(f.Dir, "r*"))
	if want := []string{f.Path("r2"), f.Path("r2") + ".lock"}; err != nil || !slices.Equal(files, want) {
		t.Errorf("left %q, want %q: %v", files, want, err)
	}
	if _, err := f.Delete("r"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("second delete: %v", err)
	}
	keep(t, f, "r", started("anew")) // the id is free again
}

func TestDeleteFinishesInterruptedDelete(t *testing.T) {
	f := journal.Folder{Dir: t.TempDir()}
	keep(t, f, "r", started("g"), event.Note{Text: untrusted.Text(text(journal.MaxValue))})
	if err := os.Remove(f.Path("r")); err != nil {
		t.Fatal(err)
	}
	if removed, err := f.Delete("r"); err != nil || len(removed) != 2 {
		t.Errorf("removed %q: %v", removed, err)
	}
	if files, err := filepath.Glob(filepath.Join(f.Dir, "r*")); err != nil || len(files) > 0 {
		t.Errorf("left %v: %v", files, err)
	}
}

func TestLockedRunIsNotDeleted(t *testing.T) {
	f := journal.Folder{Dir: t.TempDir()}
	keep(t, f, "r", started("g"))
	held, before, err := f.Open("r")
	if err != nil {
		t.Fatal(err)
	}
	if removed, err := f.Delete("r"); !errors.Is(err, journal.ErrLocked) || removed != nil {
		t.Errorf("removed %q: %v, want ErrLocked", removed, err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if after, err := f.Read("r"); err != nil || !reflect.DeepEqual(after, before) {
		t.Errorf("the locked run changed: %v", err)
	}
}

func TestConcurrentCreateAndDeleteExclude(t *testing.T) {
	t.Parallel()
	// Delete removes the lock file, which another process may have opened
	// meanwhile.
	f := journal.Folder{Dir: t.TempDir()}
	var holders, created atomic.Int32
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for range 25 {
				j, err := f.Create("r")
				if err == nil {
					if n := holders.Add(1); n > 1 {
						t.Errorf("%d workers hold the run", n)
					}
					created.Add(1)
					err = j.Append(sampleEvent(1, started("g")))
					holders.Add(-1)
					err = errors.Join(err, j.Close())
				}
				if err != nil && !errors.Is(err, journal.ErrLocked) && !errors.Is(err, fs.ErrExist) {
					t.Error(err)
				}
				if _, err := f.Delete("r"); err != nil && !errors.Is(err, journal.ErrLocked) && !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	if created.Load() < 2 {
		t.Errorf("created only %d times", created.Load())
	}
}

func TestLockOnDeletedFileIsInvalid(t *testing.T) {
	path := inTemp(t) + ".lock"
	lock := flock.New(path)
	if held, err := lock.TryLock(); err != nil || !held || !journal.Current(lock) {
		t.Fatalf("held %v: %v", held, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if journal.Current(lock) {
		t.Error("the lock is valid after its file was removed")
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if journal.Current(lock) {
		t.Error("the lock is valid although another file has the name")
	}
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
}

func TestUndoFolderBelongsToRun(t *testing.T) {
	f := journal.Folder{Dir: t.TempDir()}
	keep(t, f, "r", started("g"))
	for _, id := range []string{"r", "orphan", "held"} {
		dir := filepath.Join(f.Dir, id+".undo")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "manifest.jsonl"), make([]byte, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := f.List()
	if err != nil || len(list) != 1 || list[0].ID != "r" || list[0].Bytes <= 1000 {
		t.Errorf("got the runs %+v: %v", list, err)
	}
	held, err := f.Hold("held")
	if err != nil {
		t.Fatal(err)
	}
	orphans, err := f.Orphans()
	locked := map[string]bool{}
	for _, o := range orphans {
		locked[o.ID] = o.Locked
	}
	if err != nil || !maps.Equal(locked, map[string]bool{"orphan": false, "held": true}) {
		t.Errorf("got the orphans %v: %v", locked, err)
	}
	if _, err := f.Delete("held"); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("Delete of a held run: %v, want ErrLocked", err)
	}
	if err := held.Release(); err != nil {
		t.Error(err)
	}
	for _, id := range []string{"r", "orphan", "held"} {
		removed, err := f.Delete(id)
		if err != nil || !slices.Contains(removed, filepath.Join(f.Dir, id+".undo")) {
			t.Errorf("%s: removed %q: %v", id, removed, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(f.Dir, "*.*")); err != nil || !slices.Equal(left, []string{filepath.Join(f.Dir, ".key")}) {
		t.Errorf("left %v: %v", left, err)
	}
}

func TestHeldRunIsExclusive(t *testing.T) {
	f := journal.Folder{Dir: t.TempDir()}
	keep(t, f, "r", started("g"))
	held, err := f.Hold("r")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Open("r"); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("Open of a held run: %v, want ErrLocked", err)
	}
	if _, err := f.Hold("r"); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("second Hold: %v, want ErrLocked", err)
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	if j, _, err := f.Open("r"); err != nil {
		t.Error(err)
	} else if err := j.Close(); err != nil {
		t.Error(err)
	}
	if _, err := f.Hold("../r"); !errors.Is(err, plan.ErrBadID) {
		t.Errorf("Hold of a bad id: %v, want ErrBadID", err)
	}
}

func TestHeldRunIsAmendedOnceAndKeepsItsTime(t *testing.T) {
	undone := event.RunUndone{Files: []event.UndoneFile{{Path: strings.Repeat("long/", 60_000)}}} // becomes a file of its own
	for name, c := range map[string]struct {
		end  string
		want []event.Kind
	}{
		"whole":   {"", []event.Kind{event.KindRunStarted, event.KindRunUndone}},
		"torn":    {`{"torn`, []event.Kind{event.KindRunStarted, event.KindRunUndone}},
		"damaged": {"{\"torn\n", []event.Kind{event.KindRunStarted, event.KindJournalDamaged, event.KindRunUndone}},
	} {
		t.Run(name, func(t *testing.T) {
			f := journal.Folder{Dir: t.TempDir()}
			keep(t, f, "r", started("g"))
			text, err := os.ReadFile(f.Path("r"))
			if err != nil {
				t.Fatal(err)
			}
			then := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			if err := errors.Join(os.WriteFile(f.Path("r"), append(text, c.end...), 0o600), os.Chtimes(f.Path("r"), then, then)); err != nil {
				t.Fatal(err)
			}
			held, err := f.Hold("r")
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(held.Amend(undone, time.Now()), held.Amend(undone, time.Now()), held.Release()); err != nil {
				t.Fatal(err)
			}
			events, err := f.Read("r")
			var kinds []event.Kind
			for _, e := range events {
				kinds = append(kinds, e.Data.Kind())
			}
			if err != nil || !slices.Equal(kinds, c.want) || !reflect.DeepEqual(events[len(events)-1].Data, event.Data(undone)) {
				t.Errorf("got %v, %v", kinds, err)
			}
			if list, err := f.List(); err != nil || !list[0].Modified.Equal(then) {
				t.Errorf("got %+v, %v", list, err)
			}
		})
	}
}
