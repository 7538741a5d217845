package pooltest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/goleak"

	"replan/internal/jsonsize"
	"replan/internal/testgarbage"
	"replan/mcpclient"
	"replan/mcpclient/builtin"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

// Role is the environment variable that makes the test binary act as a child.
const Role = "REPLAN_TEST_ROLE"

// Main runs the tests of a package, or acts as a child of one of them.
func Main(m *testing.M) {
	testgarbage.CollectLess()
	switch os.Getenv(Role) {
	case "":
		// Tests mostly wait for servers. A flag on the command line overrides this.
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
		goleak.VerifyTestMain(m)
	case "server":
		_ = server.ServeStdio(childServer(), server.WithWorkerPoolSize(8))
	case "older server": // speaks the protocols before 2026-07-28 alone
		_ = server.NewStdioServer(childServer()).Listen(context.Background(), withoutDiscover(os.Stdin, os.Stdout), os.Stdout)
	case "fault":
		faulty(os.Getenv("FAULT"))
	case "mute":
		fmt.Fprintln(os.Stderr, "still compiling")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "broken":
		fmt.Fprint(os.Stderr, "starting\n\ncannot find my configuration\n")
		os.Exit(3)
	case "deaf":
		hold(os.Getenv("ADDR"))
	case "stubborn", "grandchild":
		signal.Ignore(syscall.SIGTERM, os.Interrupt)
		hold(os.Getenv("ADDR"))
	}
}

