package journal_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/store/journal"
	"replan/internal/untrusted"
)

func TestCutJournalOpensAndContinues(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts no goroutine for the race detector to watch")
	}
	big := strings.Repeat("long text, ", 30_000)
	written := number(
		event.Note{Text: "one"},
		event.StepCompleted{Index: "1", Attempt: 1, Result: map[string]any{"text": big, "name": "a"}},
		event.StepCompleted{Index: "2", Attempt: 1, Result: big},
		event.Note{Text: "four"},
	)
	path := inTemp(t)
	store(t, path, written)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	more := sampleEvent(9, event.Note{Text: "after the cut"})
	for cut := range len(whole) + 1 {
		// Near the ends of lines every cut counts; elsewhere they are alike.
		if near := whole[max(0, cut-4):min(len(whole), cut+4)]; cut%4 > 0 && !bytes.Contains(near, []byte("\n")) {
			continue
		}
		// The lock file knows how many lines were on disk.
		if err := errors.Join(os.WriteFile(path, whole[:cut], 0o600), os.RemoveAll(path+".lock")); err != nil {
			t.Fatal(err)
		}
		want := bytes.Count(whole[:cut], []byte("\n"))
		j, got, err := journal.Open(path)
		if want == 0 {
			if !errors.Is(err, event.ErrNoEvents) {
				t.Fatalf("cut at %d: %v, want ErrNoEvents", cut, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if !reflect.DeepEqual(got, written[:want]) {
			t.Fatalf("cut at %d: %d events, want the first %d", cut, len(got), want)
		}
		if cut%16 > 0 && whole[cut-1] != '\n' { // continuing each time would sync the disk a thousand times
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := errors.Join(j.Append(more), j.Close()); err != nil {
			t.Fatal(err)
		}
		again, torn, err := journal.Read(path)
		if err != nil || torn || !reflect.DeepEqual(again, append(written[:want:want], more)) {
			t.Fatalf("cut at %d, one event appended: %d events, torn %v: %v", cut, len(again), torn, err)
		}
	}
}

func TestDamagedLastLineBecomesAnEvent(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts no goroutine for the race detector to watch")
	}
	from, good := write(t, 3)
	lines := bytes.SplitAfter(bytes.TrimSuffix(good, []byte("\n")), []byte("\n"))
	begin := len(good) - len(lines[2]) - 1
	want := append(events(3)[:2:2], event.Event{Seq: 3, Time: events(2)[1].Time, Run: "r", Data: event.JournalDamaged{Line: 3}})
	more := sampleEvent(9, event.Note{Text: "afterwards"})
	for at := begin; at < len(good); at++ {
		for _, bit := range []byte{1, 0x20} {
			flipped := bytes.Clone(good)
			flipped[at] ^= bit
			if flipped[at] == '\n' {
				continue // two lines, the first of them damaged
			}
			path := copied(t, from, flipped)
			j, got, err := journal.Open(path)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("byte %d of the line: %v: %v", at-begin, got, err)
			}
			if err := errors.Join(j.Append(more), j.Close()); err != nil {
				t.Fatal(err)
			}
			again, torn, err := journal.Read(path)
			if err != nil || torn || !reflect.DeepEqual(again, append(want[:3:3], more)) {
				t.Fatalf("byte %d of the line, one event appended: %v, torn %v: %v", at-begin, again, torn, err)
			}
		}
	}
}

func TestFailedOpenKeepsFile(t *testing.T) {
	from, good := write(t, 3)
	flipped := bytes.Clone(good)
	flipped[len(good)/2] ^= 1
	joined := bytes.Clone(good)
	joined[bytes.LastIndexByte(good[:len(good)-1], '\n')] ^= 1
	later := sealed(`{"v":2,"seq":1,"time":"2026-01-01T00:00:00Z","run":"r","kind":"note","data":{}}`)
	unreadable := sealed(`{"v":1,"seq":4,"time":"2026-01-01T00:00:00Z","run":"r","kind":"note","data":{"text":7}}`)
	cases := map[string]struct {
		text   string
		line   int
		reason error
	}{
		"damaged line in the middle":               {text: string(flipped), line: 2},
		"damaged break between the last two lines": {text: string(joined), line: 2},
		"only line has a later format":             {text: later, line: 1},
		"last line is unreadable":                  {text: string(good) + unreadable, line: 4},
		"torn line before the end":                 {text: string(good[:len(good)-9]) + "\n" + string(good), line: 3},
		"garbage before other lines":               {text: "garbage\n" + string(good), line: 1},
		"garbage before a torn line":               {text: "garbage\n" + string(good[:20]), line: 1},
		"only garbage":                             {text: "garbage\n", reason: event.ErrNoEvents},
		"empty file":                               {text: "", reason: event.ErrNoEvents},
		"torn first line":                          {text: string(good[:20]), reason: event.ErrNoEvents},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := copied(t, from, []byte(c.text))
			_, _, err := journal.Open(path)
			var damage *journal.DamageError
			switch {
			case c.reason != nil && !errors.Is(err, c.reason):
				t.Errorf("error %v, want %v", err, c.reason)
			case c.reason == nil && (!errors.As(err, &damage) || damage.Line != c.line || damage.Path != path):
				t.Errorf("error %v, want damage at line %d", err, c.line)
			}
			after, err := os.ReadFile(path)
			if err != nil || string(after) != c.text {
				t.Errorf("the file changed: %v", err)
			}
			// The lock is released.
			if _, _, err := journal.Open(path); errors.Is(err, journal.ErrLocked) {
				t.Error("the journal stays locked")
			}
		})
	}
}

