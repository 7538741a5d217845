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

func TestNoOperatorTouchesWhatBelongsToTheProgramItself(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, ".config", "replan")
	if err := os.MkdirAll(own, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(own, "config.toml"), []byte("# needle\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(".config", "replan"), filepath.Join(dir, "link")); err != nil {
		t.Skip("no links here")
	}
	b := newBench(t, workspace.Config{Dir: dir, Private: []string{own, filepath.Join(dir, "state")}})
	for name, c := range map[string]struct {
		tool string
		args map[string]any
	}{
		"reading":                     {"fs.read", map[string]any{"path": ".config/replan/config.toml"}},
		"reading through a link":      {"fs.read", map[string]any{"path": "link/config.toml"}},
		"reading in another case":     {"fs.read", map[string]any{"path": ".config/REPLAN/config.toml"}},
		"looking at it":               {"fs.stat", map[string]any{"path": ".config/replan"}},
		"listing":                     {"fs.list", map[string]any{"path": ".config/replan"}},
		"searching in it":             {"fs.search", map[string]any{"path": ".config/replan", "query": "needle"}},
		"writing":                     {"fs.write", map[string]any{"path": ".config/replan/config.toml", "text": "x"}},
		"writing a new file":          {"fs.write", map[string]any{"path": ".config/replan/mcp.json", "text": "x"}},
		"writing in one that is none": {"fs.write", map[string]any{"path": "state/runs/x.jsonl", "text": "x"}},
		"patching":                    {"fs.patch", map[string]any{"path": ".config/replan/config.toml", "old": "needle", "new": "x"}},
		"removing":                    {"fs.remove", map[string]any{"path": ".config/replan/config.toml"}},
		"removing what holds it":      {"fs.remove", map[string]any{"path": ".config"}},
		"moving what holds it":        {"fs.move", map[string]any{"from": ".config", "to": "c"}},
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
		t.Errorf("the file holds %q: %v", text, err)
	}
}

func TestNothingThatStandsForASecretIsWritten(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{".env": "A=1\nKEY=sk-abcdefghijklmnop1234\n"})
	text := redact.Prompt("A=2\nKEY=sk-abcdefghijklmnop1234\n")
	b.Refused(t, "fs.write", args{"path": ".env", "text": text}, "stands for a secret", "nothing was done")
	b.Refused(t, "fs.patch", args{"path": ".env", "old": "A=1", "new": text}, "stands for a secret")
	b.Refused(t, "proc.run", args{"argv": []any{"echo", text}}, "stands for a secret")
	b.Must(t, "fs.patch", args{"path": ".env", "old": "A=1", "new": "A=2"})
	b.Same(t, map[string]string{".env": "A=2\nKEY=sk-abcdefghijklmnop1234\n"})
}
