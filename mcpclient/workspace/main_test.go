package workspace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/goleak"

	"replan/mcpclient/workspace"
)

const stdioFolder = "WORKSPACE_TEST_STDIO" // makes the test binary a server over this folder

func TestMain(m *testing.M) {
	if dir := os.Getenv(stdioFolder); dir != "" {
		ops, err := workspace.New(workspace.Config{Dir: dir})
		if err == nil {
			err = server.ServeStdio(ops.Server())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock")) // it ends by itself, a second after the last lexing
}

// tb is what testing.T and rapid.T have in common here.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

// bench is a workspace with a client that speaks to it.
type bench struct {
	dir    string
	ops    *workspace.Operators
	client *client.Client
}

func newBench(t testing.TB, cfg workspace.Config) *bench {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	ops, err := workspace.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b := connect(t, ops, cfg.Dir)
	t.Cleanup(func() {
		if err := b.client.Close(); err != nil {
			t.Error(err)
		}
		if err := ops.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// connect is a client to operators over a folder.
func connect(t tb, ops *workspace.Operators, dir string) *bench {
	t.Helper()
	c, err := client.NewInProcessClient(ops.Server())
	if err != nil {
		t.Fatalf("%v", err)
	}
	start(t, c)
	return &bench{dir: dir, ops: ops, client: c}
}

func start(t tb, c *client.Client) {
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

// answer is a result as a client sees it.
type answer struct {
	text    string
	data    map[string]any
	meta    map[string]any
	isError bool
}

type args = map[string]any

func (b *bench) try(ctx context.Context, tool string, a args, meta map[string]any) (answer, error) {
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = tool, a
	if meta != nil {
		req.Params.Meta = mcp.NewMetaFromMap(maps.Clone(meta))
	}
	res, err := b.client.CallTool(ctx, req)
	if err != nil {
		return answer{}, err
	}
	out := answer{isError: res.IsError}
	if res.Meta != nil {
		out.meta = res.Meta.AdditionalFields
	}
	out.data, _ = res.StructuredContent.(map[string]any)
	for _, c := range res.Content {
		if text, ok := c.(mcp.TextContent); ok {
			out.text += text.Text
		}
	}
	return out, nil
}

// ask calls a tool that must answer, well or not.
func (b *bench) ask(t tb, tool string, a args, meta map[string]any) answer {
	t.Helper()
	out, err := b.try(context.Background(), tool, a, meta)
	if err != nil {
		t.Fatalf("%s %v: %v", tool, a, err)
	}
	return out
}

// must calls a tool that must do its work.
func (b *bench) must(t tb, tool string, a args) answer {
	t.Helper()
	out := b.ask(t, tool, a, nil)
	if out.isError {
		t.Fatalf("%s %v: %s", tool, a, out.text)
	}
	return out
}

// refused calls a tool that must say no, in words that hold all of the parts.
func (b *bench) refused(t tb, tool string, a args, parts ...string) {
	t.Helper()
	out := b.ask(t, tool, a, nil)
	if !out.isError {
		t.Fatalf("%s %v was done: %s", tool, a, out.text)
	}
	for _, part := range parts {
		if !strings.Contains(out.text, part) {
			t.Fatalf("%s %v says %q, which does not hold %q", tool, a, out.text, part)
		}
	}
}

// write puts files into the workspace behind the operators' back.
func (b *bench) write(t tb, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(b.dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatalf("%v", err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatalf("%v", err)
		}
	}
}

// files is everything in the workspace by name.
func (b *bench) files(t tb) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(b.dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(at)
		name, _ := filepath.Rel(b.dir, at)
		all[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return all
}

// same checks that the workspace holds these files and no others.
func (b *bench) same(t tb, want map[string]string) {
	t.Helper()
	if got := b.files(t); !maps.Equal(got, want) {
		t.Fatalf("the workspace holds %q, want %q", got, want)
	}
}

// into reads structured content into a Go value.
func into[T any](t tb, data map[string]any) T {
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

type changeResult struct {
	Files []struct {
		Path           string
		Added, Removed int
	}
	Diff   string
	Hashes map[string]string
}
