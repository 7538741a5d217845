//go:build unix

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// replan runs the program without a terminal and returns its output.
func replan(t *testing.T, folder, home string, args ...string) string {
	t.Helper()
	cmd := exec.Command("replan", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "OLLAMA_HOST=127.0.0.1:1", "REPLAN_HOME="+home, "GOGC="+lessCollection)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("replan %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

const lookPlan = `{"id":"look-1","title":"Look around","steps":[{"title":"List what is there","tool":"fs.list","args":{"path":"."}}]}`

// The chat offers the command line's commands for plans and runs, and shows the
// runs that they start.
func TestChatRunsCommands(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "look.json"), lookPlan)
	s := open(t, program{folder: folder, width: 200, height: 50})
	s.until(0, "ollama serve")
	for _, c := range []struct{ typed, shown string }{
		{"/plan import look.json\r", "saved as look-1"},
		{"/plan show look\r", "1. List what is there"},
		{"/plan run look\r", "✓ done"},
		{"/runs\r", "replans"},
		{"/fly\r", "there is no command /fly"},
		{"/plan delete look\r", "removed"},
	} {
		at := s.mark()
		s.keys(c.typed)
		s.until(at, c.shown)
	}
	s.keys(ctrlD)
	s.end(0)
}

func TestReplayIsShownOnScreen(t *testing.T) {
	folder, home := t.TempDir(), t.TempDir()
	write(t, filepath.Join(folder, "look.json"), lookPlan)
	replan(t, folder, home, "plan", "run", "look.json")
	s := open(t, program{folder: folder, home: home, args: []string{"replay", "r-", "--speed", "0"}})
	s.until(0, "List what is there")
	s.keys(ctrlD)
	s.end(0)
}

// The screen shows the earlier conversation again, and its runs are still known.
func TestContinueRestoresConversationOnScreen(t *testing.T) {
	t.Parallel()
	folder, home := t.TempDir(), t.TempDir()
	write(t, filepath.Join(folder, "look.json"), lookPlan)
	replan(t, folder, home, "run", "/plan run look.json")
	s := open(t, program{folder: folder, home: home, args: []string{"--continue"}, width: 200, height: 50})
	s.until(0, "/plan run look.json")
	at := s.mark()
	s.keys("/runs\r")
	s.until(at, "replans")
	s.keys(ctrlD)
	s.end(0)
}

// An answer that takes time would delay the command, or reach the shell.
func TestListingsAskTheTerminalNothing(t *testing.T) {
	folder, home := t.TempDir(), t.TempDir()
	write(t, filepath.Join(folder, "look.json"), lookPlan)
	replan(t, folder, home, "plan", "run", "look.json")
	s := open(t, program{folder: folder, home: home, args: []string{"runs"}, env: []string{"COLORFGBG="}})
	s.until(0, "Look around")
	out := s.end(0)
	if !strings.Contains(out, "\x1b[") || strings.Contains(out, "\x1b]11;?") || strings.Contains(out, "\x1b[c") {
		t.Errorf("got %q, want colors and no questions to the terminal", out)
	}
}

func TestChatCommandsWithoutTheScreenAnswerInPlainText(t *testing.T) {
	folder, home := t.TempDir(), t.TempDir()
	write(t, filepath.Join(folder, "look.json"), lookPlan)
	replan(t, folder, home, "plan", "run", "look.json")
	s := open(t, program{folder: folder, home: home, args: []string{"run", "/runs"}})
	s.until(0, "replans")
	if out := s.end(0); strings.Contains(out, "^[") {
		t.Errorf("the answer shows escape codes: %q", out)
	}
}
