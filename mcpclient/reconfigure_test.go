package mcpclient_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

func serverNames(p *mcpclient.Pool) []string {
	var names []string
	for _, s := range p.Status() {
		names = append(names, s.Name+" "+string(s.State))
	}
	return names
}

func TestReconfigureKeepsUnchangedServers(t *testing.T) {
	l := listen(t)
	same := aChild("same", "server", nil)
	p := newPool(t, mcpclient.Config{Servers: []config.Server{same}})
	ctx, cancel := context.WithCancel(t.Context())
	wait := tool(t, p, "same:wait")
	ended := make(chan error)
	go func() {
		_, err := p.Call(ctx, plan.ToolCall{Tool: wait, Args: map[string]any{"addr": l.Addr()}})
		ended <- err
	}()
	l.Line()
	same.Notes = []string{"mcp.json:7: its line moved"}
	if err := p.Reconfigure([]config.Server{aChild("fresh", "server", nil), same}); err != nil {
		t.Fatal(err)
	}
	if got, err := call(t, p, "fresh:where", nil); err != nil || got == "" {
		t.Errorf("call of the new server: got %v, %v", got, err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("call in progress: got error %v", err)
	}
	if got := l.Line(); got != "cancelled" {
		t.Errorf("got %q from the unchanged server", got)
	}
	if got := serverNames(p); !slices.Equal(got, []string{"fresh ready", "same ready"}) {
		t.Errorf("got %q", got)
	}
}

func TestReconfigureStartsNothingBeforeStart(t *testing.T) {
	p := newPool(t, mcpclient.Config{Later: true})
	s, received := fault(t, "")
	if err := p.Reconfigure([]config.Server{s}); err != nil {
		t.Fatal(err)
	}
	if got := serverNames(p); !slices.Equal(got, []string{"k starting"}) || received() != "" {
		t.Errorf("got %q, and the server was sent %q", got, received())
	}
	p.Start()
	awaitState(t, p, plan.ServerReady)
}

func TestReconfigureStopsRemovedServersWithTheirChildren(t *testing.T) {
	t.Parallel()
	l := listen(t)
	p := newPool(t, mcpclient.Config{Servers: []config.Server{aChild("gone", "server", nil), aChild("mute", "mute", nil)}})
	ready, _ := p.ReadyFor(t.Context(), []string{"gone:spawn"})
	spawn, err := ready.Find("gone:spawn")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Call(t.Context(), plan.ToolCall{Tool: spawn, Args: map[string]any{"addr": l.Addr()}}); err != nil {
		t.Fatal(err)
	}
	l.Line()
	if err := p.Reconfigure(nil); err != nil {
		t.Fatal(err)
	}
	l.AwaitDeath()
	if got := p.Ready(t.Context()); len(got) != 0 || len(p.Status()) != 0 {
		t.Errorf("got the tools %q of %q", got.Names(), serverNames(p))
	}
}

func TestReconfigureRestartsChangedServers(t *testing.T) {
	t.Parallel()
	l := listen(t)
	p := newPool(t, mcpclient.Config{Servers: []config.Server{aChild("it", "server", map[string]string{"MODE": "old"})}})
	if _, err := call(t, p, "spawn", map[string]any{"addr": l.Addr()}); err != nil {
		t.Fatal(err)
	}
	l.Line()
	if err := p.Reconfigure([]config.Server{aChild("it", "server", map[string]string{"MODE": "new"})}); err != nil {
		t.Fatal(err)
	}
	l.AwaitDeath()
	got, err := call(t, p, "env", map[string]any{"name": "MODE"})
	if value, ok := got.(map[string]any); err != nil || !ok || value["value"] != "new" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestReconfigureAsksAboutNewServersOfTheProject(t *testing.T) {
	p := newPool(t, mcpclient.Config{Trust: mcpclient.TrustAsk})
	s := aChild("it", "server", nil)
	s.Source, s.Notes = config.SourceProject, []string{"a note"}
	if err := p.Reconfigure([]config.Server{s}); err != nil {
		t.Fatal(err)
	}
	asked := p.Pending()
	if len(asked) != 1 || asked[0].Name != "it" || !slices.Equal(p.Notes(), s.Notes) {
		t.Fatalf("got %+v", asked)
	}
	if err := p.Answer(t.Context(), asked, true); err != nil {
		t.Fatal(err)
	}
	if _, err := call(t, p, "where", nil); err != nil {
		t.Error(err)
	}
}

func TestReloadKeepsServersIfTheFilesCannotBeRead(t *testing.T) {
	var wrong error
	again := []config.Server{aChild("it", "server", nil)}
	p := newPool(t, mcpclient.Config{Reread: func() ([]config.Server, error) { return again, wrong }})
	if err := p.Reload(); err != nil || len(p.Ready(t.Context())) == 0 {
		t.Fatalf("got %q, %v", serverNames(p), err)
	}
	again, wrong = nil, errors.New("mcp.json is not JSON")
	if err := p.Reload(); !errors.Is(err, wrong) || !slices.Equal(serverNames(p), []string{"it ready"}) {
		t.Errorf("got %q, %v", serverNames(p), err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Reconfigure(nil); err == nil {
		t.Error("closed tools were configured again")
	}
}

func TestServerStartsOnlyAfterTheOneThatItReplacesHasEnded(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(p *mcpclient.Pool, now config.Server) error{
		"changed twice": func(p *mcpclient.Pool, now config.Server) error {
			between := now
			between.Args = []string{"between"}
			return errors.Join(p.Reconfigure([]config.Server{between}), p.Reconfigure([]config.Server{now}))
		},
		"disabled and enabled": func(p *mcpclient.Pool, _ config.Server) error {
			_, off := p.Disable(t.Context(), "it", false)
			_, on := p.Enable(t.Context(), "it")
			return errors.Join(off, on)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := listen(t)
			p := newPool(t, mcpclient.Config{Servers: []config.Server{aChild("it", "stubborn", map[string]string{"ADDR": l.Addr()})}})
			l.Line()
			if err := replace(p, aChild("it", "stubborn", map[string]string{"ADDR": l.Addr(), "MODE": "new"})); err != nil {
				t.Fatal(err)
			}
			l.AcceptAnother()
			l.WantEnded()
		})
	}
}
