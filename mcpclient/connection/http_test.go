package connection_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

func TestServersSayHowToUseThem(t *testing.T) {
	t.Parallel()
	p := over(t, newRemote(t, nil).URL, nil)
	p.Ready(t.Context())
	if got := string(p.Status()[0].Instructions); !strings.HasPrefix(got, "Say hello first. xxx") || len([]rune(got)) != 600 {
		t.Errorf("got %d characters: %q, want 600 on one line", len([]rune(got)), got)
	}
}

func TestCallOverHTTP(t *testing.T) {
	t.Parallel()
	p := over(t, newRemote(t, nil).URL, nil)
	if got, err := call(t, p, "far:hello", nil); err != nil || got != "from afar" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestHTTPProgressArrivesDuringCall(t *testing.T) {
	t.Parallel()
	r := newRemote(t, nil)
	seen := make(chan struct{})
	r.MCP.AddTool(mcp.NewTool("work"), func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		err := r.MCP.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progressToken": q.Params.Meta.ProgressToken, "progress": 1, "total": 2, "message": "half",
		})
		if err == nil {
			<-seen
		}
		return mcp.NewToolResultText("2"), err
	})
	p := over(t, r.URL, nil)
	_, err := p.Call(t.Context(), plan.ToolCall{
		Tool: tool(t, p, "work"),
		Progress: func(done, total float64, text string) {
			if done != 1 || total != 2 || text != "half" {
				t.Errorf("got progress %v of %v, %q", done, total, text)
			}
			close(seen)
		},
	})
	if err != nil {
		t.Error(err)
	}
}

func TestHeadersAreSentAndMissingOnesReported(t *testing.T) {
	t.Parallel()
	r := newRemote(t, func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		ok := r.Header.Get("Authorization") == "Bearer k"
		if !ok {
			w.WriteHeader(http.StatusUnauthorized)
		}
		return ok
	})
	if got := status(t, over(t, r.URL, map[string]string{"Authorization": "Bearer k"}), "far"); got.State != plan.ServerReady {
		t.Errorf("got %+v", got)
	}
	if got := status(t, over(t, r.URL, nil), "far"); got.State != plan.ServerFailed || !strings.Contains(string(got.Error), "authorization") {
		t.Errorf("got %+v", got)
	}
}

func TestHeadersAreNotSentToOtherHosts(t *testing.T) {
	t.Parallel()
	var leaked atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Store(true) }))
	t.Cleanup(elsewhere.Close)
	r := newRemote(t, func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		return false
	})
	p := over(t, r.URL, map[string]string{"X-Key": "k"})
	if got := status(t, p, "far"); got.State != plan.ServerFailed || !strings.Contains(string(got.Error), "another host") {
		t.Errorf("got %+v", got)
	}
	if leaked.Load() {
		t.Error("the other host got a request")
	}
}

