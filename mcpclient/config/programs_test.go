package config_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"replan/mcpclient/config"
)

func TestServersOfOtherProgramsAreFound(t *testing.T) {
	root := tree(t, map[string]string{
		"home/.cursor/mcp.json":                    `{"mcpServers": {"c": {"command": "x", "args": ["${workspaceFolder}", "${env:K}"]}}}`,
		"work/.cursor/mcp.json":                    `{"mcpServers": {"c2": {"command": "x"}}}`,
		"config/Code/User/mcp.json":                `{"servers": {"v": {"type": "http", "url": "https://example.com/mcp"}}}`,
		"home/.codex/config.toml":                  "[mcp_servers.x]\nurl = \"https://example.com\"\nbearer_token_env_var = \"TOKEN\"\n",
		"home/.gemini/settings.json":               `{"theme": "x", "mcpServers": {"g": {"url": "https://example.com/sse", "headers": {"A": "Bearer $TOKEN", "B": "${TOKEN}"}, "trust": true}, "h": {"httpUrl": "https://example.com"}}}`,
		"work/.gemini/settings.json":               `{"theme": "x"}`,
		"home/.codeium/windsurf/mcp_config.json":   `{"mcpServers": {"w": {"serverUrl": "https://example.com", "disabledTools": ["t"]}}}`,
		"xdg/zed/settings.json":                    `{"context_servers": {"z": {"command": {"path": "x", "args": ["$TOKEN"]}}}}`,
		"xdg/opencode/opencode.jsonc":              `{"mcp": {"o": {"type": "local", "command": ["x", "{env:TOKEN}"], "environment": {"K": "a{env:TOKEN}"}}}}`,
		"config/Claude/claude_desktop_config.json": `{"mcpServers": {"d": {"command": "x"}}}`,
		"other.json":                               `{"mcpServers": {"bad": {}, "a b": {"command": "x"}}}`,
		"broken/.codeium/windsurf/mcp_config.json": `{"mcpServers": `,
	})
	at := func(path string) string { return filepath.Join(root, filepath.FromSlash(path)) }
	places := config.Places{Workspace: at("work"), Home: at("home"), Config: at("config"), XDG: at("xdg")}
	claude := tree(t, map[string]string{config.ClaudeFile: `{"mcpServers": {"all": {"command": "x"}}, "projects": {"` + filepath.ToSlash(at("work")) + `": {"mcpServers": {"here": {"command": "y"}}}, "/else": {"mcpServers": {"no": {"command": "z"}}}}}`})
	for from, want := range map[string][]config.Server{
		"cursor":                                 {{Name: "c", Command: "x", Args: []string{"${workspaceFolder}", "${env:K}"}}, {Name: "c2", Command: "x"}},
		"vscode":                                 {{Name: "v", URL: "https://example.com/mcp"}},
		"codex":                                  {{Name: "x", URL: "https://example.com", Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"}}},
		"gemini":                                 {{Name: "g", URL: "https://example.com/sse", SSE: true, Headers: map[string]string{"A": "Bearer ${TOKEN}", "B": "${TOKEN}"}}, {Name: "h", URL: "https://example.com"}},
		"windsurf":                               {{Name: "w", URL: "https://example.com", ExcludeTools: []string{"t"}}},
		"opencode":                               {{Name: "o", Command: "x", Args: []string{"${TOKEN}"}, Env: map[string]string{"K": "a${TOKEN}"}}},
		"zed":                                    {{Name: "z", Command: "x", Args: []string{"$TOKEN"}}},
		"claude":                                 {{Name: "d", Command: "x"}},
		at("other.json"):                         {{Name: "bad", Problem: `has neither "command" nor "url"; add one of them`}, {Name: "a-b", Command: "x", Notes: []string{`other.json:1: server "a-b": its name in the file is "a b"`}}},
		filepath.Join(claude, config.ClaudeFile): {{Name: "all", Command: "x"}, {Name: "here", Command: "y"}},
	} {
		t.Run(filepath.Base(from), func(t *testing.T) {
			files, err := config.Import(from, places)
			if err != nil {
				t.Fatal(err)
			}
			var got []config.Server
			for _, f := range files {
				got = append(got, f.Servers...)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
		})
	}
	for from, want := range map[string]string{"windsurf": "is not JSON", "cursor": "no servers of cursor were found; looked at", "none.json": "none.json"} {
		if _, err := config.Import(from, config.Places{Workspace: at("none"), Home: at("broken"), Config: at("none"), XDG: at("none")}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", from, err)
		}
	}
}

// Other programs allow blanks in names, and any other character.
func TestImportedNamesAreValid(t *testing.T) {
	root := tree(t, map[string]string{"mcp.json": `{"mcpServers": {"Github PR Comments": {"command": "x"}, " @scope/server (dev) ": {"command": "x"}, "a b": {"command": "x"}, "a  b": {"command": "other"}, "c d": {"command": "x"}, "c-d": {"command": "x"}, "日本": {"command": "x"}, "Replan": {"command": "replan", "args": ["serve"]}}}`})
	files, err := config.Import(filepath.Join(root, "mcp.json"), config.Places{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range files[0].Servers {
		got = append(got, strings.TrimSpace(s.Name+" "+s.Problem))
	}
	const form = "a name may hold letters, digits, dot, dash and underscore only"
	want := []string{"Github-PR-Comments", "scope-server-dev", "a-b", "a  b " + form, "c d " + form, "c-d", "日本 " + form, "Replan " + config.ErrNameTaken.Error()}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// The variables of opencode mean nothing in the file of replan, wherever they stand.
func TestNoVariableOfOpencodeIsLeftByTheImport(t *testing.T) {
	root := tree(t, map[string]string{"opencode.json": `{"mcp": {
		"local": {"type": "local", "command": ["{env:A}", "{env:A}"], "environment": {"K": "{env:A}"}, "cwd": "{env:A}"},
		"remote": {"type": "remote", "url": "https://{env:A}/mcp", "headers": {"K": "{env:A}"}, "headersHelper": "{env:A}",
			"oauth": {"clientId": "{env:A}", "clientSecret": "{env:A}", "clientMetadataUrl": "https://example.com/{env:A}", "scope": "{env:A}"}}}}`})
	files, err := config.Import(filepath.Join(root, "opencode.json"), config.Places{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range files[0].Servers {
		text, _, err := config.Set(nil, s)
		if err != nil || s.Problem != "" {
			t.Fatal(err, s.Problem)
		}
		if strings.Contains(strings.ReplaceAll(string(text), "${A}", ""), "A}") || !strings.Contains(string(text), "${A}") {
			t.Errorf("got %s", text)
		}
	}
}

func TestServersWhoseVariablesNobodyCanSetAreTold(t *testing.T) {
	root := tree(t, map[string]string{"mcp.json": `{"servers": {"asks": {"command": "x", "env": {"K": "${input:key}"}}, "editor": {"command": "x", "args": ["${config:a.b}"]}, "fine": {"command": "x", "env": {"K": "${env:NOT_SET_ANYWHERE}"}}}}`})
	files, err := config.Import(filepath.Join(root, "mcp.json"), config.Places{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range files[0].Servers {
		if err := s.Unsupported(); (err == nil) != (s.Name == "fine") {
			t.Errorf("%s: got %v", s.Name, err)
		}
	}
}
