package config_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"replan/mcpclient/config"
)

func TestEditsKeepLayoutAndComments(t *testing.T) {
	set := func(s config.Server) func(string) (string, error) {
		return func(text string) (string, error) {
			after, _, err := config.Set([]byte(text), s)
			return string(after), err
		}
	}
	remove := func(name string) func(string) (string, error) {
		return func(text string) (string, error) {
			after, err := config.Remove([]byte(text), name)
			return string(after), err
		}
	}
	one := config.Server{Name: "new", Command: "npx", Args: []string{"-y", "<x>"}}
	for name, c := range map[string]struct {
		edit         func(string) (string, error)
		before, want string
	}{
		"new file": {set(one), "", "{\n  \"mcpServers\": {\n    \"new\": {\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"<x>\"]\n    }\n  }\n}\n"},
		"all fields": {set(config.Server{
			Name: "new", URL: "https://x/${A}", SSE: true, Headers: map[string]string{"K": "${V}"}, HeadersHelper: "h", Timeout: time.Minute, StartTimeout: 90 * time.Second,
			OAuth: &config.OAuth{ClientID: "id", CallbackPort: 7}, IncludeTools: []string{"a*"}, ExcludeTools: []string{"b"}, Required: true, NoRoots: true, Disabled: true,
		}), "{\"mcpServers\": {}}", "{\"mcpServers\": {\n  \"new\": {\n    \"type\": \"sse\",\n    \"url\": \"https://x/${A}\",\n    \"headers\": {\n      \"K\": \"${V}\"\n    },\n    \"headersHelper\": \"h\",\n" +
			"    \"oauth\": {\n      \"clientId\": \"id\",\n      \"callbackPort\": 7\n    },\n    \"includeTools\": [\"a*\"],\n    \"excludeTools\": [\"b\"],\n    \"timeout\": \"1m0s\",\n    \"startup_timeout\": \"1m30s\",\n    \"required\": true,\n    \"roots\": false,\n    \"disabled\": true\n  }\n}}"},
		"one line":            {set(one), `{"mcpServers": {"a": {"command":"x"}}}`, `{"mcpServers": {"a": {"command":"x"}, "new": {"command": "npx", "args": ["-y", "<x>"]}}}`},
		"file of VS Code":     {set(one), "{\n\t\"servers\": {\n\t\t\"a\": {}\n\t},\n\t\"inputs\": []\n}\n", "{\n\t\"servers\": {\n\t\t\"a\": {},\n\t\t\"new\": {\n\t\t\t\"command\": \"npx\",\n\t\t\t\"args\": [\"-y\", \"<x>\"]\n\t\t}\n\t},\n\t\"inputs\": []\n}\n"},
		"without a table":     {set(one), "{\n    \"theme\": 1 // dark\n}", "{\n    \"theme\": 1, // dark\n    \"mcpServers\": {\n        \"new\": {\n            \"command\": \"npx\",\n            \"args\": [\"-y\", \"<x>\"]\n        }\n    }\n}"},
		"after a comment":     {set(one), "{\"mcpServers\": {\n  \"a\": {} // first\n  // the end\n}}", "{\"mcpServers\": {\n  \"a\": {}, // first\n  \"new\": {\n    \"command\": \"npx\",\n    \"args\": [\"-y\", \"<x>\"]\n  }\n  // the end\n}}"},
		"trailing comma":      {set(one), "{\"mcpServers\": {\n  \"a\": {}, /* first */\n}}", "{\"mcpServers\": {\n  \"a\": {}, /* first */\n  \"new\": {\n    \"command\": \"npx\",\n    \"args\": [\"-y\", \"<x>\"]\n  },\n}}"},
		"empty, with comment": {set(one), "{\"mcpServers\": {\n  // none yet\n}}", "{\"mcpServers\": {\n  // none yet\n  \"new\": {\n    \"command\": \"npx\",\n    \"args\": [\"-y\", \"<x>\"]\n  }\n}}"},
		"replaced":            {set(one), "{\"mcpServers\": {\n  // mine\n  \"new\": {\"url\": \"y\"}, // old\n  \"b\": {}\n}}", "{\"mcpServers\": {\n  // mine\n  \"new\": {\n    \"command\": \"npx\",\n    \"args\": [\"-y\", \"<x>\"]\n  }, // old\n  \"b\": {}\n}}"},
		"byte order mark":     {set(one), "\ufeff{\"mcpServers\": {\"a\": {}}}", "\ufeff{\"mcpServers\": {\"a\": {}, \"new\": {\"command\": \"npx\", \"args\": [\"-y\", \"<x>\"]}}}"},

		"remove the first":        {remove("a"), "{\"mcpServers\": {\n  // about a\n  \"a\": {}, // gone\n  // about b\n  \"b\": {}\n}}", "{\"mcpServers\": {\n  // about b\n  \"b\": {}\n}}"},
		"remove the last":         {remove("b"), "{\"mcpServers\": {\n  \"a\": {}, // stays\n\n  // about b\n  \"b\": {} // gone\n}}", "{\"mcpServers\": {\n  \"a\": {} // stays\n\n}}"},
		"remove with trailing":    {remove("b"), "{\"mcpServers\": {\n  \"a\": {},\n  \"b\": {},\n}}", "{\"mcpServers\": {\n  \"a\": {},\n}}"},
		"remove the only one":     {remove("a"), "{\"mcpServers\": {\n  \"a\": {}\n}}", "{\"mcpServers\": {\n}}"},
		"remove on one line":      {remove("a"), `{"mcpServers": {"a": {}, "b": {}, "c": {}}}`, `{"mcpServers": {"b": {}, "c": {}}}`},
		"remove between":          {remove("b"), `{"mcpServers": {"a": {}, "b": {}, "c": {}}}`, `{"mcpServers": {"a": {}, "c": {}}}`},
		"remove last on one line": {remove("c"), `{"mcpServers": {"a": {}, "b": {}, "c": {}}}`, `{"mcpServers": {"a": {}, "b": {}}}`},
		"section comment stays":   {remove("b"), "{\"mcpServers\": {\n  \"a\": {},\n  // tools of the office\n\n  \"b\": {},\n  \"c\": {}\n}}", "{\"mcpServers\": {\n  \"a\": {},\n  // tools of the office\n\n  \"c\": {}\n}}"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, newline := range []string{"\n", "\r\n"} {
				crlf := func(text string) string { return strings.ReplaceAll(text, "\n", newline) }
				if newline != "\n" && c.before == "" {
					continue
				}
				got, err := c.edit(crlf(c.before))
				if want := crlf(c.want); err != nil || got != want && (newline == "\n" || strings.Contains(c.before, "\n")) {
					t.Errorf("got %q, %v\nwant %q", got, err, want)
				}
			}
		})
	}
}

