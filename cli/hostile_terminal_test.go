//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// raw are the parts of hostile that a terminal would obey, and that the program never
// writes of its own.
var raw = []string{
	"]0;OWN", "\x1b]52;c;T1dO", "\x1b]8;;http://x", "\x1b[6666X", "\x1bP1$q", "\u009b", "\u202e", "\u200b", "\u2066", "\x01", "\U000E0041", "\u2028",
}

// checkRaw fails if a screen obeyed hostile text.
func checkRaw(t *testing.T, out string) {
	t.Helper()
	for _, part := range raw {
		if at := strings.Index(out, part); at >= 0 && (part != "]0;OWN" || strings.HasSuffix(out[:at], "\x1b")) {
			t.Errorf("the screen got %q in %q", part, out[max(0, at-60):min(len(out), at+60)])
		}
	}
	if !utf8.ValidString(out) {
		t.Error("the screen got bytes that are no text")
	}
}

// TestHostileTextLeavesNoScreenRaw looks at a hostile run, at a hostile question and at
// hostile names on the full screen.
func TestHostileTextLeavesNoScreenRaw(t *testing.T) {
	if testing.Short() {
		t.Skip("other tests look for races of the screen")
	}
	w := newHostileWorld(t)
	t.Chdir(w.folder)
	if code, out, errs := w.run(t.Context(), false, "plan", "run", "plan.json", "--approve", "all"); code != 0 {
		t.Fatalf("the plan did not run: exit code %d, %s%s", code, out, errs)
	}
	at := program{folder: w.folder, home: w.home, env: []string{"OLLAMA_HOST=" + w.host}, width: 160, height: 50}
	at.args = []string{"replay", "last", "--speed", "0"}
	s := open(t, at)
	s.until(0, "evil")
	s.keys("\t\r\t\r\x1b[B\r\x1b[B\r") // its panes and steps
	s.until(0, "r-")
	s.keys(ctrlD)
	checkRaw(t, s.end(0))

	at.args = nil
	s = open(t, at) // asks about the servers of the project
	s.until(0, "evil")
	s.keys(ctrlC)
	checkRaw(t, s.end(0))

	if err := os.Remove(filepath.Join(w.folder, ".mcp.json")); err != nil {
		t.Fatal(err)
	}
	s = open(t, at)
	s.until(0, "scripted")
	from := s.mark()
	s.keys("/nosuch \u202e\u009b\r")
	s.until(from, "there is no command")
	s.keys(ctrlD)
	checkRaw(t, s.end(0))
}
