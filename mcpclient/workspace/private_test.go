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
	t.Parallel()
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
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{".env": "A=1\nKEY=sk-abcdefghijklmnop1234\n"})
	text := redact.Prompt("A=2\nKEY=sk-abcdefghijklmnop1234\n")
	b.Refused(t, "fs.write", args{"path": ".env", "text": text}, "placeholder of a secret", "nothing was done")
	b.Refused(t, "fs.patch", args{"path": ".env", "old": "A=1", "new": text}, "placeholder of a secret")
	b.Refused(t, "proc.run", args{"argv": []any{"echo", text}}, "placeholder of a secret")
	b.Must(t, "fs.patch", args{"path": ".env", "old": "A=1", "new": "A=2"})
	b.Same(t, map[string]string{".env": "A=2\nKEY=sk-abcdefghijklmnop1234\n"})
}

func TestNoOperatorShowsOrChangesHiddenFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Hidden: []string{".env", "keys/**", "deploy/"}})
	b.Write(t, map[string]string{
		".env": "NEEDLE=1\n", "app/.env": "NEEDLE=2\n", "keys/a.go": "package keys\n\nfunc Needle() {}\n", "deploy/x.txt": "needle\n",
		"a.go": "package a\n", "app/b.txt": "plain\n",
	})
	if err := os.Symlink(".env", filepath.Join(b.Dir, "link")); err != nil {
		t.Skip("cannot create links")
	}
	for name, c := range map[string]struct {
		tool string
		args args
	}{
		"read":                   {"fs.read", args{"path": ".env"}},
		"read in a folder":       {"fs.read", args{"path": "app/.env"}},
		"read through a link":    {"fs.read", args{"path": "link"}},
		"read in another case":   {"fs.read", args{"path": ".ENV"}},
		"read below a folder":    {"fs.read", args{"path": "deploy/x.txt"}},
		"stat":                   {"fs.stat", args{"path": ".env"}},
		"list":                   {"fs.list", args{"path": "deploy"}},
		"search":                 {"fs.search", args{"path": ".env", "query": "NEEDLE"}},
		"parse":                  {"code.parse", args{"path": "keys/a.go"}},
		"summarize":              {"code.summarize", args{"path": ".env"}},
		"write":                  {"fs.write", args{"path": "deploy/new.txt", "text": "x"}},
		"move":                   {"fs.move", args{"from": ".env", "to": "plain"}},
		"remove with its folder": {"fs.remove", args{"path": "app", "recursive": true}},
	} {
		t.Run(name, func(t *testing.T) { b.Refused(t, c.tool, c.args, "gates.hidden") })
	}
	for tool, a := range map[string]args{
		"fs.list": {"depth": 5}, "fs.search": {"query": "(?i)needle", "regex": true}, "code.symbols": {"query": "Needle"},
		"code.references": {"symbol": "Needle", "allow_none": true}, "code.summarize": {"path": "app"},
	} {
		if got := strings.ToLower(fmt.Sprint(b.Must(t, tool, a))); strings.Contains(got, "needle=") || strings.Contains(got, ".env") || strings.Contains(got, "keys/") {
			t.Errorf("%s shows %v", tool, got)
		}
	}
}

func TestGitOperatorsNeitherShowNorCommitHiddenFiles(t *testing.T) {
	t.Parallel()
	needGit(t)
	b := newBench(t, workspace.Config{Hidden: []string{".env"}})
	for _, words := range [][]string{{"init", "-q"}, {"config", "user.name", "a"}, {"config", "user.email", "a@example.com"}} {
		git(t, b.Dir, words...)
	}
	b.Write(t, map[string]string{".env": "KEY=1\n", "a.txt": "a\n"})
	git(t, b.Dir, "add", ".")
	git(t, b.Dir, "commit", "-qm", "first")
	b.Write(t, map[string]string{".env": "KEY=2\n", "a.txt": "b\n"})
	for tool, a := range map[string]args{"vcs.diff": {}, "vcs.status": {}} {
		got := fmt.Sprint(b.Must(t, tool, a))
		if strings.Contains(got, ".env") || strings.Contains(got, "KEY") || !strings.Contains(got, "a.txt") {
			t.Errorf("%s shows %v", tool, got)
		}
	}
	b.Refused(t, "vcs.log", args{"path": ".env"}, "gates.hidden")
	if got := fmt.Sprint(b.Must(t, "vcs.commit", args{"message": "second", "all": true})); strings.Contains(got, ".env") {
		t.Errorf("the commit takes %v", got)
	}
	git(t, b.Dir, "add", ".env")
	b.Refused(t, "vcs.commit", args{"message": "third"}, "unstage it first")
}
