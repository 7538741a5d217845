package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replan/internal/redact"
	"replan/mcpclient/workspace"
)

func TestOperatorsCannotAccessPrivateFolders(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, ".config", "replan")
	if err := os.MkdirAll(own, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(own, "config.toml"), []byte("# needle\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(".config", "replan"), filepath.Join(dir, "link")); err != nil {
		t.Skip("cannot create links")
	}
	b := newBench(t, workspace.Config{Dir: dir, Private: []string{own, filepath.Join(dir, "state")}})
	for name, c := range map[string]struct {
		tool string
		args map[string]any
	}{
		"read":                                {"fs.read", map[string]any{"path": ".config/replan/config.toml"}},
		"read through a link":                 {"fs.read", map[string]any{"path": "link/config.toml"}},
		"read in another case":                {"fs.read", map[string]any{"path": ".config/REPLAN/config.toml"}},
		"stat":                                {"fs.stat", map[string]any{"path": ".config/replan"}},
		"list":                                {"fs.list", map[string]any{"path": ".config/replan"}},
		"search":                              {"fs.search", map[string]any{"path": ".config/replan", "query": "needle"}},
		"write":                               {"fs.write", map[string]any{"path": ".config/replan/config.toml", "text": "x"}},
		"write a new file":                    {"fs.write", map[string]any{"path": ".config/replan/mcp.json", "text": "x"}},
		"write into a missing private folder": {"fs.write", map[string]any{"path": "state/runs/x.jsonl", "text": "x"}},
		"patch":                               {"fs.patch", map[string]any{"path": ".config/replan/config.toml", "old": "needle", "new": "x"}},
		"remove":                              {"fs.remove", map[string]any{"path": ".config/replan/config.toml"}},
		"remove the parent folder":            {"fs.remove", map[string]any{"path": ".config"}},
		"move the parent folder":              {"fs.move", map[string]any{"from": ".config", "to": "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			b.Refused(t, c.tool, c.args, "belongs to replan itself")
		})
	}
	for tool, args := range map[string]map[string]any{
		"fs.list":   {"depth": 5},
		"fs.search": {"query": "needle"},
	} {
		if got := b.Must(t, tool, args); strings.Contains(fmt.Sprint(got), "config.toml") {
			t.Errorf("%s shows %v", tool, got)
		}
	}
	text, err := os.ReadFile(filepath.Join(own, "config.toml"))
	if err != nil || string(text) != "# needle\n" {
		t.Errorf("got file content %q: %v", text, err)
	}
}

func TestRedactedSecretsAreNotWritten(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{".env": "A=1\nKEY=sk-abcdefghijklmnop1234\n"})
	text := redact.Prompt("A=2\nKEY=sk-abcdefghijklmnop1234\n")
	b.Refused(t, "fs.write", args{"path": ".env", "text": text}, "placeholder of a secret", "nothing was done")
	b.Refused(t, "fs.patch", args{"path": ".env", "old": "A=1", "new": text}, "placeholder of a secret")
	b.Refused(t, "proc.run", args{"argv": []any{"echo", text}}, "placeholder of a secret")
	b.Must(t, "fs.patch", args{"path": ".env", "old": "A=1", "new": "A=2"})
	b.Same(t, map[string]string{".env": "A=2\nKEY=sk-abcdefghijklmnop1234\n"})
}
