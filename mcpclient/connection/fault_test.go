package connection_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

func TestEveryEraIsGreetedAsItUnderstands(t *testing.T) {
	for what, c := range map[string]struct{ first, later string }{
		"":                  {"server/discover initialize notifications/initialized tools/list", "server/discover initialize notifications/initialized tools/list"},
		"ends at the probe": {"server/discover initialize notifications/initialized tools/list", "initialize notifications/initialized tools/list"},
		"ignores the probe": {"server/discover initialize notifications/initialized tools/list", "initialize notifications/initialized tools/list"},
		"slow and newer":    {"server/discover initialize server/discover tools/list", "server/discover tools/list"},
		"slow and both":     {"server/discover initialize server/discover tools/list", "server/discover tools/list"},
		"empty answers":     {"server/discover initialize notifications/initialized tools/list", "server/discover initialize notifications/initialized tools/list"},

		"refuses the version once": {"server/discover server/discover tools/list", "server/discover server/discover tools/list"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s, received := fault(t, what)
			cfg := mcpclient.Config{Servers: []config.Server{s}, HandshakeFile: filepath.Join(t.TempDir(), "handshakes.json"), ProbeWait: time.Minute}
			if strings.HasPrefix(what, "slow") || what == "ignores the probe" {
				cfg.ProbeWait = time.Second
			}
			for _, want := range []string{c.first, c.later} {
				before := received()
				p := newPool(t, cfg)
				if got, err := call(t, p, "echo", nil); err != nil || got != "echo" {
					t.Errorf("got %v, %v", got, err)
				}
				if got := strings.TrimPrefix(received()[len(before):], " "); got != want+" tools/call" {
					t.Errorf("got requests %q, want %q", got, want)
				}
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestRefusedCallsOfChildAreNotInDoubt(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]string{
		"wants a capability": "missing required client capability: elicitation",
		"wants sampling":     "the server asks in the middle of the call for something that replan cannot give",
		"asks for ever":      "the server asked for input 10 times in one call, or to call again later too often",
	} {
		t.Run(what, func(t *testing.T) {
			s, _ := fault(t, what)
			p := newPool(t, mcpclient.Config{Servers: []config.Server{s}})
			if _, err := call(t, p, "echo", nil); !isToolError(err) || err.Error() != want {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

func TestSecondAnswerIsIgnored(t *testing.T) {
	t.Parallel()
	s, _ := fault(t, "answers twice")
	p := newPool(t, mcpclient.Config{Servers: []config.Server{s}})
	for range 3 {
		if got, err := call(t, p, "echo", nil); err != nil || got != "echo" {
			t.Errorf("got %v, %v", got, err)
		}
	}
}

func TestLostServerIsStartedForTheNextCall(t *testing.T) {
	t.Parallel()
	s, _ := fault(t, "")
	p := newPool(t, mcpclient.Config{Servers: []config.Server{s}, RestartWaits: []time.Duration{time.Hour, time.Hour}})
	echo, fail := tool(t, p, "echo"), tool(t, p, "fail")
	for range 5 { // a call that succeeds makes the next loss the first one again
		if _, err := p.Call(t.Context(), plan.ToolCall{Tool: fail}); err == nil || isToolError(err) || !strings.Contains(err.Error(), "exited with exit status 9") {
			t.Errorf("got %v, want an unknown outcome", err)
		}
		if got, err := p.Call(t.Context(), plan.ToolCall{Tool: echo}); err != nil || got != "echo" {
			t.Fatalf("got %v, %v", got, err)
		}
	}
}

func TestLostServerComesBackByItself(t *testing.T) {
	t.Parallel()
	s, _ := fault(t, "ends in mid-line")
	p := newPool(t, mcpclient.Config{Servers: []config.Server{s}, RestartWaits: []time.Duration{time.Millisecond}})
	echo := tool(t, p, "echo")
	if _, err := p.Call(t.Context(), plan.ToolCall{Tool: echo}); err == nil || isToolError(err) {
		t.Errorf("got %v, want an unknown outcome", err)
	}
	awaitState(t, p, plan.ServerReady)
	// It was lost twice without a successful call: then it stays lost.
	_, _ = p.Call(t.Context(), plan.ToolCall{Tool: echo})
	awaitState(t, p, plan.ServerFailed)
	if _, err := p.Call(t.Context(), plan.ToolCall{Tool: echo}); !isToolError(err) || !strings.Contains(err.Error(), "restarted 1 time without success") {
		t.Errorf("got %v", err)
	}
	if err := p.Restart("k"); err != nil {
		t.Fatal(err)
	}
	awaitState(t, p, plan.ServerReady)
}

func TestStartFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct {
		server config.Server
		want   string
	}{
		"missing folder":  {config.Server{Command: os.Args[0], Dir: "gone"}, "its working directory " + filepath.Join(dir, "gone") + " does not exist"},
		"missing program": {config.Server{Command: "no-such-program"}, "there is no program no-such-program in its PATH"},
	} {
		t.Run(name, func(t *testing.T) {
			c.server.Name = "k"
			p := newPool(t, mcpclient.Config{Dir: dir, Servers: []config.Server{c.server}})
			real, _ := filepath.EvalSymlinks(dir)
			if got := status(t, p, "k"); got.State != plan.ServerFailed || !strings.Contains(strings.ReplaceAll(string(got.Error), real, dir), c.want) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestCommandIsFoundInThePathOfTheConfiguration(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(exe, filepath.Join(dir, "srv")); err != nil {
		t.Skip(err)
	}
	for _, command := range []string{"srv", "~/srv"} {
		s := aChild("k", "fault", map[string]string{"PATH": dir, "HOME": dir})
		s.Command = command
		p := newPool(t, mcpclient.Config{Servers: []config.Server{s}})
		if got := status(t, p, "k"); got.State != plan.ServerReady {
			t.Errorf("%s: got %+v", command, got)
		}
	}
}

func TestStandardErrorGoesToTheLogOfTheServer(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "logs")
	p := newPool(t, mcpclient.Config{LogDir: dir, Servers: []config.Server{aChild("k", "broken", nil)}})
	got := status(t, p, "k")
	text, err := os.ReadFile(got.Log)
	if err != nil || !strings.Contains(string(text), "starting\ncannot find my configuration\n") {
		t.Errorf("got %q, %v in %q", text, err, got.Log)
	}
	if info, err := os.Stat(got.Log); err == nil && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("got mode %v", info.Mode())
	}
}

func TestStartingServerShowsWhatItWrites(t *testing.T) {
	t.Parallel()
	p := newPool(t, mcpclient.Config{Servers: []config.Server{aChild("mute", "mute", nil)}})
	changed := make(chan struct{}, 100)
	p.Watch(func() { changed <- struct{}{} })
	for p.Status()[0].Doing != "still compiling" {
		<-changed
	}
}

func TestServersAreKeptBackUntilSomebodyNeedsThem(t *testing.T) {
	t.Parallel()
	for name, need := range map[string]func(*mcpclient.Pool){
		"started": (*mcpclient.Pool).Start,
		"awaited": func(p *mcpclient.Pool) { p.ReadyFor(t.Context(), []string{"k:echo"}) },
		"called": func(p *mcpclient.Pool) {
			_, _ = p.Call(t.Context(), plan.ToolCall{Tool: plan.Tool{Name: "echo", Server: "k"}})
		},
		"restarted": func(p *mcpclient.Pool) { _ = p.Restart("k") },
	} {
		t.Run(name, func(t *testing.T) {
			s, received := fault(t, "")
			p := newPool(t, mcpclient.Config{Servers: []config.Server{s}, Later: true})
			now, cancel := context.WithCancel(t.Context())
			cancel()
			p.Ready(now)
			if got := p.Status()[0]; got.State != plan.ServerStarting || received() != "" {
				t.Errorf("got %+v and %q before", got, received())
			}
			need(p)
			awaitState(t, p, plan.ServerReady)
		})
	}
}

func TestSessionOfRestartedServerIsRenewed(t *testing.T) {
	t.Parallel()
	for _, refuse := range []int{http.StatusBadRequest, http.StatusNotFound} {
		t.Run(http.StatusText(refuse), func(t *testing.T) {
			s := newSession(t, refuse)
			p := over(t, s.URL, nil)
			echo := tool(t, p, "echo")
			for range 3 {
				s.Restart()
				var calls sync.WaitGroup
				for range 4 {
					calls.Go(func() {
						if got, err := p.Call(t.Context(), plan.ToolCall{Tool: echo}); err != nil || got != "echo" {
							t.Errorf("got %v, %v; %+v", got, err, p.Status())
						}
					})
				}
				calls.Wait()
			}
		})
	}
}

func TestCancelAndTimeLimitReachOlderHTTPServers(t *testing.T) {
	t.Parallel()
	s := newSession(t, http.StatusBadRequest)
	p := over(t, s.URL, nil)
	fail := tool(t, p, "fail")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-s.Called
		cancel()
	}()
	if _, err := p.Call(ctx, plan.ToolCall{Tool: fail}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	s.Await(t, "notifications/cancelled")
	go func() {
		<-s.Called
		_ = p.Close()
	}()
	if _, err := p.Call(t.Context(), plan.ToolCall{Tool: fail}); err == nil {
		t.Error("the call succeeded")
	}
	s.Await(t, "notifications/cancelled")
}

func TestChangedToolListArrivesOverHTTP(t *testing.T) {
	t.Parallel()
	s := newSession(t, http.StatusBadRequest)
	p := over(t, s.URL, nil)
	tool(t, p, "echo")
	s.Await(t, "tools/list")
	s.Events <- `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	s.Await(t, "tools/list")
}

func TestChangedToolListArrivesOverTheNewerProtocol(t *testing.T) {
	t.Parallel()
	r := newRemote(t, nil)
	listening := make(chan struct{}, 1)
	r.Filter = func(_ http.ResponseWriter, _ *http.Request, body []byte) bool {
		if strings.Contains(string(body), "subscriptions/listen") {
			listening <- struct{}{}
		}
		return true
	}
	p := over(t, r.URL, nil)
	tool(t, p, "hello")
	<-listening
	changed := make(chan struct{}, 100)
	p.Watch(func() { changed <- struct{}{} })
	r.MCP.AddTool(mcp.NewTool("new"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("yes"), nil
	})
	for len(p.Ready(t.Context())) != 2 {
		<-changed
	}
}

func TestHTTPRefusalsAreNotInDoubt(t *testing.T) {
	t.Parallel()
	for _, refuse := range []int{400, 403, 404, 413, 429} {
		t.Run(http.StatusText(refuse), func(t *testing.T) {
			var on atomic.Bool
			r := newRemote(t, func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
				if on.Load() && strings.Contains(string(body), "tools/call") {
					w.WriteHeader(refuse)
					return false
				}
				return true
			})
			p := over(t, r.URL, nil)
			hello := tool(t, p, "hello")
			on.Store(true)
			if _, err := p.Call(t.Context(), plan.ToolCall{Tool: hello}); !isToolError(err) || !strings.Contains(err.Error(), http.StatusText(refuse)) {
				t.Errorf("got %v", err)
			}
		})
	}
}
