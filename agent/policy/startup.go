package policy

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"replan/agent/event"
)

// startupNames are files and folders that other programs run, or obey, by
// themselves: when a folder is opened, a commit is made, a shell starts, a change
// is pushed, or an agent begins to work.
var startupNames = []string{
	".mcp.json", ".envrc", ".replan", ".vscode", ".idea", ".cursor", ".cursorrules", ".claude", ".gemini", ".codex", ".devcontainer", ".zed",
	"agents.md", "claude.md", "gemini.md", "copilot-instructions.md",
	".githooks", ".husky", ".gitattributes", ".gitmodules", ".gitconfig", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml",
	".gitlab-ci.yml", ".circleci", ".buildkite", ".travis.yml", ".drone.yml", "azure-pipelines.yml", "jenkinsfile",
	".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".cargo", ".ssh",
	".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".kshrc", ".config",
}

// changesStartup reports whether a call of the workspace's operators may change a
// file that runs by itself. Links are followed where the gate has a diff, whose
// files are named as they are.
func changesStartup(g event.GateRequested) bool {
	var names []string
	for name := range g.Hashes {
		names = append(names, name)
	}
	for _, arg := range []string{"path", "from", "to"} {
		if name, _ := g.Args[arg].(string); name != "" {
			names = append(names, name)
		}
	}
	diff, _ := g.Args["diff"].(string)
	for _, text := range []string{g.Diff, diff} {
		for line := range strings.SplitSeq(text, "\n") {
			for _, mark := range []string{"+++ ", "--- ", "rename to ", "copy to "} {
				if name, found := strings.CutPrefix(line, mark); found {
					name, _, _ = strings.Cut(strings.Trim(strings.TrimSpace(name), `"`), "\t")
					names = append(names, name)
				}
			}
		}
	}
	return slices.ContainsFunc(names, startup)
}

// startup reports whether a path is, or lies in, one of startupNames.
func startup(name string) bool {
	name = strings.ToLower(path.Clean(strings.ReplaceAll(name, `\`, "/")))
	if strings.Contains("/"+name+"/", "/.github/workflows/") || strings.HasSuffix("/"+name, "/.github") || strings.Contains("/"+name, "/.github/actions/") {
		return true
	}
	for part := range strings.SplitSeq(name, "/") {
		if slices.Contains(startupNames, part) {
			return true
		}
	}
	return false
}

// TooWide reports whether a workspace holds the user's home folder: file changes
// there are safe for nobody. Both are absolute.
func TooWide(workspace, home string) bool {
	if filepath.Dir(workspace) == workspace {
		return true
	}
	if home == "" {
		return false
	}
	for _, base := range []string{workspace, real(workspace)} {
		for _, below := range []string{home, real(home)} {
			if rel, err := filepath.Rel(base, below); err == nil && filepath.IsLocal(rel) {
				return true
			}
		}
	}
	return false
}

// real is a path without links, where it has some.
func real(name string) string {
	if at, err := filepath.EvalSymlinks(name); err == nil {
		return at
	}
	return name
}