func TestConnectionErrorDoesNotRepeatURL(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.HandlerFunc{
		"not found":         http.NotFound,
		"not an MCP server": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(h)
			t.Cleanup(s.Close)
			got := status(t, over(t, s.URL+"/hunter2", nil), "far")
			if got.State != plan.ServerFailed || got.Error == "" || strings.Contains(string(got.Error), "hunter2") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestCancelingACallEndsItsRequest(t *testing.T) {
	t.Parallel()
	r := newRemote(t, nil)
	called, left := make(chan struct{}), make(chan struct{})
	r.MCP.AddTool(mcp.NewTool("wait"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		close(called)
		<-ctx.Done()
		close(left)
		return nil, ctx.Err()
	})
	p := over(t, r.URL, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-called
		cancel()
	}()
	_, err := p.Call(ctx, plan.ToolCall{Tool: tool(t, p, "wait")})
	if !errors.Is(err, context.Canceled) || isToolError(err) {
		t.Errorf("got %v", err)
	}
	<-left
}

func TestCallWaitsForRestartedHTTPServer(t *testing.T) {
	t.Parallel()
	r := newRemote(t, nil)
	p := over(t, r.URL, nil)
	hello := tool(t, p, "hello")
	addr := r.Listener.Addr().String()
	r.End()
	awaitState(t, p, plan.ServerStarting)
	called := make(chan error, 1)
	go func() {
		got, err := p.Call(t.Context(), plan.ToolCall{Tool: hello})
		if err == nil && got != "from afar" {
			err = fmt.Errorf("got %v", got)
		}
		called <- err
	}()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skip("the port is in use: ", err)
	}
	again := httptest.NewUnstartedServer(r.Handler())
	_ = again.Listener.Close()
	again.Listener = l
	again.Start()
	t.Cleanup(func() { again.CloseClientConnections(); again.Close() })
	if err := <-called; err != nil {
		t.Errorf("%v; %+v", err, p.Status())
	}
}

func TestHTTPServerIsGivenUpAfterTheLastRestart(t *testing.T) {
	t.Parallel()
	r := newRemote(t, nil)
	p := newPool(t, mcpclient.Config{
		RestartWaits: []time.Duration{time.Millisecond, time.Millisecond},
		Servers:      []config.Server{{Name: "far", URL: r.URL, Source: config.SourceUser}},
	})
	hello := tool(t, p, "hello")
	r.End()
	awaitState(t, p, plan.ServerFailed)
	if _, err := p.Call(t.Context(), plan.ToolCall{Tool: hello}); !isToolError(err) {
		t.Errorf("got error %v, want one that says nothing was done", err)
	}
	if got := p.Status()[0]; !strings.Contains(string(got.Error), "restarted 2 times without success") {
		t.Errorf("got %+v", got)
	}
}

func TestClientRenewsForgottenSession(t *testing.T) {
	t.Parallel()
	var forgotten atomic.Value
	forgotten.Store("")
	var session atomic.Value
	session.Store("")
	r := newRemote(t, func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		// Only the older protocol has sessions.
		if bytes.Contains(body, []byte(`"server/discover"`)) {
			w.WriteHeader(http.StatusBadRequest)
			return false
		}
		id := r.Header.Get("Mcp-Session-Id")
		if id != "" && id == forgotten.Load() {
			w.WriteHeader(http.StatusNotFound)
			return false
		}
		session.Store(id)
		return true
	})
	p := over(t, r.URL, nil)
	hello := tool(t, p, "hello")
	if session.Load() == "" {
		t.Fatal("got no session")
	}
	forgotten.Store(session.Load())
	if got, err := p.Call(t.Context(), plan.ToolCall{Tool: hello}); err != nil || got != "from afar" {
		t.Errorf("got %v, %v; %+v", got, err, p.Status())
	}
}

func TestForbiddenServerSaysSo(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(s.Close)
	if got := status(t, over(t, s.URL, nil), "far"); !strings.Contains(string(got.Error), "403 Forbidden") {
		t.Errorf("got %+v", got)
	}
}

func TestServerThatEndsDuringACallIsSaidToHaveClosedTheConnection(t *testing.T) {
	t.Parallel()
	const part = "HTTP/1.1 200 OK\r\nContent-Type: "
	for name, c := range map[string]struct {
		sent  string // of the answer
		reset bool
	}{
		"before the answer":   {},
		"reset":               {reset: true},
		"within JSON":         {sent: part + "application/json\r\nContent-Length: 100\r\n\r\n{\"jsonrpc\""},
		"within the stream":   {sent: part + "text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"},
		"between two events":  {sent: part + "text/event-stream\r\n\r\n: ping\n\n"},
		"within the headings": {sent: part},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRemote(t, func(w http.ResponseWriter, q *http.Request, body []byte) bool {
				if !bytes.Contains(body, []byte(mcp.MethodToolsCall)) {
					return true
				}
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return false
				}
				_, _ = io.WriteString(conn, c.sent)
				if tcp, ok := conn.(*net.TCPConn); ok && c.reset {
					_ = tcp.SetLinger(0)
				}
				_ = conn.Close()
				return false
			})
			_, err := call(t, over(t, r.URL, nil), "far:hello", nil)
			const want = "calling far:hello: the server closed the connection before it answered"
			if err == nil || err.Error() != want || isToolError(err) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}
