package connection_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

// newOldRemote returns a server that speaks the transport of 2024-11-05.
func newOldRemote(t *testing.T) *remote {
	t.Helper()
	r := &remote{MCP: server.NewMCPServer("old", "1")}
	r.MCP.AddTool(mcp.NewTool("hello"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("from afar"), nil
	})
	inner := server.NewSSEServer(r.MCP)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil || r.Filter != nil && !r.Filter(w, q, body) {
			return
		}
		q.Body = io.NopCloser(bytes.NewReader(body))
		inner.ServeHTTP(w, q)
	}))
	t.Cleanup(func() { r.CloseClientConnections(); r.Close() })
	return r
}

// overSSE returns a pool with a server of the older transport.
func overSSE(t *testing.T, r *remote, cfg mcpclient.Config) *mcpclient.Pool {
	t.Helper()
	cfg.Servers = []config.Server{{Name: "far", URL: r.URL + "/sse", SSE: true, Headers: map[string]string{"X-Key": "k"}, Source: config.SourceUser}}
	return newPool(t, cfg)
}

func TestCallOverSSE(t *testing.T) {
	t.Parallel()
	r := newOldRemote(t)
	r.Filter = func(w http.ResponseWriter, q *http.Request, _ []byte) bool {
		ok := q.Header.Get("X-Key") == "k" && strings.HasPrefix(q.Header.Get("User-Agent"), "replan/")
		if !ok {
			w.WriteHeader(http.StatusTeapot)
		}
		return ok
	}
	var wire strings.Builder
	p := overSSE(t, r, mcpclient.Config{Wire: func(m mcpclient.Message) { wire.Write(m.Text) }})
	if got, err := call(t, p, "far:hello", nil); err != nil || got != "from afar" {
		t.Errorf("got %v, %v; %+v", got, err, p.Status())
	}
	if got := p.Status()[0]; got.Transport != "sse" {
		t.Errorf("got %+v", got)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if got := wire.String(); !strings.Contains(got, `"tools/call"`) || !strings.Contains(got, "from afar") || strings.Contains(got, "server/discover") {
		t.Errorf("the wire: %s", got)
	}
}

func TestProgressAndCancelReachSSEServer(t *testing.T) {
	t.Parallel()
	r := newOldRemote(t)
	canceled := make(chan struct{})
	r.Filter = func(_ http.ResponseWriter, _ *http.Request, body []byte) bool {
		if bytes.Contains(body, []byte(`"notifications/cancelled"`)) {
			close(canceled)
		}
		return true
	}
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	r.MCP.AddTool(mcp.NewTool("wait"), func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		err := r.MCP.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progressToken": q.Params.Meta.ProgressToken, "progress": 1, "total": 2, "message": "half",
		})
		<-end
		return nil, err
	})
	p := overSSE(t, r, mcpclient.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := p.Call(ctx, plan.ToolCall{Tool: tool(t, p, "wait"), Progress: func(done, _ float64, text string) {
		if done != 1 || text != "half" {
			t.Errorf("got %v, %q", done, text)
		}
		cancel()
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-canceled
}

func TestEndedSSEStreamIsOpenedAgain(t *testing.T) {
	t.Parallel()
	r := newOldRemote(t)
	p := overSSE(t, r, mcpclient.Config{RestartWaits: []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond}})
	hello := tool(t, p, "hello")
	for range 3 {
		r.CloseClientConnections()
		// Calls fail until the client has noticed the end of the stream. One that meets
		// the end may have been carried out.
		for calls := 1; ; calls++ {
			got, err := p.Call(t.Context(), plan.ToolCall{Tool: hello})
			if err == nil && got == "from afar" {
				break
			}
			expected := err != nil && (strings.Contains(err.Error(), "connection") || strings.Contains(err.Error(), "Invalid session ID"))
			if !expected || calls == 1000 {
				t.Fatalf("call %d got %v, %v; %+v", calls, got, err, p.Status())
			}
		}
	}
}

func TestCallInProgressFailsWithTheSSEStream(t *testing.T) {
	t.Parallel()
	r := newOldRemote(t)
	called, end := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(end) })
	r.MCP.AddTool(mcp.NewTool("wait"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		close(called)
		<-end
		return mcp.NewToolResultText(""), nil
	})
	p := overSSE(t, r, mcpclient.Config{})
	wait := tool(t, p, "wait")
	go func() {
		<-called
		r.CloseClientConnections()
	}()
	if _, err := p.Call(t.Context(), plan.ToolCall{Tool: wait}); err == nil || isToolError(err) || !strings.Contains(err.Error(), "connection") {
		t.Errorf("got %v, want an error that leaves the effect open", err)
	}
}

