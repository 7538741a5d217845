package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"replan/mcpclient/config"
)

// fields are the fields of a server that differ from a new one, as JSON.
func fields(t *testing.T, s config.Server) map[string]any {
	t.Helper()
	all := map[string]any{}
	value := reflect.ValueOf(s)
	for i := range value.NumField() {
		field := value.Type().Field(i)
		if field.IsExported() && !value.Field(i).IsZero() && field.Name != "Source" {
			all[field.Name] = value.Field(i).Interface()
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	var plain map[string]any
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	return plain
}

func TestFilesOfOtherProgramsAreRead(t *testing.T) {
	t.Setenv("REPLAN_TEST_TOKEN", "secret")
	for name, c := range map[string]struct{ file, text, want string }{
		"Claude Code": {"mcp.json", `{"mcpServers": {
			"sentry": {"type": "http", "url": "https://mcp.sentry.dev/mcp", "headers": {"Authorization": "Bearer ${REPLAN_TEST_TOKEN}"},
				"headersHelper": "bin/headers", "oauth": {"clientId": "id", "clientMetadataUrl": "https://x.example/c.json", "callbackPort": 8080, "scopes": "read write"}},
			"asana": {"type": "sse", "url": "https://mcp.asana.com/sse"},
			"files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "${PWD_NONE:-.}"], "env": {}}}}`, `[
			{"Name": "sentry", "URL": "https://mcp.sentry.dev/mcp", "Headers": {"Authorization": "Bearer secret"}, "HeadersHelper": "bin/headers",
				"OAuth": {"clientId": "id", "clientMetadataUrl": "https://x.example/c.json", "callbackPort": 8080, "scopes": ["read", "write"]}},
			{"Name": "asana", "URL": "https://mcp.asana.com/sse", "SSE": true},
			{"Name": "files", "Command": "npx", "Args": ["-y", "@modelcontextprotocol/server-filesystem", "."], "Env": {}}]`},
		"Cursor": {"mcp.json", `{"mcpServers": {
			"tools": {"command": "python", "args": ["${workspaceFolder}/mcp_server.py"], "env": {"API_KEY": "${env:REPLAN_TEST_TOKEN}", "DIR": "${workspaceFolderBasename}${/}x"}}}}`, `[
			{"Name": "tools", "Command": "python", "Args": ["/work/mcp_server.py"], "Env": {"API_KEY": "secret", "DIR": "work/x"}}]`},
		"VS Code": {".vscode/mcp.json", `{
			"inputs": [{"type": "promptString", "id": "key", "password": true}], // asked once
			"servers": {
				"github": {"type": "http", "url": "https://api.githubcopilot.com/mcp"},
				"playwright": {"type": "stdio", "command": "npx", "args": ["-y", "@microsoft/mcp-server-playwright"], "dev": {"watch": "build/**"}},
			}}`, `[
			{"Name": "github", "URL": "https://api.githubcopilot.com/mcp"},
			{"Name": "playwright", "Command": "npx", "Args": ["-y", "@microsoft/mcp-server-playwright"]}]`},
		"settings of VS Code": {"settings.json", `{"editor.fontSize": 12, "mcp": {"servers": {"a": {"command": "x"}}}}`, `[{"Name": "a", "Command": "x"}]`},
		"Gemini CLI": {"settings.json", `{
			"mcp": {"allowed": ["api"]},
			"mcpServers": {
				"api": {"httpUrl": "https://example.com/mcp", "headers": {"X": "1"}, "timeout": 30000, "trust": true, "includeTools": ["safe_tool"], "excludeTools": ["rm_*"]},
				"local": {"command": "node", "args": ["server.js"], "cwd": "./server", "env": {"KEY": "$REPLAN_TEST_TOKEN"}}}}`, `[
			{"Name": "api", "URL": "https://example.com/mcp", "Headers": {"X": "1"}, "Timeout": 30000000000, "Trust": true, "IncludeTools": ["safe_tool"], "ExcludeTools": ["rm_*"]},
			{"Name": "local", "Command": "node", "Args": ["server.js"], "Dir": "./server", "Env": {"KEY": "$REPLAN_TEST_TOKEN"}}]`},
		"Windsurf": {"mcp_config.json", `{"mcpServers": {
			"remote": {"serverUrl": "https://example.com/mcp", "headers": {"API_KEY": "Bearer ${env:REPLAN_TEST_TOKEN}"}, "disabledTools": ["delete_all"]},
			"off": {"command": "py", "disabled": true}}}`, `[
			{"Name": "remote", "URL": "https://example.com/mcp", "Headers": {"API_KEY": "Bearer secret"}, "ExcludeTools": ["delete_all"]},
			{"Name": "off", "Command": "py", "Disabled": true}]`},
		"Zed": {"settings.json", `{
			"theme": "One Dark",
			"context_servers": {
				"object": {"command": {"path": "npx", "args": ["-y", "server"], "env": {"KEY": "${REPLAN_TEST_TOKEN}"}}},
				"flat": {"source": "custom", "command": "some-command", "args": ["arg"], "env": {}},
				"off": {"source": "custom", "enabled": false, "command": "x"}}}`, `[
			{"Name": "object", "Command": "npx", "Args": ["-y", "server"], "Env": {"KEY": "secret"}},
			{"Name": "flat", "Command": "some-command", "Args": ["arg"], "Env": {}},
			{"Name": "off", "Command": "x", "Disabled": true}]`},
		"Amp": {"settings.json", `{"amp.mcpServers": {"a": {"command": "x"}}}`, `[{"Name": "a", "Command": "x"}]`},
		"opencode": {"opencode.jsonc", `{
			"$schema": "https://opencode.ai/config.json",
			"mcp": {
				"everything": {"type": "local", "command": ["npx", "-y", "@modelcontextprotocol/server-everything"], "environment": {"MODE": "x"}, "enabled": true, "timeout": 10000},
				"jira": {"type": "remote", "url": "https://jira.example.com/mcp", "headers": {"Authorization": "Bearer {env:REPLAN_TEST_TOKEN}"}, "oauth": false},
				"idle": {"type": "local", "command": ["x"], "enabled": false},
			},
			"tools": {"everything_get*": false, "jira*": false, "write": false}}`, `[
			{"Name": "everything", "Command": "npx", "Args": ["-y", "@modelcontextprotocol/server-everything"], "Env": {"MODE": "x"}, "Timeout": 10000000000, "ExcludeTools": ["get*"]},
			{"Name": "jira", "URL": "https://jira.example.com/mcp", "Headers": {"Authorization": "Bearer secret"}, "ExcludeTools": ["*"]},
			{"Name": "idle", "Command": "x", "Disabled": true}]`},
		"opencode 2": {
			"opencode.jsonc", `{"mcp": {"servers": {"it": {"type": "local", "command": ["x"], "timeout": {"startup": 45000, "request": 60000}}}}}`,
			`[{"Name": "it", "Command": "x", "Timeout": 60000000000, "StartTimeout": 45000000000}]`,
		},
		"opencode with a server of the name servers": {"opencode.json", `{"mcp": {"servers": {"type": "local", "command": ["x"]}}}`, `[{"Name": "servers", "Command": "x"}]`},
		"Copilot": {
			"mcp-config.json", `{"mcpServers": {"gh": {"type": "http", "url": "https://example.com", "tools": ["*"]}}}`,
			`[{"Name": "gh", "URL": "https://example.com", "IncludeTools": ["*"]}]`,
		},
		"Codex": {"config.toml", `
model = "gpt-5"

[mcp_servers.context7]
command = "npx"
args = ["-y", "@upstash/context7-mcp"]
env_vars = ["HOME", {name = "LOCAL_TOKEN", source = "local"}]
cwd = "tools"
startup_timeout_sec = 20
tool_timeout_sec = 45.5
enabled_tools = ["search"]
disabled_tools = ["screenshot"]
required = true

[mcp_servers.context7.env]
MODE = "x"

[mcp_servers.figma]
url = "https://mcp.figma.com/mcp"
bearer_token_env_var = "REPLAN_TEST_TOKEN"
http_headers = { "X-Figma-Region" = "us-east-1" }
env_http_headers = { "X-Token" = "REPLAN_TEST_TOKEN" }
enabled = true
scopes = ["read"]

[mcp_servers]
inline = { command = "x", enabled = false }
`, `[
			{"Name": "context7", "Command": "npx", "Args": ["-y", "@upstash/context7-mcp"], "Env": {"MODE": "x"}, "Inherit": ["HOME", "LOCAL_TOKEN"], "Dir": "tools",
				"StartTimeout": 20000000000, "Timeout": 45500000000, "IncludeTools": ["search"], "ExcludeTools": ["screenshot"], "Required": true},
			{"Name": "figma", "URL": "https://mcp.figma.com/mcp", "Headers": {"Authorization": "Bearer secret", "X-Figma-Region": "us-east-1", "X-Token": "secret"},
				"OAuth": {"scopes": ["read"]}},
			{"Name": "inline", "Command": "x", "Disabled": true}]`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), filepath.FromSlash(c.file))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			servers, err := config.Read(path, config.SourceUser, "/work")
			if err != nil {
				t.Fatal(err)
			}
			got := []any{}
			for _, s := range servers {
				got = append(got, any(fields(t, s)))
			}
			var want []any
			if err := json.Unmarshal([]byte(strings.ReplaceAll(c.want, "work/x", `work`+slash()+`x`)), &want); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %v\nwant %v", got, want)
			}
		})
	}
}

