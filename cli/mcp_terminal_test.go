//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const f5 = "\x1b[15~"

func TestImportAddsTheServersThatTheUserPicks(t *testing.T) {
	t.Parallel()
	folder, home := t.TempDir(), t.TempDir()
	write(t, filepath.Join(folder, "other.json"), `{"mcpServers": {"first": {"command": "one"}, "second": {"command": "two"}}}`)
	s := open(t, program{folder: folder, home: home, args: []string{"mcp", "import", "other.json"}, width: 120})
	s.until(0, "add first  one?")
	at := s.mark()
	s.keys("n\r")
	s.until(at, "add second  two?")
	s.keys("y\r")
	s.until(at, "added")
	s.end(0)
	text, err := os.ReadFile(filepath.Join(home, "mcp.json")) //nolint:gosec // a file of this test
	if err != nil || strings.Contains(string(text), "first") || !strings.Contains(string(text), `"command": "two"`) {
		t.Errorf("got %s, %v", text, err)
	}
}

// New servers of the user's own file start; those of the project's wait for a yes.
func TestF5ReadsServerFilesAgain(t *testing.T) {
	t.Parallel()
	folder, home := t.TempDir(), t.TempDir()
	s := open(t, program{folder: folder, home: home, width: 120, height: 40})
	s.until(0, "ollama serve")
	replan(t, folder, home, "mcp", "add", "glossary", "--", "toolserver", "glossary")
	at := s.mark()
	s.keys(f5)
	s.until(at, "1 server starting", "of 2 servers") // it may start before the next frame
	replan(t, folder, home, "mcp", "add", "hers", "--project", "--", "toolserver", "hers")
	at = s.mark()
	s.keys(f5)
	s.until(at, "hers")
	s.signal(syscall.SIGTERM)
	s.end(0)
}
