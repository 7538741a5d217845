package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"replan/agent"
	"replan/agent/runner"
)

// heard is a writer that keeps what happened, one entry a write.
type heard struct{ happened []string }

func (h *heard) Write(p []byte) (int, error) {
	h.happened = append(h.happened, string(p))
	return len(p), nil
}

func TestAQuestionIsAskedWhenTheOneBeforeItIsAnswered(t *testing.T) {
	// Only the listener writes to heard, until both answers are out.
	var out heard
	answered := make(chan struct{})
	q, err := newQuestions(strings.NewReader("y\nn\n"), &out, func(c runner.Command) {
		r, ok := c.(runner.Resolve)
		if !ok {
			t.Errorf("%T was sent", c)
		}
		out.happened = append(out.happened, fmt.Sprintf("%s %s", r.Gate, r.Decision))
		answered <- struct{}{}
	})
	if err != nil {
		t.Fatal(err)
	}
	q.put("r", agent.GateRequested{Gate: "first", Step: "1", Tool: "fs.patch"})
	q.put("r", agent.GateRequested{Gate: "second", Step: "2", Tool: "test.run\x1b[2J"})
	<-answered
	<-answered
	q.close()
	const choice = " [y]es once, [r] for this run, [n]o: "
	want := []string{
		"  open this gate? (1 fs.patch)" + choice, fmt.Sprintf("first %s", agent.Allow),
		"  open this gate? (2 test.run^[[2J)" + choice, fmt.Sprintf("second %s", agent.Deny),
	}
	if !slices.Equal(out.happened, want) {
		t.Errorf("got %q\nwant %q", out.happened, want)
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
