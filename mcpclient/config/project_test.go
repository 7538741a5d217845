package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"replan/mcpclient/config"
)

// tree makes files below a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestProjectFileIsTheNearestUpToTheRootOfTheRepository(t *testing.T) {
	const some = `{"mcpServers": {"it": {"command": "x"}}}`
	for name, c := range map[string]struct {
		files                 []string
		workspace, home, want string
	}{
		"in the workspace":                  {[]string{"r/.git/HEAD", "r/.mcp.json", "r/a/.mcp.json"}, "r/a", "", "r/a/.mcp.json"},
		"at the root of the repository":     {[]string{"r/.git/HEAD", "r/.mcp.json", "r/a/b/x"}, "r/a/b", "", "r/.mcp.json"},
		"between":                           {[]string{"r/.git/HEAD", "r/.mcp.json", "r/a/.mcp.json", "r/a/b/x"}, "r/a/b", "", "r/a/.mcp.json"},
		"in a worktree, whose .git is file": {[]string{"r/.git", "r/.mcp.json", "r/a/x"}, "r/a", "", "r/.mcp.json"},
		"above the repository":              {[]string{".mcp.json", "r/.git/HEAD", "r/a/x"}, "r/a", "", ""},
		"above, without a repository":       {[]string{".mcp.json", "a/x"}, "a", "", ""},
		"workspace without a repository":    {[]string{"a/.mcp.json"}, "a", "", "a/.mcp.json"},
		"in the home folder":                {[]string{"h/.git/HEAD", "h/.mcp.json", "h/a/x"}, "h/a", "h", ""},
		"home folder as the workspace":      {[]string{"h/.mcp.json"}, "h", "h", "h/.mcp.json"},
		"none":                              {[]string{"r/.git/HEAD", "r/a/x"}, "r/a", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			for _, file := range c.files {
				files[file] = some
			}
			root := tree(t, files)
			at := func(path string) string { return filepath.Join(root, filepath.FromSlash(path)) }
			home, want := "/nowhere", ""
			if c.home != "" {
				home = at(c.home)
			}
			if c.want != "" {
				want = at(c.want)
			}
			if got := config.FindProject(at(c.workspace), home); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestServersOfTheRepositoryStartAtItsRoot(t *testing.T) {
	root := tree(t, map[string]string{"a/x": "", ".git/HEAD": "", ".mcp.json": `{"mcpServers": {
		"here": {"command": "x", "args": ["${workspaceFolder}/y"]},
		"below": {"command": "x", "cwd": "sub"},
		"far": {"url": "https://example.com"}}}`})
	servers, path, err := config.ReadProject(filepath.Join(root, "a"), "/nowhere", nil)
	if err != nil || path != filepath.Join(root, ".mcp.json") || len(servers) != 3 {
		t.Fatalf("got %+v, %q, %v", servers, path, err)
	}
	if servers[0].Dir != root || servers[0].Args[0] != root+"/y" || servers[0].AsWritten().Dir != root ||
		servers[1].Dir != filepath.Join(root, "sub") || servers[2].Dir != "" {
		t.Errorf("got %+v", servers)
	}
	servers, _, err = config.ReadProject(root, "/nowhere", nil)
	if err != nil || servers[0].Dir != "" || servers[1].Dir != "sub" {
		t.Errorf("got %+v, %v", servers, err)
	}
}
