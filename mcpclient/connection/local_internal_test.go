package connection

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// A busy tool ignores its context. If the caller waited for it, neither a timeout
// nor a signal could end the call.
func TestCallIgnoringCancellationIsAbandoned(t *testing.T) {
	t.Parallel()
	s := server.NewMCPServer("busy", "1", server.WithToolCapabilities(false))
	begun, released, returned := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s.AddTool(mcp.NewTool("spin"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		defer close(returned)
		close(begun)
		<-released
		return mcp.NewToolResultText("late"), nil
	})
	l := newLocal(s)
	late := make(chan time.Time)
	l.late = func() <-chan time.Time { return late }
	ctx, cancel := context.WithCancel(context.Background())
	if err := l.Start(ctx); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := l.SendRequest(ctx, transport.JSONRPCRequest{
			JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(1), Method: string(mcp.MethodToolsCall), Params: map[string]any{"name": "spin"},
		})
		ended <- err
	}()
	<-begun
	cancel()
	late <- time.Time{}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	close(released)
	<-returned
}
