package workspacetest

import (
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/goleak"

	"replan/internal/testgarbage"
	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace"
)

// TB is the part of testing.T and rapid.T that is used here.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Bench is a workspace with a client that speaks to it.
type Bench struct {
	Dir    string
	Ops    *workspace.Operators
	Client *client.Client
}

// Main runs the tests of a package and fails if goroutines outlive them.
func Main(m *testing.M) {
	testgarbage.CollectLess()
	goleak.VerifyTestMain(m, LexerClock)
}

// LexerClock ignores a goroutine that ends by itself, a second after the last lexing.
var LexerClock = goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock")

// ChangeResult is the result of a call that changed files.
type ChangeResult struct {
	Files []struct {
		Path           string
		Added, Removed int
	}
	Diff   string
	Hashes map[string]string
}

// New serves a workspace until the end of the test. Without a folder it is an empty one.
func New(t testing.TB, cfg workspace.Config) *Bench {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	ops, err := workspace.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b := Connect(t, ops, cfg.Dir)
	t.Cleanup(func() {
		if err := b.Client.Close(); err != nil {
			t.Error(err)
		}
		if err := ops.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// Connect is a client to operators over a folder.
func Connect(t TB, ops *workspace.Operators, dir string) *Bench {
	t.Helper()
	c, err := client.NewInProcessClient(ops.Server())
	if err != nil {
		t.Fatalf("%v", err)
	}
	Start(t, c)
	return &Bench{Dir: dir, Ops: ops, Client: c}
}

// Start connects a client.
func Start(t TB, c *client.Client) {
	t.Helper()
	ctx := context.Background()
	if err := c.Start(ctx); err != nil {
		t.Fatalf("%v", err)
	}
	var req mcp.InitializeRequest
	req.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	req.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	if _, err := c.Initialize(ctx, req); err != nil {
		t.Fatalf("%v", err)
	}
}

// Answer is a result as a client sees it.
type Answer struct {
	Text    string
	Data    map[string]any
	Meta    map[string]any
	IsError bool
}

// Args are the arguments of a call.
type Args = map[string]any

// Try calls a tool, which may fail in any way.
func (b *Bench) Try(ctx context.Context, tool string, a Args, meta map[string]any) (Answer, error) {
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = tool, a
	if meta != nil {
		req.Params.Meta = mcp.NewMetaFromMap(maps.Clone(meta))
	}
	res, err := b.Client.CallTool(ctx, req)
	if err != nil {
		return Answer{}, err
	}
	out := Answer{IsError: res.IsError}
	if res.Meta != nil {
		out.Meta = res.Meta.AdditionalFields
	}
	out.Data, _ = res.StructuredContent.(map[string]any)
	for _, c := range res.Content {
		if text, ok := c.(mcp.TextContent); ok {
			out.Text += text.Text
		}
	}
	return out, nil
}

// Ask calls a tool that must Answer, well or not.
func (b *Bench) Ask(t TB, tool string, a Args, meta map[string]any) Answer {
	t.Helper()
	out, err := b.Try(context.Background(), tool, a, meta)
	if err != nil {
		t.Fatalf("%s %v: %v", tool, a, err)
	}
	return out
}

// Must calls a tool that must do its work.
func (b *Bench) Must(t TB, tool string, a Args) Answer {
	t.Helper()
	out := b.Ask(t, tool, a, nil)
	if out.IsError {
		t.Fatalf("%s %v: %s", tool, a, out.Text)
	}
	return out
}

// Refused calls a tool that must fail with an error that contains all parts.
func (b *Bench) Refused(t TB, tool string, a Args, parts ...string) {
	t.Helper()
	out := b.Ask(t, tool, a, nil)
	if !out.IsError {
		t.Fatalf("%s %v was done: %s", tool, a, out.Text)
	}
	for _, part := range parts {
		if !strings.Contains(out.Text, part) {
			t.Fatalf("%s %v says %q, which does not hold %q", tool, a, out.Text, part)
		}
	}
}

// Write puts files into the workspace behind the operators' back.
func (b *Bench) Write(t TB, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(b.Dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil { // #nosec G301 -- a file of a test
			t.Fatalf("%v", err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil { // #nosec G306 -- as above
			t.Fatalf("%v", err)
		}
	}
}

// Files is everything in the workspace by name.
func (b *Bench) Files(t TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(b.Dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(at) // #nosec G304 G122 -- as above
		name, _ := filepath.Rel(b.Dir, at)
		all[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return all
}

// Same checks that the workspace holds these files and no others.
func (b *Bench) Same(t TB, want map[string]string) {
	t.Helper()
	if got := b.Files(t); !maps.Equal(got, want) {
		t.Fatalf("the workspace holds %q, want %q", got, want)
	}
}

// Into reads structured content into a Go value.
func Into[T any](t TB, data map[string]any) T {
	t.Helper()
	var v T
	raw, err := json.Marshal(data)
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		t.Fatalf("reading %v: %v", data, err)
	}
	return v
}

// Git runs git in a folder as if nothing were configured.
func Git(t TB, dir string, arg ...string) string {
	t.Helper()
	cmd := exec.Command("git", arg...) // #nosec G204 -- the test says what
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v: %s", arg, err, out)
	}
	return string(out)
}

// NeedGit leaves a test out where there is no git.
func NeedGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git to compare with")
	}
}

// Preview is the `_meta` of a call that asks what it would change.
var Preview = map[string]any{builtin.MetaPreview: true}

// ToAny is a map as a client sends it.
func ToAny(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// Offline is the environment of a go command that loads nothing. Its tests start without
// go vet before them, which takes a fifth of the time of small ones. They have no debug
// data, with which links take twice as long.
func Offline() []string {
	return append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod -vet=off -ldflags=-w", "GOWORK=off", "GOTOOLCHAIN=local")
}

// Fake puts a program of this name before all others: a script for sh.
func Fake(t *testing.T, name, script string) {
	t.Helper()
	t.Setenv("PATH", Program(t, name, script)+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// Program returns a folder with a program of this name: a script for sh.
func Program(t *testing.T, name, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil { // #nosec G306 -- it is run
		t.Fatal(err)
	}
	return dir
}
