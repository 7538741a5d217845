package pooltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
	"replan/mcpclient/config"
)

// AddAskingTools adds tools that ask the client for something in the middle of a call.
// mcp-go asks in the way of the protocol that was negotiated.
func AddAskingTools(s *server.MCPServer) {
	asking := func(name string, params func() mcp.ElicitationParams) {
		s.AddTool(mcp.NewTool(name), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			answer := server.ElicitationResponse(r.Params.InputResponses, "q")
			if answer == nil {
				return server.NewInputRequestBuilder("state").Elicit("q", params()).ToolResult(), nil
			}
			content, err := json.Marshal(answer.Content)
			return mcp.NewToolResultText(fmt.Sprintf("%s %s", answer.Action, content)), err
		})
	}
	asking("book", func() mcp.ElicitationParams {
		return mcp.ElicitationParams{Message: "Which table?", RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{"guests": map[string]any{"type": "integer"}}, "required": []string{"guests"},
		}}
	})
	asking("pay", func() mcp.ElicitationParams {
		return mcp.ElicitationParams{Mode: mcp.ElicitationModeURL, Message: "Pay here.", ElicitationID: "1", URL: "https://pay.example/7?x=1"}
	})
	asking("odd", func() mcp.ElicitationParams {
		return mcp.ElicitationParams{Mode: mcp.ElicitationModeURL, Message: "Open it.", ElicitationID: "1", URL: "javascript:alert(1)"}
	})
	s.AddTool(mcp.NewTool("visit"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, mcp.URLElicitationRequiredError{Elicitations: []mcp.ElicitationParams{{Mode: mcp.ElicitationModeURL, Message: "Log in.", ElicitationID: "1", URL: "https://login.example/"}}}
	})
	s.AddTool(mcp.NewTool("folders"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		roots := server.RootsResponse(r.Params.InputResponses, "r")
		if roots == nil {
			return server.NewInputRequestBuilder("state").Roots("r").ToolResult(), nil
		}
		return mcp.NewToolResultText(roots.Roots[0].URI), nil
	})
	s.AddTool(mcp.NewTool("think"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return server.NewInputRequestBuilder("state").Sample("s", mcp.CreateMessageParams{MaxTokens: 1}).ToolResult(), nil
	})
	s.AddTool(mcp.NewTool("log"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range r.GetInt("times", 1) {
			n := mcp.NewLoggingMessageNotification(mcp.LoggingLevelWarning, "db", fmt.Sprint("slow ", i))
			err := s.SendLogMessageToClient(ctx, n)
			for errors.Is(err, server.ErrNotificationChannelBlocked) { // it queues 100 at most
				runtime.Gosched()
				err = s.SendLogMessageToClient(ctx, n)
			}
			if err != nil {
				return nil, err
			}
		}
		return mcp.NewToolResultText("logged"), nil
	})
	background := mcp.NewTool("research")
	background.Execution = &mcp.ToolExecution{TaskSupport: mcp.TaskSupportRequired}
	s.AddTool(background, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("tasks only")
	})
}

// Asks makes a child offer the asking tools.
var Asks = map[string]string{"ASKS": "1"}

// Askers runs a test for each transport and protocol, with a server "child" that asks.
func Askers(t *testing.T, test func(t *testing.T, cfg mcpclient.Config)) {
	remote := func(t *testing.T, older bool) mcpclient.Config {
		r := NewRemote(t, func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
			refused := older && bytes.Contains(body, []byte(`"server/discover"`))
			if refused {
				http.Error(w, "unknown method", http.StatusNotFound)
			}
			return !refused
		})
		AddAskingTools(r.MCP)
		return mcpclient.Config{Servers: []config.Server{{Name: "child", URL: r.URL, Source: config.SourceUser}}}
	}
	for name, cfg := range map[string]func(*testing.T) mcpclient.Config{
		"stdio, newer protocol": func(*testing.T) mcpclient.Config {
			return mcpclient.Config{Servers: []config.Server{Child("child", "server", Asks)}}
		},
		"stdio, older protocol": func(*testing.T) mcpclient.Config {
			return mcpclient.Config{Servers: []config.Server{Child("child", "older server", Asks)}}
		},
		"HTTP, newer protocol": func(t *testing.T) mcpclient.Config { return remote(t, false) },
		"HTTP, older protocol": func(t *testing.T) mcpclient.Config { return remote(t, true) },
	} {
		t.Run(name, func(t *testing.T) { test(t, cfg(t)) })
	}
}
