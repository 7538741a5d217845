package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"replan/agent"
	"replan/agent/runner"
)

// asker puts questions to somebody who types, and tells what was said to them and
// what was sent for them.
type asker struct {
	t     *testing.T
	q     *questions
	typed *io.PipeWriter
	said  chan string // each write
	sent  chan runner.Command
}

// Write takes what is said to the user.
func (a *asker) Write(p []byte) (int, error) {
	a.said <- string(p)
	return len(p), nil
}

func newAsker(t *testing.T) *asker {
	t.Helper()
	in, typed := io.Pipe()
	a := &asker{t: t, typed: typed, said: make(chan string, 100), sent: make(chan runner.Command, 100)}
	var err error
	if a.q, err = newQuestions(in, &shared{out: a}, func(c runner.Command) { a.sent <- c }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = typed.Close()
		a.q.close()
	})
	return a
}

// hears holds what is said to the user next.
func (a *asker) hears(want string) {
	a.t.Helper()
	if got := <-a.said; got != want {
		a.t.Fatalf("it says %q, want %q", got, want)
	}
}

// types answers with a line.
func (a *asker) types(line string) {
	a.t.Helper()
	if _, err := io.WriteString(a.typed, line+"\n"); err != nil {
		a.t.Fatal(err)
	}
}

// sends holds what is sent next.
func (a *asker) sends(want runner.Command) {
	a.t.Helper()
	if got := <-a.sent; got != want {
		a.t.Fatalf("it sends %+v, want %+v", got, want)
	}
}

const choice = " [y]es once, [r] for this run, [n]o: "

func gateOf(gate, step, tool string) question {
	return gateQuestion("r", agent.GateRequested{Gate: gate, Step: step, Tool: tool})
}

func TestAQuestionIsAskedWhenTheOneBeforeItIsAnswered(t *testing.T) {
	a := newAsker(t)
	a.q.put(gateOf("first", "1", "fs.patch"))
	a.q.put(gateOf("second", "2", "test.run\x1b[2J"))
	a.hears("  open this gate? (1 fs.patch)" + choice)
	a.types("y")
	a.sends(runner.Resolve{Run: "r", Gate: "first", Decision: agent.Allow, Scope: agent.ScopeOnce})
	a.hears("  open this gate? (2 test.run^[[2J)" + choice)
	a.types("run")
	a.sends(runner.Resolve{Run: "r", Gate: "second", Decision: agent.Allow, Scope: agent.ScopeRun})
}

func TestWhatIsNoAnswerIsAskedAgainAndTheEndOfInputIsTheCarefulOne(t *testing.T) {
	a := newAsker(t)
	a.q.put(gateOf("g", "1", "fs.patch"))
	prompt := "  open this gate? (1 fs.patch)" + choice
	for _, line := range []string{"", "yse", "d"} {
		a.hears(prompt)
		a.types(line)
	}
	a.hears(prompt)
	_ = a.typed.Close()
	a.sends(runner.Resolve{Run: "r", Gate: "g", Decision: agent.Deny, Scope: agent.ScopeOnce})
	a.hears("\n") // since nobody pressed enter
}

func TestWhatWasDecidedMeanwhileIsAskedNoMore(t *testing.T) {
	a := newAsker(t)
	for _, gate := range []string{"first", "second", "third"} {
		a.q.put(gateOf(gate, gate, "fs.patch"))
	}
	a.hears("  open this gate? (first fs.patch)" + choice)
	a.q.decided("r", "first")
	a.q.decided("r", "second")
	a.types("y") // to a question that is open no more
	a.hears("  open this gate? (third fs.patch)" + choice)
	a.types("n")
	a.sends(runner.Resolve{Run: "r", Gate: "third", Decision: agent.Deny, Scope: agent.ScopeOnce})
}

func TestWhatHappensWhileAQuestionIsOpenStandsOnLinesOfItsOwn(t *testing.T) {
	a := newAsker(t)
	a.q.put(gateOf("g", "1", "fs.patch"))
	prompt := "  open this gate? (1 fs.patch)" + choice
	a.hears(prompt)
	if _, err := io.WriteString(a.q.out, "✓ step 2\n"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n", "✓ step 2\n", prompt} {
		a.hears(want)
	}
	a.types("y")
	a.sends(runner.Resolve{Run: "r", Gate: "g", Decision: agent.Allow, Scope: agent.ScopeOnce})
	if _, err := io.WriteString(a.q.out, "✓ step 1\n"); err != nil {
		t.Fatal(err)
	}
	a.hears("✓ step 1\n")
}

func TestWhatCannotBeToldIsSaidInWords(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"a pipe that nobody reads": {&fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}, "write to standard output: nobody reads it any more"},
		"a disk that is full":      {&fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}, "write to standard output: no space left on device"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := wrap(writing, c.err).Error(); got != c.want {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
}

func TestInstructionsAreCutBetweenRunes(t *testing.T) {
	for _, before := range []int{0, 1, 2, 3} {
		folder := t.TempDir()
		whole := strings.Repeat("x", before) + strings.Repeat("🙂", maxInstructions/4+5)
		if err := os.WriteFile(filepath.Join(folder, "AGENTS.md"), []byte(whole), 0o600); err != nil {
			t.Fatal(err)
		}
		text, note, err := readInstructions(folder)
		if err != nil || note != "" {
			t.Fatalf("note %q, error %v", note, err)
		}
		kept, mark, _ := strings.Cut(text, "\n")
		if !utf8.ValidString(kept) || !strings.HasPrefix(whole, kept) || len(kept) > maxInstructions || len(kept) <= maxInstructions-utf8.UTFMax {
			t.Errorf("%d bytes before: %d bytes are kept, valid: %v", before, len(kept), utf8.ValidString(kept))
		}
		if want := fmt.Sprintf("[%d bytes of AGENTS.md left out]", len(whole)-len(kept)); mark != want {
			t.Errorf("marked %q, want %q", mark, want)
		}
	}
}

func TestInstructionsThatAreNone(t *testing.T) {
	folder := t.TempDir()
	if text, note, err := readInstructions(folder); text+note != "" || err != nil {
		t.Errorf("nothing there: text %q, note %q, error %v", text, note, err)
	}
	if err := os.Mkdir(filepath.Join(folder, "AGENTS.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	if text, note, err := readInstructions(folder); text != "" || !strings.Contains(note, "left out") || err != nil {
		t.Errorf("a folder: text %q, note %q, error %v", text, note, err)
	}
}
