package policy_test

import (
	"path/filepath"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
)

func TestSafeLeavesFilesThatRunByThemselvesToTheUser(t *testing.T) {
	for name, c := range map[string]struct {
		gate event.GateRequested
		want event.Decision
	}{
		"a source file is safe":         {event.GateRequested{Tool: "fs.write", Args: map[string]any{"path": "docs/a.md"}}, event.Allow},
		"a server list is not":          {event.GateRequested{Tool: "fs.write", Args: map[string]any{"path": ".mcp.json"}}, event.Deny},
		"in another case neither":       {event.GateRequested{Tool: "fs.write", Args: map[string]any{"path": "sub/.MCP.json"}}, event.Deny},
		"nor in another spelling":       {event.GateRequested{Tool: "fs.write", Args: map[string]any{"path": "./x/../.envrc"}}, event.Deny},
		"a workflow is not":             {event.GateRequested{Tool: "fs.write", Args: map[string]any{"path": ".github/workflows/x.yml"}}, event.Deny},
		"a form of issues is":           {event.GateRequested{Tool: "fs.write", Args: map[string]any{"path": ".github/ISSUE_TEMPLATE/bug.md"}}, event.Allow},
		"what an editor runs is not":    {event.GateRequested{Tool: "fs.mkdir", Args: map[string]any{"path": ".vscode/x"}}, event.Deny},
		"nor what agents obey":          {event.GateRequested{Tool: "fs.patch", Args: map[string]any{"path": "AGENTS.md"}}, event.Deny},
		"nor a move to such a place":    {event.GateRequested{Tool: "fs.move", Args: map[string]any{"from": "a", "to": ".husky/pre-commit"}}, event.Deny},
		"nor one file of a longer diff": {event.GateRequested{Tool: "fs.patch", Diff: "--- a/x.go\n+++ b/x.go\n--- /dev/null\n+++ b/.envrc\n"}, event.Deny},
		"nor what a link leads to":      {event.GateRequested{Tool: "fs.write", Args: map[string]any{"path": "docs/link"}, Hashes: map[string]string{".vscode/tasks.json": ""}}, event.Deny},
	} {
		t.Run(name, func(t *testing.T) {
			c.gate.Server, c.gate.Trusted = "workspace", true
			if got, _ := policy.ApproveSafe.Answer(c.gate); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestAWorkspaceThatHoldsTheHomeFolderIsTooWide(t *testing.T) {
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
