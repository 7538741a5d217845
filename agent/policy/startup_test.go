package policy_test

import (
	"path/filepath"
	"testing"

	"replan/agent"
	"replan/agent/policy"
)

func TestSafeLeavesFilesThatRunByThemselvesToTheUser(t *testing.T) {
	for name, c := range map[string]struct {
		gate agent.GateRequested
		want agent.Decision
	}{
		"a source file is safe":         {agent.GateRequested{Tool: "fs.write", Args: map[string]any{"path": "docs/a.md"}}, agent.Allow},
		"a server list is not":          {agent.GateRequested{Tool: "fs.write", Args: map[string]any{"path": ".mcp.json"}}, agent.Deny},
		"in another case neither":       {agent.GateRequested{Tool: "fs.write", Args: map[string]any{"path": "sub/.MCP.json"}}, agent.Deny},
		"nor in another spelling":       {agent.GateRequested{Tool: "fs.write", Args: map[string]any{"path": "./x/../.envrc"}}, agent.Deny},
		"a workflow is not":             {agent.GateRequested{Tool: "fs.write", Args: map[string]any{"path": ".github/workflows/x.yml"}}, agent.Deny},
		"a form of issues is":           {agent.GateRequested{Tool: "fs.write", Args: map[string]any{"path": ".github/ISSUE_TEMPLATE/bug.md"}}, agent.Allow},
		"what an editor runs is not":    {agent.GateRequested{Tool: "fs.mkdir", Args: map[string]any{"path": ".vscode/x"}}, agent.Deny},
		"nor what agents obey":          {agent.GateRequested{Tool: "fs.patch", Args: map[string]any{"path": "AGENTS.md"}}, agent.Deny},
		"nor a move to such a place":    {agent.GateRequested{Tool: "fs.move", Args: map[string]any{"from": "a", "to": ".husky/pre-commit"}}, agent.Deny},
		"nor one file of a longer diff": {agent.GateRequested{Tool: "fs.patch", Diff: "--- a/x.go\n+++ b/x.go\n--- /dev/null\n+++ b/.envrc\n"}, agent.Deny},
		"nor what a link leads to":      {agent.GateRequested{Tool: "fs.write", Args: map[string]any{"path": "docs/link"}, Hashes: map[string]string{".vscode/tasks.json": ""}}, agent.Deny},
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
