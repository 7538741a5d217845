//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lookupFolder returns a folder with a file of Go that declares Lookup.
func lookupFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m\n", "a.go": "package m\n\nfunc Lookup() {}\n\nfunc Use() { Lookup() }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPlainRefusalAsksWhichOrderWasMeant(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"run":   {"run", "move Lookup to lookup.go"},
		"plain": {"--plain", "move Lookup to lookup.go"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, program{args: args, folder: lookupFolder(t), env: []string{"REPLAN_TEST_QUIET=1ms"}})
			s.until(0, "Did you mean:", "[1] find where Lookup is defined", "[2] where is Lookup used", "its number, or [enter] for none: ")
			at := s.mark()
			s.keys("7") // there is no such order
			s.until(at, "its number")
			s.keys("1")
			s.until(at, "a.go:3")
			s.end(0)
		})
	}
}

func TestPlainRefusalWithoutAnOrderSaysHowToGetAModel(t *testing.T) {
	t.Parallel()
	s := open(t, program{args: []string{"run", "rnu teh tests"}, folder: lookupFolder(t), env: []string{"REPLAN_TEST_QUIET=1ms"}})
	s.until(0, "[1] run the tests", "for none: ")
	s.keys("\r")
	s.until(0, "Ollama does not answer")
	if out := s.end(5); strings.Count(out, "I do not understand") != 1 {
		t.Errorf("the refusal is said again:\n%s", out)
	}
}