// slash is the separator of paths, in JSON.
func slash() string {
	text, _ := json.Marshal(string(filepath.Separator)) // cannot fail
	return strings.Trim(string(text), `"`)
}

func TestUnknownKeysGiveNotesWithLineAndSuggestion(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		want       []string
	}{
		"typing mistake": {"mcp.json", "{\"mcpServers\": {\n\"it\": {\"command\": \"x\",\n\"exludeTools\": []}}}", []string{`mcp.json:3: server "it": unknown key "exludeTools"; did you mean excludeTools?`}},
		"unknown":        {"mcp.json", `{"mcpServers": {"it": {"command": "x", "sandboxEnabled": true}}}`, []string{`mcp.json:1: server "it": unknown key "sandboxEnabled", and is ignored`}},
		"approval of tools": {"mcp.json", `{"mcpServers": {"it": {"command": "x", "alwaysAllow": ["a"], "autoApprove": ["a"]}}}`, []string{
			`mcp.json:1: server "it": "alwaysAllow" is ignored: what may run without a question is decided by your rules`,
			`mcp.json:1: server "it": "autoApprove" is ignored: what may run without a question is decided by your rules`,
		}},
		"two tables": {"mcp.json", "{\"mcpServers\": {\"it\": {\"command\": \"x\"}},\n\"servers\": {\"other\": {\"command\": \"y\"}}}", []string{
			`mcp.json:2: "servers" is ignored, since the file has "mcpServers": move its servers there`,
		}},
		"description": {"mcp.json", `{"mcpServers": {"it": {"command": "x", "description": "y", "Command": "x"}}}`, nil},
		"Codex": {"config.toml", "[mcp_servers.it]\ncommand = \"x\"\nstartup_timeout_secs = 3\n\n[mcp_servers.it.tools.search]\napproval_mode = \"approve\"\n", []string{
			`config.toml:3: server "it": unknown key "startup_timeout_secs"; did you mean startup_timeout_sec?`,
			`config.toml:5: server "it": "tools" is ignored where it is about approval: what may run without a question is decided by your rules`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			servers, err := config.Read(path, config.SourceUser, "/work")
			if err != nil || len(servers) != 1 {
				t.Fatalf("got %+v, %v", servers, err)
			}
			slices.Sort(servers[0].Notes)
			if !slices.Equal(servers[0].Notes, c.want) {
				t.Errorf("got %q\nwant %q", servers[0].Notes, c.want)
			}
		})
	}
}