func TestSSEServerThatCannotStartIsExplained(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		want string
	}{
		"no such address": {http.NotFound, `does not speak the older SSE transport at its url (404 Not Found)`},
		"refused":         {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, "authorization"},
		"silent":          {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "did not answer within"},
		"no address for messages": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "did not answer within"},
		"another host": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "event: endpoint\ndata: http://127.0.0.2/messages\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "did not answer within"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(c.h)
			t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
			p := newPool(t, mcpclient.Config{StartTimeout: 200 * time.Millisecond, Servers: []config.Server{{Name: "far", URL: s.URL, SSE: true}}})
			if got := status(t, p, "far"); got.State != plan.ServerFailed || !strings.Contains(string(got.Error), c.want) {
				t.Errorf("got %+v, want %q", got, c.want)
			}
		})
	}
}

// asksOverSSE is a server that asks for the folders of its client and then a question
// of the user in each call, with the number of the call itself.
func asksOverSSE(t *testing.T) string {
	t.Helper()
	out := make(chan string, 10)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sse", func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: endpoint\ndata: /post\n\n")
		for {
			w.(http.Flusher).Flush()
			select {
			case message := <-out:
				_, _ = io.WriteString(w, "event: message\ndata: "+message+"\n\n")
			case <-q.Context().Done():
				return
			}
		}
	})
	var folders string
	mux.HandleFunc("POST /post", func(w http.ResponseWriter, q *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
		}
		_ = json.NewDecoder(q.Body).Decode(&m)
		w.WriteHeader(http.StatusAccepted)
		reply := func(result string) { out <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result) }
		ask := func(method, params string) {
			out <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, m.ID, method, params)
		}
		switch {
		case m.Method == "initialize":
			reply(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}`)
		case m.Method == "tools/list":
			reply(`{"tools":[{"name":"book","inputSchema":{"type":"object"}}]}`)
		case m.Method == "tools/call":
			ask("roots/list", "{}")
		case m.Method == "" && folders == "":
			folders = string(m.Result)
			ask("elicitation/create", `{"message":"Which table?","requestedSchema":{"type":"object","properties":{}}}`)
		case m.Method == "":
			text, _ := json.Marshal(folders + " " + string(m.Result))
			reply(`{"content":[{"type":"text","text":` + string(text) + `}]}`)
		}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

func TestSSEServerAsksDuringACall(t *testing.T) {
	t.Parallel()
	r := &remote{Server: &httptest.Server{URL: asksOverSSE(t)}}
	p := overSSE(t, r, mcpclient.Config{})
	got, err := p.Call(t.Context(), plan.ToolCall{Tool: tool(t, p, "far:book"), Elicit: func(_ context.Context, q plan.Elicitation) plan.ElicitationAnswer {
		if q.Message != "Which table?" {
			t.Errorf("asked %+v", q)
		}
		return plan.ElicitationAnswer{Action: plan.ElicitationDecline}
	}})
	if text := fmt.Sprint(got); err != nil || !strings.Contains(text, `{"roots":[{"uri":"file:///`) || !strings.Contains(text, `{"action":"decline"}`) {
		t.Errorf("got %v, %v", got, err)
	}
}
