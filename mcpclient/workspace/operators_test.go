package workspace_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

func TestWorkspaceMustBeAFolder(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := workspace.New(workspace.Config{Dir: missing}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("missing folder: got error %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := workspace.New(workspace.Config{Dir: file}); err == nil || !strings.Contains(err.Error(), "not a folder") {
		t.Errorf("file: got error %v", err)
	}
}

func TestPatchSchemaTakesReplacementOrDiff(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	var schema struct {
		AnyOf []struct{ Required []string }
	}
	raw, err := json.Marshal(b.Ops.Server().ListTools()["fs.patch"].Tool)
	if err != nil {
		t.Fatal(err)
	}
	var tool struct{ InputSchema json.RawMessage }
	if err := errors.Join(json.Unmarshal(raw, &tool), json.Unmarshal(tool.InputSchema, &schema)); err != nil {
		t.Fatal(err)
	}
	if len(schema.AnyOf) != 2 {
		t.Errorf("the schema of fs.patch does not offer a replacement or a diff: %s", tool.InputSchema)
	}
}

func TestInvalidArgumentsAreNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	for name, c := range map[string]struct {
		tool    string
		args    args
		wantErr []string
	}{
		"missing argument":           {"fs.read", nil, []string{"fs.read needs the argument path"}},
		"null argument":              {"fs.read", args{"path": nil}, []string{"needs the argument path"}},
		"empty argument":             {"fs.read", args{"path": ""}, []string{"path is empty"}},
		"unknown argument":           {"fs.write", args{"path": "x", "content": "y"}, []string{`no argument "content"`, "path, text"}},
		"wrong type":                 {"fs.read", args{"path": 3}, []string{"path of fs.read must be of type string, not number"}},
		"negative number":            {"fs.read", args{"path": "x", "limit": -1}, []string{"cannot be negative"}},
		"neither form of a patch":    {"fs.patch", args{"path": "x"}, []string{"path, old and new, or a diff"}},
		"both forms of a patch":      {"fs.patch", args{"path": "x", "old": "a", "new": "b", "diff": "d"}, []string{"not both"}},
		"empty text to replace":      {"fs.patch", args{"path": "x", "old": "", "new": "b"}, []string{"old of fs.patch is empty", "fs.write"}},
		"identical replacement":      {"fs.patch", args{"path": "x", "old": "a", "new": "a"}, []string{"the same"}},
		"invalid regular expression": {"fs.search", args{"query": "(", "regex": true}, []string{`"("`}},
		"invalid glob":               {"fs.search", args{"query": "x", "glob": "[z-a]"}, []string{`"[z-a]"`}},
		"empty query":                {"fs.search", args{"query": ""}, []string{"query of fs.search is empty"}},
		"invalid duration":           {"test.run", args{"timeout": "soon"}, []string{"timeout of test.run", "90s"}},
		"option as path":             {"test.run", args{"path": "-exec=sh"}, []string{"not an option"}},
	} {
		t.Run(name, func(t *testing.T) {
			b.Write(t, map[string]string{"go.mod": "module m\n"})
			b.Refused(t, c.tool, c.args, c.wantErr...)
		})
	}
}