func TestProjectCannotTrustItsServers(t *testing.T) {
	path := configFile(t, "{\"mcpServers\": {\"it\": {\"command\": \"x\",\n\"trust\": true}}}")
	for source, want := range map[config.Source]bool{config.SourceProject: false, config.SourceUser: true, config.SourceFlag: true} {
		servers, err := config.Read(path, source, "/work")
		if err != nil || len(servers) != 1 || servers[0].Trust != want || (len(servers[0].Notes) == 0) != want {
			t.Errorf("%s: got %+v, %v", source, servers, err)
		}
		if !want && servers[0].Notes[0] != `mcp.json:2: server "it": "trust" is ignored: only your own mcp.json and --mcp-config can trust a server` {
			t.Errorf("got %q", servers[0].Notes)
		}
	}
}

func TestWhatIsShownHidesValuesOfVariables(t *testing.T) {
	t.Setenv("REPLAN_TEST_TOKEN", "secret")
	path := filepath.Join(t.TempDir(), "config.toml")
	text := "[mcp_servers.it]\nurl = \"https://example.com\"\nbearer_token_env_var = \"REPLAN_TEST_TOKEN\"\nenv_http_headers = {X = \"REPLAN_TEST_TOKEN\"}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	servers, err := config.Read(path, config.SourceUser, "/work")
	if err != nil || len(servers) != 1 {
		t.Fatalf("got %+v, %v", servers, err)
	}
	want := map[string]string{"Authorization": "Bearer ${REPLAN_TEST_TOKEN}", "X": "${REPLAN_TEST_TOKEN}"}
	if got := servers[0].AsWritten().Headers; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestInvalidTOMLNamesFileAndLine(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"not TOML":         {"a = 1\n[mcp_servers", `config.toml:2: is not TOML: `},
		"no servers":       {"model = \"x\"\n", `config.toml: there is no [mcp_servers.NAME] in it`},
		"text as servers":  {"mcp_servers = \"x\"\n", `config.toml: mcp_servers must be a table`},
		"empty":            {"\n", `config.toml is empty; write [mcp_servers.NAME] into it`},
		"text as server":   {"[mcp_servers]\nit = \"x\"\n", `config.toml:2: server "it": must be an object, not string`},
		"neither":          {"[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.it]\nargs = []\n", `config.toml:3: server "it": has neither "command" nor "url"`},
		"number as args":   {"[mcp_servers.it]\nargs = 1\n", `config.toml:1: server "it": "args" must be a list of texts, not number`},
		"negative timeout": {"[mcp_servers.it]\ncommand = \"x\"\ntool_timeout_sec = -1\n", `"tool_timeout_sec" must be more than 0`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.toml")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := config.Read(path, config.SourceFlag, "/work")
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestReadingAnyFileNeverPanics(t *testing.T) {
	dir := t.TempDir()
	pieces := map[string][]string{
		"mcp.json": {
			`{`, `}`, `[`, `]`, `,`, `:`, `"mcp"`, `"servers"`, `"it"`, `"command"`, `"tools"`, `"oauth"`, `"timeout"`, `"env_vars"`, `"x"`, `"${input:a}"`, `"{env:}"`, `null`, `1`, `false`, "\n", `/*`, `*/`,
		},
		"config.toml": {`[mcp_servers.it]`, `[mcp_servers]`, "\n", `it`, `.`, `=`, `{`, `}`, `command`, `"x"`, `env_vars`, `[`, `]`, `,`, `1`, `1979-05-27`, `inf`, `#`, `'''`},
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"mcp.json", "config.toml"}).Draw(t, "name")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces[name]), 0, 24).Draw(t, "pieces"), rapid.SampledFrom([]string{"", " "}).Draw(t, "gap"))
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		servers, err := config.Read(path, config.SourceUser, dir)
		if err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Fatalf("an error without words: %v", err)
		}
		for _, s := range servers {
			if s.Problem == "" && !s.Disabled && s.Command == "" && s.URL == "" {
				t.Fatalf("got a server without command and url: %+v", s)
			}
			if s.Timeout < 0 || s.StartTimeout < 0 || s.Timeout > 1<<31*time.Second {
				t.Fatalf("got impossible limits: %+v", s)
			}
		}
	})
}
