//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"testing"
)

// A child process that can open the terminal could answer the next gate itself.
func TestChildrenHaveNoTerminal(t *testing.T) {
	folder := t.TempDir()
	servers := filepath.Join(t.TempDir(), "servers.json")
	byServer, byCommand := filepath.Join(folder, "server.txt"), filepath.Join(folder, "command.txt")
	write(t, servers, `{"mcpServers": {"word": {"command": "toolserver", "env": {"TTY_REPORT": "`+byServer+`"}}}}`)
	write(t, filepath.Join(folder, "look.json"), `{"id":"look-1","title":"Look","steps":[
		{"index":"1","title":"Ask","tool":"word:lookup","args":{"word":"x"}},
		{"index":"2","title":"Open the terminal","tool":"proc.run","args":{"argv":["toolserver","!tty","`+byCommand+`"]},"depends_on":["1"]}]}`)
	s := open(t, program{folder: folder, args: []string{"plan", "run", "look.json", "--plain", "--approve", "all", "--mcp-config", servers}})
	s.until(0, "Done in")
	s.end(0)
	for _, file := range []string{byServer, byCommand} {
		report, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(report) != "ENXIO" {
			t.Errorf("%s: opening /dev/tty: %s, want ENXIO", filepath.Base(file), report)
		}
	}
}
