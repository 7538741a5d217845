package mcpclient_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
	"replan/planning/plan"
)

// remote is mcp-go's own streamable HTTP server, with a door in front of it.
type remote struct {
	*httptest.Server
	mcp  *server.MCPServer
	door func(w http.ResponseWriter, r *http.Request, body []byte) bool // true lets the request in
}

func newRemote(t *testing.T, door func(http.ResponseWriter, *http.Request, []byte) bool) *remote {
	t.Helper()
	r := &remote{mcp: server.NewMCPServer("remote", "1"), door: door}
	r.mcp.AddTool(mcp.NewTool("hello"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("from afar"), nil
	})
	r.Server = httptest.NewServer(r.handler())
	t.Cleanup(r.Close)
	return r
}

func (r *remote) handler() http.Handler {
	inner := server.NewStreamableHTTPServer(r.mcp)
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if r.door != nil {
			body, err := io.ReadAll(q.Body)
			if err != nil || !r.door(w, q, body) {
				return
			}
			q.Body = io.NopCloser(bytes.NewReader(body))
		}
		inner.ServeHTTP(w, q)
	})
}

func over(t *testing.T, url string, headers map[string]string) *mcpclient.Pool {
	t.Helper()
	return newPool(t, mcpclient.Config{Servers: []mcpclient.Server{
		{Name: "far", URL: url, Headers: headers, Source: mcpclient.SourceUser},
	}})
}

func TestAServerIsReachedOverHTTP(t *testing.T) {
	p := over(t, newRemote(t, nil).URL, nil)
	if got, err := call(t, p, "far:hello", nil); err != nil || got != "from afar" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestProgressArrivesOverHTTPWhileTheToolWorks(t *testing.T) {
	r := newRemote(t, nil)
	seen := make(chan struct{})
	r.mcp.AddTool(mcp.NewTool("work"), func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		err := r.mcp.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
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
				t.Errorf("%v of %v, %q", done, total, text)
			}
			close(seen)
		},
	})
	if err != nil {
		t.Error(err)
	}
}

func TestHeadersAreSentAndTheirLackIsSaid(t *testing.T) {
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
	if got := status(t, over(t, r.URL, nil), "far"); got.State != plan.ServerFailed || !strings.Contains(got.Error, "authorisation") {
		t.Errorf("got %+v", got)
	}
}

func TestHeadersAreNotCarriedToAnotherHost(t *testing.T) {
	var leaked atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Store(true) }))
	t.Cleanup(elsewhere.Close)
	r := newRemote(t, func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		return false
	})
	p := over(t, r.URL, map[string]string{"X-Key": "k"})
	if got := status(t, p, "far"); got.State != plan.ServerFailed || !strings.Contains(got.Error, "another host") {
		t.Errorf("got %+v", got)
	}
	if leaked.Load() {
		t.Error("the other host was asked")
	}
}

func TestAnAddressWithoutAServerIsSaidSoWithoutRepeatingIt(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"no such page": http.NotFound,
		"another site": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(h)
			t.Cleanup(s.Close)
			got := status(t, over(t, s.URL+"/hunter2", nil), "far")
			if got.State != plan.ServerFailed || got.Error == "" || strings.Contains(got.Error, "hunter2") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestCancellingACallEndsItsRequest(t *testing.T) {
	r := newRemote(t, nil)
	called, left := make(chan struct{}), make(chan struct{})
	r.mcp.AddTool(mcp.NewTool("wait"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
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

func TestAServerThatGoesAwayIsFoundAgain(t *testing.T) {
	r := newRemote(t, nil)
	p := over(t, r.URL, nil)
	hello := tool(t, p, "hello")
	addr := r.Listener.Addr().String()
	r.Close()
	// What was sent on the old connection may have been seen; the next call
	// finds nobody to be sent to.
	if _, err := p.Call(t.Context(), plan.ToolCall{Tool: hello}); err == nil {
		t.Error("nobody answered")
	}
	if _, err := p.Call(t.Context(), plan.ToolCall{Tool: hello}); !isToolError(err) {
		t.Errorf("a call that was never sent: %v", err)
	}
	if got := p.Status()[0]; got.State != plan.ServerFailed || got.Error == "" {
		t.Errorf("got %+v", got)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skip("the port is taken by now: ", err)
	}
	again := httptest.NewUnstartedServer(r.handler())
	_ = again.Listener.Close()
	again.Listener = l
	again.Start()
	t.Cleanup(again.Close)
	if got, err := call(t, p, "hello", nil); err != nil || got != "from afar" {
		t.Errorf("got %v, %v; %+v", got, err, p.Status())
	}
}

func TestASessionThatTheServerForgotIsBegunAnew(t *testing.T) {
	var forgotten atomic.Value
	forgotten.Store("")
	var session atomic.Value
	session.Store("")
	r := newRemote(t, func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		// Sessions are a thing of the older protocol.
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
		t.Fatal("there is no session to forget")
	}
	forgotten.Store(session.Load())
	if got, err := p.Call(t.Context(), plan.ToolCall{Tool: hello}); err != nil || got != "from afar" {
		t.Errorf("got %v, %v; %+v", got, err, p.Status())
	}
}
