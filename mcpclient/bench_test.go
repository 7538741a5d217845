package mcpclient_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/mcpclient/pooltest"
	"replan/planning/plan"
)

// BenchmarkCall compares a call of a child with the same call by the library alone.
// replan may add at most 100 µs.
func BenchmarkCall(b *testing.B) {
	b.Run("library", func(b *testing.B) {
		s := transport.NewStdioWithOptions(os.Args[0], nil, nil, transport.WithCommandFunc(func(ctx context.Context, command string, _, _ []string) (*exec.Cmd, error) {
			cmd := exec.CommandContext(ctx, command)
			cmd.Env = append(os.Environ(), pooltest.Role+"=fault")
			return cmd, nil
		}))
		c := client.NewClient(s)
		if err := c.Start(context.Background()); err != nil {
			b.Fatal(err)
		}
		defer c.Close() //nolint:errcheck // the process ends with the test
		if _, err := c.Initialize(context.Background(), mcp.InitializeRequest{}); err != nil {
			b.Fatal(err)
		}
		var request mcp.CallToolRequest
		request.Params.Name = "echo"
		for b.Loop() {
			if _, err := c.CallTool(context.Background(), request); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("pool", func(b *testing.B) {
		p, err := mcpclient.NewPool(context.Background(), mcpclient.Config{Dir: b.TempDir(), Servers: []config.Server{aChild("k", "fault", nil)}})
		if err != nil {
			b.Fatal(err)
		}
		defer p.Close() //nolint:errcheck // as above
		echo, err := p.Ready(context.Background()).Find("echo")
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := p.Call(context.Background(), plan.ToolCall{Tool: echo}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkStart measures how long ten servers take until all are listed that sleep
// for a second before they answer: at most 1.5 s.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		var servers []config.Server
		for i := range 10 {
			servers = append(servers, aChild(fmt.Sprint("k", i), "fault", map[string]string{"FAULT": "sleeps"}))
		}
		p, err := mcpclient.NewPool(context.Background(), mcpclient.Config{Dir: b.TempDir(), Servers: servers})
		if err != nil {
			b.Fatal(err)
		}
		if got := len(p.Ready(context.Background())); got != 20 {
			b.Fatalf("got %d tools", got)
		}
		b.StopTimer()
		_ = p.Close()
		b.StartTimer()
	}
}

// BenchmarkConcurrentCalls measures 50 calls of 200 ms each, 8 at once: at most 1.5 s.
func BenchmarkConcurrentCalls(b *testing.B) {
	p, err := mcpclient.NewPool(context.Background(), mcpclient.Config{Dir: b.TempDir(), Servers: []config.Server{aChild("k", "server", nil)}})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close() //nolint:errcheck // the process ends with the test
	pause, err := p.Ready(context.Background()).Find("pause")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var calls sync.WaitGroup
		slots := make(chan struct{}, 8)
		for range 50 {
			calls.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				if _, err := p.Call(context.Background(), plan.ToolCall{Tool: pause, Args: map[string]any{"ms": 200}}); err != nil {
					b.Error(err)
				}
			})
		}
		calls.Wait()
	}
}