// withoutDiscover refuses server/discover, as servers do that do not know it, and passes
// all other lines on.
func withoutDiscover(from io.Reader, answers io.Writer) io.Reader {
	r, w := io.Pipe()
	go func() {
		lines := bufio.NewScanner(from)
		for lines.Scan() {
			var request struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
			}
			if _ = json.Unmarshal(lines.Bytes(), &request); request.Method == string(mcp.MethodServerDiscover) {
				_, _ = fmt.Fprintf(answers, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`+"\n", request.ID)
				continue
			}
			_, _ = fmt.Fprintf(w, "%s\n", lines.Bytes())
		}
		_ = w.Close()
	}()
	return r
}

// hold keeps a connection to the test open until this process is killed or the
// test ends.
func hold(addr string) {
	conn, err := net.Dial("tcp", addr) //nolint:gosec // of the test
	if err != nil {
		os.Exit(4)
	}
	_, _ = fmt.Fprintln(conn, "alive")
	_, _ = io.Copy(io.Discard, conn)
}

func childServer() *server.MCPServer {
	s := server.NewMCPServer("child", "1", server.WithToolCapabilities(true), server.WithLogging())
	if os.Getenv("ASKS") != "" {
		AddAskingTools(s)
	}
	s.AddTool(mcp.NewTool("env"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		value, ok := os.LookupEnv(r.GetString("name", ""))
		return mcp.NewToolResultStructuredOnly(map[string]any{"value": value, "set": ok}), nil
	})
	s.AddTool(mcp.NewTool("where"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		dir, err := os.Getwd()
		return mcp.NewToolResultText(dir), err
	})
	previewing := mcp.NewTool("meta")
	previewing.Meta = mcp.NewMetaFromMap(map[string]any{builtin.MetaPreviews: true})
	s.AddTool(previewing, func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var keys []string
		if r.Params.Meta != nil {
			for key := range r.Params.Meta.AdditionalFields {
				keys = append(keys, key)
			}
		}
		return mcp.NewToolResultText(strings.Join(keys, "\n")), nil
	})
	s.AddTool(mcp.NewTool("work"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		conn, err := net.Dial("tcp", r.GetString("addr", ""))
		if err != nil {
			return nil, err
		}
		defer func() { _ = conn.Close() }()
		err = s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progressToken": r.Params.Meta.ProgressToken, "progress": 1, "total": 3, "message": "counting",
		})
		if err == nil {
			_, err = conn.Read(make([]byte, 1)) // waits until the test has seen it
		}
		return mcp.NewToolResultText("done"), err
	})
	s.AddTool(mcp.NewTool("wait"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		conn, err := net.Dial("tcp", r.GetString("addr", ""))
		if err != nil {
			return nil, err
		}
		defer func() { _ = conn.Close() }()
		_, _ = fmt.Fprintln(conn, "called")
		<-ctx.Done()
		_, _ = fmt.Fprintln(conn, "cancelled")
		return nil, ctx.Err()
	})
	s.AddTool(mcp.NewTool("spawn"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		cmd := exec.Command(os.Args[0]) //nolint:gosec // this test binary
		cmd.Env = append(os.Environ(), Role+"=grandchild", "ADDR="+r.GetString("addr", ""))
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		return mcp.NewToolResultText("started"), cmd.Start()
	})
	s.AddTool(mcp.NewTool("pause"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		time.Sleep(time.Duration(r.GetInt("ms", 0)) * time.Millisecond)
		return mcp.NewToolResultText("done"), nil
	})
	s.AddTool(mcp.NewTool("crash"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "panic: out of cheese")
		os.Exit(7)
		return nil, nil
	})
	s.AddTool(mcp.NewTool("flood"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.Repeat("x", 17<<20)), nil
	})
	s.AddTool(mcp.NewTool("many"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultStructured(make([]bool, jsonsize.Most), "many"), nil
	})
	s.AddTool(mcp.NewTool("grow"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.AddTool(mcp.NewTool("grown"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("yes"), nil
		})
		return mcp.NewToolResultText("grown"), nil
	})
	return s
}

// Child returns a server whose process is this test binary in a role.
func Child(name, part string, env map[string]string) config.Server {
	// With the race detector a process lingers for a second before it exits.
	all := map[string]string{Role: part, "GORACE": "atexit_sleep_ms=0"}
	for k, v := range env {
		all[k] = v
	}
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return config.Server{Name: name, Command: exe, Env: all, Source: config.SourceFlag}
}

// New returns a pool that is closed after the test.
func New(t *testing.T, cfg mcpclient.Config) *mcpclient.Pool {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	p, err := mcpclient.NewPool(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// Tool returns a tool by its name, once all servers have started.
func Tool(t *testing.T, p *mcpclient.Pool, name string) plan.Tool {
	t.Helper()
	found, err := p.Ready(t.Context()).Find(name)
	if err != nil {
		t.Fatalf("%v; servers: %+v", err, p.Status())
	}
	return found
}

// Call calls a tool by its name.
func Call(t *testing.T, p *mcpclient.Pool, name string, args map[string]any) (any, error) {
	t.Helper()
	return p.Call(t.Context(), plan.ToolCall{Tool: Tool(t, p, name), Args: args})
}

// Status waits until all servers have started and returns the status of one.
func Status(t *testing.T, p *mcpclient.Pool, name string) plan.ServerStatus {
	t.Helper()
	p.Ready(t.Context())
	for _, s := range p.Status() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no server %s among %+v", name, p.Status())
	return plan.ServerStatus{}
}

// AwaitState waits until the first server is in a state.
func AwaitState(t *testing.T, p *mcpclient.Pool, want plan.ServerState) {
	t.Helper()
	changed := make(chan struct{}, 1)
	p.Watch(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	defer p.Watch(nil)
	for p.Status()[0].State != want {
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatalf("%+v", p.Status())
		}
	}
}

// IsToolError reports whether a call did not do its work.
func IsToolError(err error) bool {
	var failure *plan.ToolError
	return errors.As(err, &failure)
}

// Listener accepts one connection of a child.
type Listener struct {
	t    *testing.T
	l    net.Listener
	conn net.Conn
	read *bufio.Reader
}

// Listen returns a listener that is closed after the test.
func Listen(t *testing.T) *Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	child := &Listener{t: t, l: l}
	t.Cleanup(func() {
		_ = l.Close()
		if child.conn != nil {
			_ = child.conn.Close()
		}
	})
	return child
}

// Addr returns the address to give to the child.
func (e *Listener) Addr() string { return e.l.Addr().String() }

// Accept waits for the child.
func (e *Listener) Accept() {
	e.t.Helper()
	if e.conn == nil {
		conn, err := e.l.Accept()
		if err != nil {
			e.t.Fatal(err)
		}
		e.conn, e.read = conn, bufio.NewReader(conn)
	}
}

// Line returns the next line of the child.
func (e *Listener) Line() string {
	e.t.Helper()
	e.Accept()
	text, err := e.read.ReadString('\n')
	if err != nil {
		e.t.Fatalf("read from the child: %v", err)
	}
	return strings.TrimSpace(text)
}

// Write sends a text to the child.
func (e *Listener) Write(text string) {
	e.t.Helper()
	e.Accept()
	if _, err := io.WriteString(e.conn, text); err != nil {
		e.t.Error(err)
	}
}

// AcceptAnother waits for another child.
func (e *Listener) AcceptAnother() net.Conn {
	e.t.Helper()
	conn, err := e.l.Accept()
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// WantEnded fails the test unless the first child ends within a tenth of a second.
func (e *Listener) WantEnded() {
	e.t.Helper()
	_ = e.conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := e.read.ReadByte(); !errors.Is(err, io.EOF) {
		e.t.Errorf("the earlier server still runs: %v", err)
	}
}

// AwaitDeath waits until the process at the other end has ended.
func (e *Listener) AwaitDeath() {
	e.t.Helper()
	if text, err := io.ReadAll(e.read); len(text) > 0 {
		e.t.Errorf("got %q from the child (%v)", text, err)
	}
}

// Handler carries out the calls of a tool.
type Handler = func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error)

// InProcess returns a pool with tools in this process.
func InProcess(t *testing.T, tools map[string]Handler) *mcpclient.Pool {
	t.Helper()
	s := server.NewMCPServer("workspace", "1")
	for name, h := range tools {
		s.AddTool(mcp.NewTool(name), h)
	}
	return New(t, mcpclient.Config{InProcess: Existing(map[string]*server.MCPServer{"workspace": s})})
}

// Existing returns servers that exist already as the pool takes them.
func Existing(servers map[string]*server.MCPServer) map[string]func() *server.MCPServer {
	constructors := make(map[string]func() *server.MCPServer, len(servers))
	for name, s := range servers {
		constructors[name] = func() *server.MCPServer { return s }
	}
	return constructors
}

// ConfigFile returns the path of a configuration file with a text.
func ConfigFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
