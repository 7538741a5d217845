package mcpclient_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

func TestPoolKnowsHowLongServersHaveBeenStarting(t *testing.T) {
	p := newPool(t, mcpclient.Config{Servers: []config.Server{aChild("mute", "mute", nil), aChild("later", "mute", nil)}, Later: true})
	if got := p.StartingFor([]string{"mute"}); got != 0 {
		t.Errorf("got %v before the start", got)
	}
	p.Start()
	first := p.StartingFor([]string{"mute"})
	if second := p.StartingFor([]string{"mute", "later"}); first <= 0 || second <= 0 || p.StartingFor([]string{"mute"}) < first || p.StartingFor(nil) != 0 {
		t.Errorf("got %v, then %v", first, second)
	}
}

func TestReadyForWaitsOnlyForNeededServers(t *testing.T) {
	own := server.NewMCPServer("workspace", "1")
	for _, name := range []string{"fs.read", "look"} {
		own.AddTool(mcp.NewTool(name), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(name), nil
		})
	}
	p := newPool(t, mcpclient.Config{
		InProcess: existing(map[string]*server.MCPServer{"workspace": own}),
		Servers:   []config.Server{aChild("mute", "mute", nil), aChild("child", "server", nil)},
	})
	for name, c := range map[string]struct {
		names   []string
		awaited []string // servers still starting at the end
		offered string   // a tool that is then available
	}{
		"no names":                           {nil, nil, "fs.read"},
		"operator":                           {[]string{"fs.read"}, nil, "fs.read"},
		"bare name of a ready server's tool": {[]string{"look"}, nil, "look"},
		"qualified name":                     {[]string{"child:env"}, nil, "child:env"},
		"qualified pattern":                  {[]string{"child:*"}, nil, "child:env"},
		"qualified name of a mute server":    {[]string{"mute:x"}, []string{"mute"}, "fs.read"},
		"unknown bare name":                  {[]string{"nowhere"}, []string{"mute"}, "child:env"},
		"pattern for all tools":              {[]string{"*:*"}, []string{"mute"}, "child:env"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.awaited != nil { // would wait for ever: cancel once the others are ready
				p.ReadyFor(ctx, []string{"child:env"})
				cancel()
			}
			all, awaited := p.ReadyFor(ctx, c.names)
			if _, err := all.Find(c.offered); err != nil || !slices.Equal(awaited, c.awaited) {
				t.Errorf("got awaited servers %q and error %v, want %q", awaited, err, c.awaited)
			}
		})
	}
}

func TestRequiredServerIsMissedUnlessItIsReadyOrUndecided(t *testing.T) {
	t.Parallel()
	project := func(s config.Server) config.Server { s.Source = config.SourceProject; return s }
	off := func(s config.Server) config.Server { s.Disabled = true; return s }
	for name, c := range map[string]struct {
		server config.Server
		trust  mcpclient.TrustMode
		want   string
	}{
		"ready":                        {aChild("it", "server", nil), mcpclient.TrustNone, ""},
		"fails to start":               {aChild("it", "broken", nil), mcpclient.TrustNone, `the required MCP server "it" is not ready: exited with exit status 3: cannot find my configuration`},
		"invalid entry":                {config.Server{Name: "it", Problem: "mcp.json:2: has neither"}, mcpclient.TrustNone, `the required MCP server "it" is not ready: mcp.json:2: has neither`},
		"invalid entry of the project": {project(config.Server{Name: "it", Problem: "x"}), mcpclient.TrustNone, ""},
		"disabled":                     {off(aChild("it", "broken", nil)), mcpclient.TrustNone, ""},
		"left out":                     {project(aChild("it", "broken", nil)), mcpclient.TrustNone, ""},
		"waits for permission":         {project(aChild("it", "broken", nil)), mcpclient.TrustAsk, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.server.Required = true
			p := newPool(t, mcpclient.Config{Servers: []config.Server{c.server, aChild("mute", "mute", nil)}, Trust: c.trust})
			err := p.CheckRequired(t.Context())
			if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
				t.Errorf("got %v, want %q", err, c.want)
			}
			for _, s := range p.Status() {
				if s.Name == "it" && strings.HasPrefix(string(s.Error), "is required, but ") != (c.want != "") {
					t.Errorf("the status says %q", s.Error)
				}
			}
		})
	}
	p := newPool(t, mcpclient.Config{Servers: []config.Server{{Name: "it", Command: "true", Required: true}}})
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	if err := p.CheckRequired(ctx); !errors.Is(err, stop) {
		t.Errorf("after the end of the context: got %v", err)
	}
}

// While a session is replaced, its old connection takes no calls.
func TestCanceledCallDoesNotWaitForAnotherSession(t *testing.T) {
	s := newSession(t, http.StatusNotFound)
	var hold atomic.Bool
	asked, release := make(chan struct{}, 1), make(chan struct{})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		// The old connection may go on without its session, but does not begin anew.
		if hold.Load() && bytes.Contains(body, []byte(`"initialize"`)) {
			select {
			case asked <- struct{}{}:
			default:
			}
			<-release
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	defer close(release)
	p := over(t, front.URL, nil)
	echo := tool(t, p, "echo")
	hold.Store(true) // first, since the client may notice the restart by itself
	s.Restart()
	s.Events <- `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	var call sync.WaitGroup
	call.Go(func() {
		if _, err := p.Call(ctx, plan.ToolCall{Tool: echo}); !isToolError(err) || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	cancel()
	call.Wait()
}

func TestBuiltInServersAreKeptBackToo(t *testing.T) {
	p := newPool(t, mcpclient.Config{Later: true, InProcess: map[string]func() *server.MCPServer{
		"own": func() *server.MCPServer { return server.NewMCPServer("own", "1") },
	}})
	if p.StartingFor([]string{"own"}) != 0 {
		t.Error("it was started before it was needed")
	}
	p.Start()
	awaitState(t, p, plan.ServerReady)
}
