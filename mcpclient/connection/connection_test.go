package connection_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/internal/redact"
	"replan/internal/timelimit"
	"replan/mcpclient/config"
	"replan/mcpclient/connection"
	"replan/mcpclient/handshake"
	"replan/planning/plan"
)

// greeter makes a server with one tool, which reports progress and greets.
func greeter() *server.MCPServer {
	s := server.NewMCPServer("greeter", "1", server.WithToolCapabilities(true), server.WithInstructions("be kind"))
	s.AddTool(mcp.NewTool("greet", mcp.WithDescription("greets\u200b somebody")), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		err := s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{"progressToken": r.Params.Meta.ProgressToken, "progress": 1, "total": 2, "message": "thinking"})
		return mcp.NewToolResultText("hello " + r.GetString("name", "")), err
	})
	return s
}

// dials opens connections to the greeter, over each transport that needs no process.
func dials(t *testing.T) map[string]*connection.Connection {
	t.Helper()
	web := httptest.NewServer(server.NewStreamableHTTPServer(greeter()))
	t.Cleanup(web.Close)
	all := map[string]*connection.Connection{}
	for name, to := range map[string]connection.Target{
		"in this process": {Server: config.Server{Name: "greeter"}, Builtin: greeter},
		"over HTTP":       {Server: config.Server{Name: "greeter", URL: web.URL}, LineWritten: func() {}},
	} {
		to.Log = slog.New(slog.DiscardHandler)
		c, err := connection.Dial(t.Context(), connection.Settings{Version: "1", Secrets: &redact.Secrets{}}, to, handshake.Usual)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		all[name] = c
	}
	return all
}

func TestConnectionListsAndCallsToolsOverEachTransport(t *testing.T) {
	t.Parallel()
	for name, c := range dials(t) {
		t.Run(name, func(t *testing.T) {
			found, err := c.Tools(t.Context())
			if err != nil || len(found.Tools) != 1 || found.Tools[0].QualifiedName() != "greeter:greet" {
				t.Fatalf("got %+v, %v", found, err)
			}
			local := name == "in this process"
			if tool := found.Tools[0]; tool.Trusted != local || strings.Contains(tool.Description, "\u200b") != local || (found.Texts["greet"] == "") != local {
				t.Errorf("got %+v of %q", tool, found.Texts)
			}
			if c.Instructions() != "be kind" || c.Protocol() == "" || c.IsProcess() || c.IsLost() {
				t.Errorf("instructions %q, protocol %q", c.Instructions(), c.Protocol())
			}
			var heard []string // of this process it is output, see builtin.StatusField
			call := plan.ToolCall{
				Tool: found.Tools[0], Args: map[string]any{"name": "Ada"},
				Output: func(chunk string) { heard = append(heard, chunk) }, Progress: func(_, _ float64, message string) { heard = append(heard, message) },
			}
			within, limit := timelimit.New(t.Context(), 1<<40)
			defer limit.Stop()
			running, ok := c.Begin(within, limit, call)
			if !ok {
				t.Fatal("no call may begin")
			}
			defer running.End()
			reply, err := running.Send(nil)
			running.Leave()
			if err != nil || len(reply.Content) != 1 || running.Strays() != "" {
				t.Fatalf("got %+v, %v", reply, err)
			}
			if text, _ := mcp.AsTextContent(reply.Content[0]); text.Text != "hello Ada" || local && !slices.Equal(heard, []string{"thinking"}) {
				t.Errorf("got %q after %q", text.Text, heard)
			}
		})
	}
}

func TestNoCallBeginsOnAConnectionThatCloses(t *testing.T) {
	t.Parallel()
	for name, c := range dials(t) {
		within, limit := timelimit.New(t.Context(), 1<<40)
		first, ok := c.Begin(within, limit, plan.ToolCall{})
		if !ok {
			t.Fatalf("%s: no call may begin", name)
		}
		retired := make(chan struct{})
		go func() {
			defer close(retired)
			c.Retire()
		}()
		for ok { // until Retire refuses calls
			var more *connection.Call
			if more, ok = c.Begin(within, limit, plan.ToolCall{}); ok {
				more.Leave()
				more.End()
			}
		}
		if c.Closing().Err() != nil {
			t.Errorf("%s: a call in progress was canceled", name)
		}
		first.Leave()
		first.End()
		<-retired
		if c.Closing().Err() == nil {
			t.Errorf("%s: still open", name)
		}
		limit.Stop()
	}
}
