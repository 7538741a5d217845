package policy_test

import (
	"path/filepath"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
)

func TestSafeDeniesFilesThatRunByThemselves(t *testing.T) {
	for name, c := range map[string]struct {
		gate event.GateRequested
		want event.Decision
	}{
		"document":                    {event.GateRequested{Tool: "fs.write", Args: map[string]any{"path": "docs/a.md"}}, event.Allow},
		"server list":                 {event.GateRequested{Tool: "fs.write", Args: map[string]any{"path": ".mcp.json"}}, event.Deny},
		"server list in another case": {event.GateRequested{Tool: "fs.write", Args: map[string]any{"path": "sub/.MCP.json"}}, event.Deny},
		"path with dots":              {event.GateRequested{Tool: "fs.write", Args: map[string]any{"path": "./x/../.envrc"}}, event.Deny},
		"workflow":                    {event.GateRequested{Tool: "fs.write", Args: map[string]any{"path": ".github/workflows/x.yml"}}, event.Deny},
		"issue template":              {event.GateRequested{Tool: "fs.write", Args: map[string]any{"path": ".github/ISSUE_TEMPLATE/bug.md"}}, event.Allow},
		"editor tasks":                {event.GateRequested{Tool: "fs.mkdir", Args: map[string]any{"path": ".vscode/x"}}, event.Deny},
		"agent instructions":          {event.GateRequested{Tool: "fs.patch", Args: map[string]any{"path": "AGENTS.md"}}, event.Deny},
		"move to a hook":              {event.GateRequested{Tool: "fs.move", Args: map[string]any{"from": "a", "to": ".husky/pre-commit"}}, event.Deny},
		"one file of a diff":          {event.GateRequested{Tool: "fs.patch", Diff: "--- a/x.go\n+++ b/x.go\n--- /dev/null\n+++ b/.envrc\n"}, event.Deny},
		"target of a link":            {event.GateRequested{Tool: "fs.write", Args: map[string]any{"path": "docs/link"}, Hashes: map[string]string{".vscode/tasks.json": ""}}, event.Deny},
	} {
		t.Run(name, func(t *testing.T) {
			c.gate.Server, c.gate.Trusted = "workspace", true
			if got, _ := policy.ApproveSafe.Answer(c.gate); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestTooWideWorkspaceHoldsHome(t *testing.T) {
	root := t.TempDir()
	home := filepath.Join(root, "home", "me")
	for workspace, want := range map[string]bool{
		home: true, filepath.Dir(home): true, filepath.VolumeName(root) + string(filepath.Separator): true,
		filepath.Join(home, "src"): false, filepath.Join(root, "other"): false,
	} {
		if got := policy.TooWide(workspace, home); got != want {
			t.Errorf("%s: %v", workspace, got)
		}
	}
}