func TestOpenOfMissingJournalCreatesNoFile(t *testing.T) {
	path := inTemp(t)
	if _, _, err := journal.Open(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want fs.ErrNotExist", err)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) > 0 {
		t.Errorf("files %v: %v", files, err)
	}
}

// child runs this test binary as another process that opens the journal, and
// returns its output. It ends with its standard input.
func child(t *testing.T, path string) (output string, cmd *exec.Cmd, input io.Closer) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdVariable+"="+path)
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	output, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(output), cmd, input
}

func TestTwoProcessesCannotOpenOneJournal(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*exec.Cmd, io.Closer) error{
		"closed":                func(_ *exec.Cmd, input io.Closer) error { return input.Close() },
		"killed":                func(cmd *exec.Cmd, _ io.Closer) error { return cmd.Process.Kill() },
		"without the lock file": func(_ *exec.Cmd, input io.Closer) error { return input.Close() },
	} {
		removed := name == "without the lock file"
		if removed && runtime.GOOS == "windows" {
			continue // there the file cannot be removed
		}
		t.Run(name, func(t *testing.T) {
			path, _ := write(t, 3)
			output, holder, input := child(t, path)
			if output != "held 3" {
				t.Fatalf("the holder printed %q", output)
			}
			if removed {
				if err := os.Remove(path + ".lock"); err != nil {
					t.Fatal(err)
				}
			}
			if list, err := (journal.Folder{Dir: filepath.Dir(path)}).List(); err != nil || !list[0].Locked {
				t.Errorf("listed as %+v: %v", list, err)
			}
			if _, _, err := journal.Open(path); !errors.Is(err, journal.ErrLocked) {
				t.Errorf("second Open: %v, want ErrLocked", err)
			}
			if _, err := (journal.Folder{Dir: filepath.Dir(path)}).Delete("r"); !errors.Is(err, journal.ErrLocked) {
				t.Errorf("Delete: %v, want ErrLocked", err)
			}
			if events, _, err := journal.Read(path); err != nil || len(events) != 3 {
				t.Errorf("concurrent reader: %d events: %v", len(events), err)
			}
			output, second, _ := child(t, path)
			if err := second.Wait(); output != "locked" || err != nil {
				t.Errorf("the third process printed %q: %v", output, err)
			}
			if err := end(holder, input); err != nil {
				t.Fatal(err)
			}
			_ = holder.Wait() // killed or not
			j, events, err := journal.Open(path)
			if err != nil || len(events) != 3 {
				t.Fatalf("afterwards: %d events: %v", len(events), err)
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFullDiskBreaksTheJournal(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("only Linux has a device that is always full")
	}
	j, err := journal.OnFile(full, inTemp(t))
	if err != nil {
		t.Fatal(err)
	}
	first := j.Append(events(1)...)
	if first == nil {
		t.Fatal("Append succeeded on a full disk")
	}
	if second := j.Append(events(1)...); !errors.Is(second, first) {
		t.Errorf("afterwards: %v, want %v", second, first)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func TestUnreadableValueIsNotWritten(t *testing.T) {
	path := inTemp(t)
	j, err := journal.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var deep any = "x"
	for range 9_999 { // the deepest nesting that decodes by itself
		deep = []any{deep}
	}
	if err := j.Append(sampleEvent(1, event.Note{Text: untrusted.Text(strings.Repeat("[", 20_000))})); err != nil {
		t.Errorf("brackets within a text: %v", err)
	}
	if err := j.Append(sampleEvent(2, event.StepCompleted{Index: "1", Result: deep})); err == nil {
		t.Error("a value nested too deep was accepted")
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if events, _, err := journal.Read(path); err != nil || len(events) != 1 {
		t.Errorf("%d events: %v", len(events), err)
	}
}
