package policy

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"replan/agent/event"
)

// startupNames are files and folders that other programs run or obey on their
// own. They do so when a folder is opened, a commit is made, a shell starts, a
// change is pushed, or an agent starts to work.
var startupNames = []string{
	".mcp.json", ".envrc", ".replan", ".vscode", ".idea", ".cursor", ".cursorrules", ".claude", ".gemini", ".codex", ".devcontainer", ".zed",
	"agents.md", "claude.md", "gemini.md", "copilot-instructions.md",
	".githooks", ".husky", ".gitattributes", ".gitmodules", ".gitconfig", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml",
	".gitlab-ci.yml", ".circleci", ".buildkite", ".travis.yml", ".drone.yml", "azure-pipelines.yml", "jenkinsfile",
	".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".cargo", ".ssh",
	".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".kshrc", ".config",
}

// changesStartup reports whether a call of the workspace's operators may change a
// file that runs by itself. It follows links if the gate has a diff, which lists
// the real file names.
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

// startup reports whether a path is one of startupNames or lies in one.
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

// TooWide reports whether a workspace contains the user's home folder, which
// makes file changes unsafe. Both paths are absolute.
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

// real resolves the links in a path, if possible.
func real(name string) string {
	if at, err := filepath.EvalSymlinks(name); err == nil {
		return at
	}
	return name
}
