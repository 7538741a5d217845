package config_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"replan/mcpclient/config"
)

func TestDisablingChangesOneKeyOnly(t *testing.T) {
	for name, test := range map[string]struct {
		before   string
		disabled bool
		after    string
	}{
		"adds the key, keeps comments": {
			"{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\" // runs\n    },\n    \"b\": {\"command\": \"y\"}\n  }\n}\n", true,
			"{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\", // runs\n      \"disabled\": true\n    },\n    \"b\": {\"command\": \"y\"}\n  }\n}\n",
		},
		"adds the key on one line":  {`{"servers": {"a": {"command": "x"}}}`, true, `{"servers": {"a": {"command": "x", "disabled": true}}}`},
		"changes a false":           {`{"mcpServers": {"a": {"disabled": false, "command": "x"}}}`, true, `{"mcpServers": {"a": {"disabled": true, "command": "x"}}}`},
		"removes the key":           {`{"mcpServers": {"a": {"command": "x", "disabled": true}}}`, false, `{"mcpServers": {"a": {"command": "x"}}}`},
		"turns enabled off":         {`{"mcp": {"a": {"command": ["x"], "enabled": true}}}`, true, `{"mcp": {"a": {"command": ["x"], "enabled": false}}}`},
		"turns enabled on":          {`{"mcp": {"a": {"command": ["x"], "enabled": false}}}`, false, `{"mcp": {"a": {"command": ["x"], "enabled": true}}}`},
		"leaves an enabled one":     {`{"mcpServers": {"a": {"command": "x"}}}`, false, `{"mcpServers": {"a": {"command": "x"}}}`},
		"keeps the byte order mark": {"\ufeff" + `{"mcpServers": {"a": {"command": "x"}}}`, true, "\ufeff" + `{"mcpServers": {"a": {"command": "x", "disabled": true}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			after, err := config.SetDisabled([]byte(test.before), "a", test.disabled)
			if err != nil || string(after) != test.after {
				t.Errorf("got\n%s\n(%v), want\n%s", after, err, test.after)
			}
		})
	}
}

func TestOnlyServersOfTheFileAreDisabledInIt(t *testing.T) {
	for _, text := range []string{"", "{}", `{"mcpServers": {}}`, `{"mcpServers": {"b": {"command": "x"}}}`, `{"mcpServers": []}`} {
		if _, err := config.SetDisabled([]byte(text), "a", true); !errors.Is(err, config.ErrNoEntry) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

func TestDisabledServersOfAWorkspaceAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "below", "disabled.json")
	file := config.NewDisabledServers(path)
	for _, change := range []struct {
		workspace, name string
		disabled        bool
	}{{"/a", "x", true}, {"/a", "y", true}, {"/a", "x", true}, {"/b", "x", true}, {"/a", "x", false}, {"/b", "x", false}} {
		if _, err := file.Set(t.Context(), change.workspace, change.name, change.disabled); err != nil {
			t.Fatal(err)
		}
	}
	for workspace, want := range map[string][]string{"/a": {"y"}, "/b": nil} {
		if got, err := config.NewDisabledServers(path).In(workspace); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v (%v), want %v", workspace, got, err, want)
		}
	}
}
