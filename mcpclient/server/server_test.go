package server_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"replan/internal/redact"
	"replan/mcpclient/config"
	"replan/mcpclient/connection"
	"replan/mcpclient/handshake"
	"replan/mcpclient/server"
	"replan/mcpclient/trust"
	"replan/planning/plan"
)

// settings returns what servers share. They end with the test.
func settings(t *testing.T) server.Settings {
	t.Helper()
	life, end := context.WithCancel(context.Background())
	log := slog.New(slog.DiscardHandler)
	s := server.Settings{
		Settings: connection.Settings{Version: "1", Secrets: &redact.Secrets{}},
		Logger:   log, Pins: trust.OpenPins("", ""), Handshakes: handshake.Load("", log), Signal: server.NewSignal(),
		Note: func(string, string) {}, Life: life, Work: &sync.WaitGroup{}, StartTimeout: 1 << 40, CallTimeout: 1 << 40,
	}
	t.Cleanup(func() { end(); s.Work.Wait() })
	return s
}

// echoing makes a server with a tool that returns its words.
func echoing() *mcpserver.MCPServer {
	s := mcpserver.NewMCPServer("echo", "1", mcpserver.WithToolCapabilities(true))
	s.AddTool(mcp.NewTool("echo"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.GetString("words", "")), nil
	})
	return s
}

func starting() server.Admission { return server.Admission{State: plan.ServerStarting} }

func TestServerThatMayStartAnswersCalls(t *testing.T) {
	s := server.New(settings(t), config.Server{Name: "echo"}, echoing, starting())
	s.Launch()
	s.Launch() // it is under way already
	got, err := s.Call(t.Context(), plan.ToolCall{Tool: plan.Tool{Server: "echo", Name: "echo"}, Args: map[string]any{"words": "hello"}})
	if err != nil || got != "hello" {
		t.Errorf("got %v, %v", got, err)
	}
	if v := s.View(); v.State != plan.ServerReady || len(v.Tools) != 1 || !v.Tools[0].Trusted {
		t.Errorf("got %+v", v)
	}
	if status := s.Status(); status.Calls != 1 || status.Transport != "built-in" || status.Tools != 1 {
		t.Errorf("got %+v", status)
	}
}

func TestServerStartsOnlyAsItIsAdmitted(t *testing.T) {
	own := config.Server{Name: "own", Command: "serve", Source: config.SourceProject}
	for name, c := range map[string]struct {
		admission server.Admission
		why       string
	}{
		"waits for the user": {server.Admission{State: plan.ServerWaiting}, "own waits for your approval: answer the question about this project's servers"},
		"declined":           {server.Declined(), "own was left out: approve it on the screen"},
		"left out":           {server.Admission{State: plan.ServerStopped, LeftOut: true}, "own was left out: approve it on the screen"},
		"disabled":           {server.Admission{State: plan.ServerStopped, Disabled: plan.DisabledForNow}, "own is disabled: enable it"},
	} {
		t.Run(name, func(t *testing.T) {
			s := server.New(settings(t), own, nil, c.admission)
			s.Launch()
			if err := s.Restart(); err == nil || err.Error() != c.why {
				t.Errorf("restart: %v", err)
			}
			if v := s.View(); v.State != c.admission.State || !v.Begun.IsZero() {
				t.Errorf("got %+v", v)
			}
			_, err := s.Call(t.Context(), plan.ToolCall{Tool: plan.Tool{Server: "own", Name: "x"}})
			if failure, ok := errors.AsType[*plan.ToolError](err); !ok || !failure.NotCalled {
				t.Errorf("call: %v", err)
			}
		})
	}
}

func TestAnswerOfTheUserMovesAServer(t *testing.T) {
	own := config.Server{Name: "own", Command: "serve", Source: config.SourceProject}
	s := server.New(settings(t), own, nil, server.Admission{State: plan.ServerWaiting})
	if _, waits := s.Pending(); !waits || s.IsAllowed() {
		t.Fatal("it does not wait for the user")
	}
	if !s.Decline() || s.Decline() || s.Allow() {
		t.Error("a no counts otherwise than once")
	}
	if status := s.Status(); !status.Declined || status.State != plan.ServerStopped {
		t.Errorf("after the no: %+v", status)
	}
	if !s.AskPermission() || s.AskPermission() {
		t.Error("the user is not asked again once")
	}
	if _, waits := s.Pending(); !waits {
		t.Error("it does not wait again")
	}
}

func TestEachChangeOfStateIsSignaled(t *testing.T) {
	all := settings(t)
	told := make(chan plan.ServerState, 100)
	s := server.New(all, config.Server{Name: "echo"}, echoing, starting())
	all.Signal.Watch(func() { told <- s.View().State })
	defer all.Signal.Watch(nil)
	changed := all.Signal.Changed()
	s.Launch()
	<-changed
	for state := range told {
		if state == plan.ServerReady {
			break
		}
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	if state := s.View().State; state != plan.ServerStarting && state != plan.ServerReady {
		t.Errorf("got %s after a restart", state)
	}
}

func TestServerKeepsTheRecordsOfTheOneThatItReplaces(t *testing.T) {
	all := settings(t)
	old := server.New(all, config.Server{Name: "echo"}, echoing, starting())
	old.Launch()
	call := plan.ToolCall{Tool: plan.Tool{Server: "echo", Name: "echo"}, Args: map[string]any{"words": "a"}}
	if _, err := old.Call(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	s := server.New(all, config.Server{Name: "echo"}, echoing, starting())
	s.Replaces(old)
	s.Launch()
	if _, err := s.Call(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	if got := s.Status().Calls; got != 2 {
		t.Errorf("got %d calls, want those of both", got)
	}
	if state := old.View().State; state != plan.ServerStopped {
		t.Errorf("the old one is %s", state)
	}
}
