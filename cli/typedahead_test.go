//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"testing"
)

// A paste of several lines, or a key meant for something else, must not open a
// gate that the user has not seen.
func TestInputTypedAheadOpensNoGate(t *testing.T) {
	line := newLifeline(t)
	folder := t.TempDir()
	write(t, filepath.Join(folder, "two.json"), `{"id":"two-1","title":"Two","steps":[
		{"index":"1","title":"Hold","tool":"proc.run","args":{"argv":["toolserver","!hold"]}},
		{"index":"2","title":"Write","tool":"proc.run","args":{"argv":["touch","opened.txt"]},"depends_on":["1"]}]}`)
	s := open(t, program{folder: folder, env: []string{"ALIVE=" + line.addr()}, args: []string{"plan", "run", "two.json", "--plain"}})
	s.until(0, "Allow proc.run in step 1?")
	at := s.mark()
	s.keys("y\n")
	line.held()
	s.until(at, "1 Hold")
	at = s.mark()
	s.keys("y\ny\ny")
	s.until(at, "y") // the terminal's echo
	_ = line.conn.Close()
	s.until(at, "Allow proc.run in step 2?")
	s.keys("\n") // only this empty line is read, not the y before it
	s.until(at, "Allow proc.run in step 2? [y]es, [r] for this run, [a]lways, [n]o, [e]dit, [?]: Allow")
	s.keys("n\n") // final: no further question
	s.end(3)
	if _, err := os.Stat(filepath.Join(folder, "opened.txt")); err == nil {
		t.Error("input typed before the gate opened it")
	}
}

func TestInputTypedAheadStartsNoProjectServer(t *testing.T) {
	folder := t.TempDir()
	started := filepath.Join(folder, "started.txt")
	write(t, filepath.Join(folder, ".mcp.json"), `{"mcpServers": {"word": {"command": "toolserver", "env": {"TTY_REPORT": "`+started+`"}}}}`)
	write(t, filepath.Join(folder, "look.json"), lookPlan)
	s := open(t, program{folder: folder, args: []string{"plan", "run", "look.json", "--plain"}})
	s.keys("y\n")
	s.until(0, "of this project?")
	s.keys("n\n")
	s.until(0, "Done in")
	s.end(0)
	if _, err := os.Stat(started); err == nil {
		t.Error("input typed before the question started the server")
	}
}
