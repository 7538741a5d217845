package mcpclient_test

import (
	"testing"

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
