package mcpclient_test

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
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/goleak"

	"replan/internal/jsonsize"
	"replan/mcpclient"
	"replan/mcpclient/builtin"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

// role is the environment variable that makes the test binary act as a child.
const role = "REPLAN_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
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
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		os.Exit(4)
	}
	_, _ = fmt.Fprintln(conn, "alive")
	_, _ = io.Copy(io.Discard, conn)
}

func childServer() *server.MCPServer {
	s := server.NewMCPServer("child", "1", server.WithToolCapabilities(true), server.WithLogging())
	if os.Getenv("ASKS") != "" {
		addAskingTools(s)
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
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), role+"=grandchild", "ADDR="+r.GetString("addr", ""))
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

// aChild returns a server whose process is this test binary in a role.
func aChild(name, part string, env map[string]string) config.Server {
	// With the race detector a process lingers for a second before it exits.
	all := map[string]string{role: part, "GORACE": "atexit_sleep_ms=0"}
	for k, v := range env {
		all[k] = v
	}
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return config.Server{Name: name, Command: exe, Env: all, Source: config.SourceFlag}
}

func newPool(t *testing.T, cfg mcpclient.Config) *mcpclient.Pool {
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

func tool(t *testing.T, p *mcpclient.Pool, name string) plan.Tool {
	t.Helper()
	found, err := p.Ready(t.Context()).Find(name)
	if err != nil {
		t.Fatalf("%v; servers: %+v", err, p.Status())
	}
	return found
}

func call(t *testing.T, p *mcpclient.Pool, name string, args map[string]any) (any, error) {
	t.Helper()
	return p.Call(t.Context(), plan.ToolCall{Tool: tool(t, p, name), Args: args})
}

// status waits until all servers have started and returns the status of one.
func status(t *testing.T, p *mcpclient.Pool, name string) plan.ServerStatus {
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

// awaitState waits until the first server is in a state.
func awaitState(t *testing.T, p *mcpclient.Pool, want plan.ServerState) {
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

func isToolError(err error) bool {
	var failure *plan.ToolError
	return errors.As(err, &failure)
}

// listener accepts one connection of a child.
type listener struct {
	t    *testing.T
	l    net.Listener
	conn net.Conn
	read *bufio.Reader
}

func listen(t *testing.T) *listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	child := &listener{t: t, l: l}
	t.Cleanup(func() {
		_ = l.Close()
		if child.conn != nil {
			_ = child.conn.Close()
		}
	})
	return child
}

func (e *listener) addr() string { return e.l.Addr().String() }

func (e *listener) accept() {
	e.t.Helper()
	if e.conn == nil {
		conn, err := e.l.Accept()
		if err != nil {
			e.t.Fatal(err)
		}
		e.conn, e.read = conn, bufio.NewReader(conn)
	}
}

func (e *listener) line() string {
	e.t.Helper()
	e.accept()
	text, err := e.read.ReadString('\n')
	if err != nil {
		e.t.Fatalf("read from the child: %v", err)
	}
	return strings.TrimSpace(text)
}

// awaitDeath waits until the process at the other end has ended.
func (e *listener) awaitDeath() {
	e.t.Helper()
	if text, err := io.ReadAll(e.read); len(text) > 0 {
		e.t.Errorf("got %q from the child (%v)", text, err)
	}
}
