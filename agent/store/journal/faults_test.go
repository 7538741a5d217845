package journal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/store/journal"
)

var errDisk = errors.New("input/output error")

// faulty is a disk on which a number of calls succeed, and no later one.
type faulty struct {
	journal.Disk
	left    int
	written func(n int) int // of n bytes, those that reach the disk when a write fails
}

func (f *faulty) fails() bool {
	f.left--
	return f.left < 0
}

func (f *faulty) Write(p []byte) (int, error) {
	if !f.fails() {
		return f.Disk.Write(p)
	}
	n, err := f.Disk.Write(p[:f.written(len(p))])
	return n, errors.Join(err, errDisk)
}

func (f *faulty) Sync() error {
	if f.fails() {
		return errDisk
	}
	return f.Disk.Sync()
}

func (f *faulty) Truncate(size int64) error {
	if f.fails() {
		return errDisk
	}
	return f.Disk.Truncate(size)
}

func (f *faulty) Read(p []byte) (int, error) {
	if f.fails() {
		return 0, errDisk
	}
	return f.Disk.Read(p)
}

// shortWrites are the numbers of bytes that a failing write may leave.
var shortWrites = map[string]func(int) int{
	"nothing":            func(int) int { return 0 },
	"one byte":           func(int) int { return 1 },
	"half of a line":     func(n int) int { return n / 2 },
	"all but line break": func(n int) int { return n - 1 },
	"everything":         func(n int) int { return n },
}

// continued opens a journal, appends an event, and returns what was there before.
func continued(t *testing.T, path string) []event.Event {
	t.Helper()
	j, found, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	more := sampleEvent(99, event.Note{Text: "more"})
	if err := errors.Join(j.Append(more), j.Close()); err != nil {
		t.Fatal(err)
	}
	if again, torn, err := journal.Read(path); err != nil || torn || !reflect.DeepEqual(again, append(found[:len(found):len(found)], more)) {
		t.Fatalf("%d events after one more than %d, torn %t: %v", len(again), len(found), torn, err)
	}
	return found
}

func TestFailedWriteOrSyncEndsTheJournalAtAWholeLine(t *testing.T) {
	t.Parallel()
	written := number(event.Note{Text: "a"}, event.Note{Text: "b"}, event.Note{Text: "c"}, event.Note{Text: "d"})
	for name, short := range shortWrites {
		for calls := 2; calls < 2*len(written); calls++ { // a write and a sync each
			t.Run(fmt.Sprintf("%s after %d calls", name, calls), func(t *testing.T) {
				path := inTemp(t)
				j, err := journal.CreateOn(path, func(d journal.Disk) journal.Disk { return &faulty{d, calls, short} })
				if err != nil {
					t.Fatal(err)
				}
				kept := 0
				var failed error
				for _, e := range written {
					switch err := j.Append(e); {
					case err == nil && failed != nil:
						t.Fatalf("event %d was appended after %v", e.Seq, failed)
					case err == nil:
						kept++
					case !errors.Is(err, errDisk):
						t.Fatal(err)
					default:
						failed = err
					}
				}
				if failed == nil || kept != calls/2 {
					t.Fatalf("%d events were kept, then %v", kept, failed)
				}
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
				found := continued(t, path)
				if len(found) > kept+1 || len(found) < kept || !reflect.DeepEqual(found, written[:len(found)]) {
					t.Errorf("found %d events after %d were kept", len(found), kept)
				}
			})
		}
	}
}

func TestFailedOpenActsOnNothing(t *testing.T) {
	from, good := write(t, 3)
	torn := good[:len(good)-5]
	for calls := range 4 { // two reads, a cut and a sync
		path := copied(t, from, torn)
		j, events, err := journal.OpenOn(path, func(d journal.Disk) journal.Disk { return &faulty{Disk: d, left: calls} })
		if !errors.Is(err, errDisk) || j != nil || events != nil {
			t.Fatalf("after %d calls: %d events, %v", calls, len(events), err)
		}
		if found := continued(t, path); len(found) != 2 {
			t.Errorf("after %d calls: %d events are left", calls, len(found))
		}
	}
}

