//go:build unix

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// replan runs the program without a terminal and returns what it says.
func replan(t *testing.T, folder, home string, args ...string) string {
	t.Helper()
	cmd := exec.Command("replan", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "OLLAMA_HOST=127.0.0.1:1", "REPLAN_HOME="+home)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("replan %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

const lookPlan = `{"id":"look-1","title":"Look around","steps":[{"title":"List what is there","tool":"fs.list","args":{"path":"."}}]}`

// What the command line does with plans and runs, the chat does too, and a run
// that it starts is shown as any other.
func TestCommandsInTheChat(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "look.json"), lookPlan)
	s := open(t, program{folder: folder, width: 200, height: 50})
	s.until(0, "ollama serve")
	for _, c := range []struct{ typed, shown string }{
		{"/plan import look.json\r", "kept as look-1"},
		{"/plan show look\r", "1. List what is there"},
		{"/plan run look\r", "✓ done"},
		{"/runs\r", "goal_met"},
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

func TestAReplayOnTheScreen(t *testing.T) {
	folder, home := t.TempDir(), t.TempDir()
	write(t, filepath.Join(folder, "look.json"), lookPlan)
	replan(t, folder, home, "plan", "run", "look.json")
	s := open(t, program{folder: folder, home: home, args: []string{"replay", "r-", "--speed", "0"}})
	s.until(0, "List what is there")
	s.keys(ctrlD)
	s.end(0)
}

// What was said before is on the screen again, and the run that was left undone
// goes on.
func TestASessionGoesOnOnTheScreen(t *testing.T) {
	folder, home := t.TempDir(), t.TempDir()
	write(t, filepath.Join(folder, "look.json"), lookPlan)
	replan(t, folder, home, "run", "/plan run look.json")
	s := open(t, program{folder: folder, home: home, args: []string{"--continue"}, width: 200, height: 50})
	s.until(0, "/plan run look.json")
	at := s.mark()
	s.keys("/runs\r")
	s.until(at, "goal_met")
	s.keys(ctrlD)
	s.end(0)
}