func TestEditsRefuseFilesThatTheyCannotRead(t *testing.T) {
	for name, text := range map[string]string{"not JSON": `{"mcpServers": `, "list": `[]`, "list of servers": `{"mcpServers": []}`} {
		if _, _, err := config.Set([]byte(text), config.Server{Name: "a", Command: "x"}); err == nil {
			t.Errorf("%s: the server was added", name)
		}
		if _, err := config.Remove([]byte(text), "a"); err == nil {
			t.Errorf("%s: the server was removed", name)
		}
	}
	for _, text := range []string{"", "{}", `{"mcpServers": {"b": {}}}`} {
		if _, err := config.Remove([]byte(text), "a"); !errors.Is(err, config.ErrNoEntry) {
			t.Errorf("%s: got %v", text, err)
		}
	}
	if _, _, err := config.Set(nil, config.Server{Name: "a", URL: "example.com"}); err == nil || !strings.Contains(err.Error(), "is not an address") {
		t.Errorf("got %v", err)
	}
	if _, _, err := config.Set(nil, config.Server{Name: "workspace", Command: "x"}); !errors.Is(err, config.ErrNameTaken) {
		t.Errorf("got %v", err)
	}
}

// anyFile draws a file with servers, comments and blanks where they may stand.
func anyFile(t *rapid.T) (text string, names []string) {
	extra := func(label string) string {
		return rapid.SampledFrom([]string{"", " ", "\n", "\n  ", " // note\n  ", "/* note */", "\n\n  // note\n  ", "\r\n\t"}).Draw(t, label)
	}
	var b strings.Builder
	b.WriteString(extra("start") + "{" + extra("before") + `"mcpServers"` + extra("name") + ":" + extra("value") + "{")
	n := rapid.IntRange(0, 4).Draw(t, "servers")
	for i := range n {
		names = append(names, fmt.Sprintf("s%d", i))
		fmt.Fprintf(&b, "%s%q%s:%s{\"command\": \"x%d\"}%s", extra("a"), names[i], extra("b"), extra("c"), i, extra("d"))
		if i < n-1 || rapid.Bool().Draw(t, "comma") {
			b.WriteString(",")
		}
	}
	b.WriteString(extra("end") + "}" + extra("after") + "}" + extra("tail"))
	return b.String(), names
}

func TestEditsChangeNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, names := anyFile(t)
		added, replaced, err := config.Set([]byte(text), config.Server{Name: "new", Command: "y"})
		if err != nil || replaced {
			t.Fatalf("Set(%q): %v, replaced: %t", text, err, replaced)
		}
		// What was there stays in its order: the edit only adds.
		rest := string(added)
		for _, r := range text {
			i := strings.IndexRune(rest, r)
			if i < 0 {
				t.Fatalf("%q lost %q: %q", text, r, added)
			}
			rest = rest[i+len(string(r)):]
		}
		path := configFileOf(t, string(added))
		servers, err := config.Read(path, config.SourceUser, "/work")
		if err != nil || len(servers) != len(names)+1 || servers[len(names)].Name != "new" || servers[len(names)].Command != "y" {
			t.Fatalf("%q became %q: %+v, %v", text, added, servers, err)
		}
		if len(names) == 0 {
			return
		}
		gone := rapid.SampledFrom(names).Draw(t, "gone")
		removed, err := config.Remove([]byte(text), gone)
		if err != nil {
			t.Fatalf("Remove(%q, %s): %v", text, gone, err)
		}
		servers, err = config.Read(configFileOf(t, string(removed)), config.SourceUser, "/work")
		if err != nil || len(servers) != len(names)-1 {
			t.Fatalf("%q without %s became %q: %+v, %v", text, gone, removed, servers, err)
		}
		for _, s := range servers {
			if s.Name == gone || s.Command != "x"+s.Name[1:] {
				t.Fatalf("%q without %s became %q", text, gone, removed)
			}
		}
	})
}

// configFileOf writes a file for a drawn case.
func configFileOf(t *rapid.T, text string) string {
	file, err := os.CreateTemp("", "mcp-*.json")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(file.Name()) })
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}
