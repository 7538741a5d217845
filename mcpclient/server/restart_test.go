package server_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

func TestRestartOfUnstartableServerGivesTheReason(t *testing.T) {
	p, err := mcpclient.NewPool(t.Context(), mcpclient.Config{Dir: t.TempDir(), Trust: mcpclient.TrustAsk, Servers: []config.Server{
		{Name: "off", Command: "x", Disabled: true}, {Name: "empty"}, {Name: "theirs", Command: "x", Source: config.SourceProject},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	for name, want := range map[string]string{
		"off": "off is disabled: enable it", "theirs": "theirs waits for your approval: answer the question about this project's servers",
		"none":  `there is no MCP server "none"`,
		"empty": "empty cannot be started with its configuration: it has neither a command nor a url",
	} {
		if err := p.Restart(name); err == nil || err.Error() != want {
			t.Errorf("%s: got error %v, want %q", name, err, want)
		}
	}
	for _, s := range p.Status() {
		if s.BadEntry != (s.Name == "empty") {
			t.Errorf("%+v", s)
		}
	}
}

func TestRestartOfFailedServer(t *testing.T) {
	p, err := mcpclient.NewPool(t.Context(), mcpclient.Config{Dir: t.TempDir(), Servers: []config.Server{{Name: "gone", Command: "/nonexistent/program"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	changed := make(chan struct{}, 100)
	p.Watch(func() { changed <- struct{}{} })
	for p.Ready(t.Context()); p.Status()[0].State != plan.ServerFailed; {
		<-changed
	}
	for range 3 {
		if err := p.Restart("gone"); err != nil {
			t.Fatal(err)
		}
		p.Ready(t.Context())
		if s := p.Status()[0]; s.State != plan.ServerFailed || s.LastError == "" || s.Transport != "stdio" {
			t.Fatalf("%+v", s)
		}
	}
}

func TestEndOfReplanKeepsKnownHandshake(t *testing.T) {
	t.Parallel()
	s, received := fault(t, "ends at the probe")
	cfg := mcpclient.Config{Servers: []config.Server{s}, HandshakeFile: filepath.Join(t.TempDir(), "handshakes.json")}
	p := newPool(t, cfg)
	if _, err := call(t, p, "echo", nil); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil { // the handshake is stored
		t.Fatal(err)
	}
	s.Env["FAULT"] = "says nothing"
	starting := newPool(t, cfg)
	changed := make(chan struct{}, 100)
	starting.Watch(func() { changed <- struct{}{} })
	for starting.Status()[0].Doing != "got initialize" {
		<-changed
	}
	if err := starting.Close(); err != nil {
		t.Fatal(err)
	}
	s.Env["FAULT"] = "ends at the probe"
	before := received()
	p = newPool(t, cfg)
	if _, err := call(t, p, "echo", nil); err != nil {
		t.Fatal(err)
	}
	if got := received()[len(before):]; strings.Contains(got, "server/discover") {
		t.Errorf("got%s, want no server/discover", got)
	}
}

func TestOthersMayAskForToolsWhileAServerIsLost(t *testing.T) {
	t.Parallel()
	s, _ := fault(t, "lists once")
	p := newPool(t, mcpclient.Config{Servers: []config.Server{s}, RestartWaits: []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond}})
	it := tool(t, p, "echo")
	ctx, stop := context.WithCancel(t.Context())
	var askers sync.WaitGroup
	for range 8 {
		askers.Go(func() {
			for ctx.Err() == nil {
				p.Ready(ctx)
			}
		})
	}
	for range 15 {
		// The server may be lost before it answers.
		_, _ = p.Call(t.Context(), plan.ToolCall{Tool: it})
	}
	stop()
	askers.Wait()
}

func TestToolsAreListedOnceInAWhileHoweverOftenTheyChange(t *testing.T) {
	s, received := fault(t, "changes at each list")
	begun := time.Now()
	p := newPool(t, mcpclient.Config{Servers: []config.Server{s}})
	it := tool(t, p, "echo")
	for range 200 { // each answer comes after what the server said before
		if _, err := p.Call(t.Context(), plan.ToolCall{Tool: it}); err != nil && !isToolError(err) {
			t.Fatal(err)
		}
	}
	lists, most := strings.Count(received(), "tools/list"), 3+int(time.Since(begun)/time.Second)
	if lists > most {
		t.Errorf("the tools were listed %d times, at most %d were expected", lists, most)
	}
}