func TestNoPathLeavesTheWorkspace(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	secret := filepath.Join(out, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"in/file": "text"})
	for link, target := range map[string]string{
		"abs": secret, "dir": out, "up": filepath.Join("..", filepath.Base(out), "secret"), "in/up": "../..", "loop": "loop",
	} {
		if err := os.Symlink(target, filepath.Join(b.Dir, link)); err != nil {
			t.Skipf("cannot create links: %v", err)
		}
	}
	for _, path := range []string{"..", "../secret", secret, "in/../../x", "abs", "dir/secret", "dir/new", "up", "in/up/secret", "/etc/passwd"} {
		t.Run(path, func(t *testing.T) {
			b.Refused(t, "fs.read", args{"path": path}, "outside the workspace")
			b.Refused(t, "fs.list", args{"path": path}, "outside the workspace")
			b.Refused(t, "fs.search", args{"query": "secret", "path": path}, "outside the workspace")
			b.Refused(t, "fs.write", args{"path": path, "text": "x"}, "outside the workspace")
			b.Refused(t, "fs.patch", args{"path": path, "old": "secret", "new": "x"}, "outside the workspace")
			b.Refused(t, "test.run", args{"path": path}, "outside the workspace")
		})
	}
	b.Refused(t, "fs.read", args{"path": "loop"}, "too many links")
	b.Refused(t, "fs.write", args{"path": "a\nb", "text": "x"}, "characters")
	if got, err := os.ReadFile(secret); err != nil || string(got) != "secret" {
		t.Errorf("the file outside was changed to %q: %v", got, err)
	}
	found := b.Must(t, "fs.search", args{"query": "secret"})
	if found.Data["total"] != 0.0 {
		t.Errorf("the search followed a link out of the workspace: %v", found.Data)
	}
}

func TestLinksInsideTheWorkspaceAreFollowed(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"real/file": "old\n"})
	for link, target := range map[string]string{"link": "real/file", "dir": "real", "real/back": "../real/file"} {
		if err := os.Symlink(target, filepath.Join(b.Dir, link)); err != nil {
			t.Skipf("cannot create links: %v", err)
		}
	}
	for i, path := range []string{"link", "dir/file", "real/back", "dir/back", filepath.Join(b.Dir, "real/file")} {
		text := strings.Repeat("x", i+1) + "\n"
		got := workspacetest.Into[workspacetest.ChangeResult](t, b.Must(t, "fs.write", args{"path": path, "text": text}).Data)
		if got.Files[0].Path != "real/file" {
			t.Errorf("%s: got path %s, want real/file", path, got.Files[0].Path)
		}
		if read := b.Must(t, "fs.read", args{"path": path}); read.Text != text {
			t.Errorf("%s: got content %q", path, read.Text)
		}
	}
	if info, err := os.Lstat(filepath.Join(b.Dir, "link")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v %v", info, err)
	}
}

func TestGitFilesAreProtected(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{".git/config": "x"})
	for _, path := range []string{".git/hooks/pre-commit", ".GIT/config", "sub/../.git/config"} {
		b.Refused(t, "fs.write", args{"path": path, "text": "x"}, "git")
	}
	b.Same(t, map[string]string{".git/config": "x"})
}

func TestToolsOverStdio(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, err := client.NewStdioMCPClient(os.Args[0], []string{stdioFolder + "=" + dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	start(t, c)
	b := &bench{Dir: dir, Client: c}
	b.Must(t, "fs.write", args{"path": "a/b.txt", "text": "text"})
	if got := b.Must(t, "fs.read", args{"path": "a/b.txt"}); got.Text != "text" {
		t.Errorf("got content %q", got.Text)
	}
	b.Refused(t, "fs.read", args{"path": "../x"}, "outside the workspace")
}

func TestCallsAfterCloseAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	if err := b.Ops.Close(); err != nil {
		t.Fatal(err)
	}
	b.Refused(t, "fs.list", nil, "closed")
}

func TestArgumentNamesAreExact(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	for given, wantErr := range map[string]string{
		`{"PATH":"f","text":"x"}`:                 `fs.write has no argument "PATH"; it takes path, text`,
		`{"path":"f","text":"x","Path":"secret"}`: `fs.write has no argument "Path"`,
		`{"path":"f","text":"x","path":"secret"}`: "fs.write has the argument path twice",
		`{"path":"f","text":"x","\u0070ath":"g"}`: "fs.write has the argument path twice",
	} {
		message := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs.write","arguments":%s}}`, given)
		reply, err := json.Marshal(b.Ops.Server().HandleMessage(t.Context(), json.RawMessage(message)))
		if err != nil || !strings.Contains(strings.ReplaceAll(string(reply), `\"`, `"`), wantErr) {
			t.Errorf("%s: got %s, %v", given, reply, err)
		}
	}
	b.Same(t, map[string]string{})
}