// Neither the folder of large values nor a file in it can be made.
func TestValueThatCannotBeKeptWritesNoLine(t *testing.T) {
	note := event.Note{Text: "x"}
	for name, block := range map[string]func(t *testing.T, path string){
		"folder": func(t *testing.T, path string) { writeFile(t, filepath.Join(filepath.Dir(path), "r.values"), "") },
		"file":   func(t *testing.T, path string) { blockValues(t, path) },
	} {
		t.Run(name, func(t *testing.T) {
			path := inTemp(t)
			j, err := journal.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Append(sampleEvent(1, note)); err != nil {
				t.Fatal(err)
			}
			block(t, path)
			failed := j.Append(sampleEvent(2, event.StepCompleted{Index: "1", Attempt: 1, Result: text(journal.MaxValue)}))
			if failed == nil {
				t.Fatal("the value was kept")
			}
			if err := j.Append(sampleEvent(3, note)); !errors.Is(err, failed) {
				t.Errorf("afterwards: %v, want %v", err, failed)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			if found := continued(t, path); len(found) != 1 {
				t.Errorf("found %d events, want 1", len(found))
			}
		})
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// blockValues puts a folder where the value's file would be.
func blockValues(t *testing.T, path string) {
	t.Helper()
	probe := filepath.Join(t.TempDir(), "p.jsonl")
	store(t, probe, number(event.StepCompleted{Index: "1", Attempt: 1, Result: text(journal.MaxValue)}))
	for _, name := range valueFiles(t, probe) {
		if err := os.MkdirAll(filepath.Join(filepath.Dir(path), "r.values", filepath.Base(name)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// recut writes the first bytes of a journal in its place, and keeps its lock file.
func recut(t *testing.T, cut func(lines []string) string) (path string, written []event.Event) {
	t.Helper()
	path, good := write(t, 5)
	writeFile(t, path, cut(strings.SplitAfter(strings.TrimSuffix(string(good), "\n"), "\n")))
	return path, events(5)
}

func TestMissingEndIsNoticed(t *testing.T) {
	for left := range 4 {
		path, _ := recut(t, func(lines []string) string { return strings.Join(lines[:left], "") })
		_, _, err := journal.Open(path)
		var damage journal.DamageError
		if !asDamage(err, &damage) || damage.Line != left+1 || !strings.Contains(damage.Why, "lines are missing") {
			t.Errorf("%d of 5 lines left: %v", left, err)
		}
		if err := os.Remove(path + ".lock"); err != nil {
			t.Fatal(err)
		}
		if left == 0 {
			continue
		}
		if found := continued(t, path); len(found) != left { // the remedy that the error names
			t.Errorf("%d of 5 lines left: resumed after %d", left, len(found))
		}
	}
}

// One missing line may have recorded the start of a step, like a damaged one.
func TestMissingLastLineCountsAsDamaged(t *testing.T) {
	for name, end := range map[string]func(line string) string{
		"whole":     func(string) string { return "" },
		"in part":   func(line string) string { return line[:len(line)/2] },
		"line only": func(line string) string { return strings.TrimSuffix(line, "\n") },
	} {
		t.Run(name, func(t *testing.T) {
			path, written := recut(t, func(lines []string) string { return strings.Join(lines[:4], "") + end(lines[4]) })
			found := continued(t, path)
			want := append(written[:4:4], event.Event{Seq: 5, Time: written[3].Time, Run: "r", Data: event.JournalDamaged{Line: 5}})
			if !reflect.DeepEqual(found, want) {
				t.Errorf("found %v", found)
			}
			continued(t, path)
		})
	}
}

// A kill between the sync of a line and the record of it loses nothing.
func TestJournalMayHoldMoreLinesThanRecorded(t *testing.T) {
	for _, head := range []string{"", "\x00", "\x00                  4\n", "\x00nonsense"} {
		path, _ := write(t, 5)
		writeFile(t, path+".lock", head)
		if found := continued(t, path); len(found) != 5 {
			t.Errorf("found %d events with the record %q", len(found), head)
		}
	}
}

func TestNewJournalDoesNotInheritTheRecordOfARemovedOne(t *testing.T) {
	path, _ := write(t, 5)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	store(t, path, events(2))
	if found := continued(t, path); len(found) != 2 {
		t.Errorf("found %d events", len(found))
	}
}

func TestAmendedJournalMissesNothing(t *testing.T) {
	path, _ := recut(t, func(lines []string) string { return strings.Join(lines[:2], "") })
	f := journal.Folder{Dir: filepath.Dir(path)}
	held, err := f.Hold("r")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release() //nolint:errcheck // the test is over
	var damage journal.DamageError
	if err := held.Amend(event.RunUndone{}, events(1)[0].Time); !asDamage(err, &damage) || damage.Line != 3 {
		t.Errorf("amended a journal without its last lines: %v", err)
	}
}
