package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"replan/mcpclient/config"
)

// FuzzRead checks that a server of any file is usable or says why it is not, and that
// a server can be added to a file and removed from it again without a loss.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		`{"mcpServers": {"it": {"command": "x", "args": ["${HOME}"], "env": {"A": "${B:-c}"}, "timeout": 5}}}`, `{"mcp": {"servers": {"it": {"url": "https://x/mcp", "headers": {"A": "b"}}}}}`,
		"// a\n{\"servers\": {\"it\": {\"type\": \"http\", \"url\": \"${input:x}\"}},}", `{"mcpServers":{"a":null,"a":1,"":{}}}`, "\ufeff{}", `{"mcpServers":{"\u001b[2J":{"command":"\u202e"}}}`, "{/*", `"\ud800"`,
	} {
		f.Add(text, false)
	}
	for _, text := range []string{
		"[mcp_servers.it]\ncommand = \"x\"\nargs = ['a']\nenv_vars = [\"A\"]\ntool_timeout_sec = 1.5\n", "mcp_servers.a.url = 'https://x'\nmcp_servers.a.bearer_token_env_var = \"T\"\n",
		"[mcp_servers]\na = {command = 1}\n", "mcp_servers = [[1979-05-27, inf, nan]]", "[[mcp_servers.a]]\n", "[mcp_servers.\"a b\"]\nstartup_timeout_ms = 9223372036854775807\n",
	} {
		f.Add(text, true)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string, codex bool) {
		name := filepath.Join(dir, "mcp.json")
		if codex {
			name = filepath.Join(dir, "config.toml")
		}
		read := func(text []byte) ([]config.Server, error) {
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
			return config.Read(name, config.SourceUser, dir)
		}
		servers, err := read([]byte(text))
		if err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Fatalf("the error of %q is %q", text, err)
		}
		for _, s := range servers {
			if s.Problem == "" && !s.Disabled && s.Command == "" && s.URL == "" {
				t.Fatalf("%q has a server without command and url: %+v", text, s)
			}
			if s.Timeout < 0 || s.StartTimeout < 0 || s.Timeout > 1<<31*time.Second || s.StartTimeout > 1<<31*time.Second {
				t.Fatalf("%q has impossible limits: %+v", text, s)
			}
		}
		if codex || err != nil {
			return
		}
		added, _, err := config.Set([]byte(text), config.Server{Name: "fuzzed", Command: "y"})
		if err != nil {
			return // says that it cannot
		}
		with, err := read(added)
		if err != nil || !has(with, "fuzzed", "y") {
			t.Fatalf("%q with a server became %q: %+v, %v", text, added, with, err)
		}
		removed, err := config.Remove(added, "fuzzed")
		if err != nil {
			t.Fatalf("removing a server from %q: %v", added, err)
		}
		without, err := read(removed)
		if len(with) > 1 && err != nil || has(without, "fuzzed", "y") || len(without) != len(with)-1 {
			t.Fatalf("%q without a server became %q: %+v, %v", added, removed, without, err)
		}
	})
}

func has(servers []config.Server, name, command string) bool {
	for _, s := range servers {
		if s.Name == name && s.Command == command {
			return true
		}
	}
	return false
}
