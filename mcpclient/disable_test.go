package mcpclient_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

func TestDisablingStopsServerAndEnablingStartsIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		source  config.Source
		forGood bool
		changes string // the file
		by      plan.DisabledBy
	}{
		"for now":                    {config.SourceUser, false, "", plan.DisabledForNow},
		"user's server for good":     {config.SourceUser, true, "mcp.json", plan.DisabledForGood},
		"flag's server for good":     {config.SourceFlag, true, "disabled.json", plan.DisabledForGood},
		"project's server for good":  {config.SourceProject, true, "disabled.json", plan.DisabledForGood},
		"project's server, this day": {config.SourceProject, false, "", plan.DisabledForNow},
	} {
		t.Run(name, func(t *testing.T) {
			l, dir := listen(t), t.TempDir()
			s := aChild("it", "server", nil)
			s.Source = test.source
			cfg := mcpclient.Config{
				Dir: t.TempDir(), Servers: []config.Server{s}, UserFile: filepath.Join(dir, "mcp.json"), DisabledFile: filepath.Join(dir, "disabled.json"),
				TrustFile: filepath.Join(dir, "trust.json"), Trust: mcpclient.TrustAsk,
			}
			const written = `{"mcpServers": {"it": {"command": "x"}}}`
			if err := os.WriteFile(cfg.UserFile, []byte(written), 0o600); err != nil {
				t.Fatal(err)
			}
			p := newPool(t, cfg)
			if err := p.Answer(t.Context(), p.Pending(), true); err != nil {
				t.Fatal(err)
			}
			if _, err := call(t, p, "spawn", map[string]any{"addr": l.Addr()}); err != nil {
				t.Fatal(err)
			}
			l.Line()
			file, err := p.Disable(t.Context(), "it", test.forGood)
			if err != nil || file != "" && filepath.Base(file) != test.changes || (file == "") != (test.changes == "") {
				t.Fatalf("changed %q, %v", file, err)
			}
			l.AwaitDeath()
			if got := status(t, p, "it"); got.State != plan.ServerStopped || got.Disabled != test.by || got.Calls != 1 {
				t.Errorf("disabled: got %+v", got)
			}
			if test.forGood && test.source != config.SourceUser {
				later := newPool(t, cfg)
				if got := status(t, later, "it"); got.State != plan.ServerStopped || got.Disabled != test.by {
					t.Errorf("at the next start: got %+v", got)
				}
			}
			if _, err := p.Enable(t.Context(), "it"); err != nil {
				t.Fatal(err)
			}
			if _, err := call(t, p, "where", nil); err != nil {
				t.Errorf("enabled: %v", err)
			}
			if text, err := os.ReadFile(cfg.UserFile); err != nil || string(text) != written {
				t.Errorf("the user's file is %s (%v)", text, err)
			}
		})
	}
}

func TestServerWithBadEntryCanBeDisabled(t *testing.T) {
	p := newPool(t, mcpclient.Config{Servers: []config.Server{{Name: "bad", Problem: "its url is no address"}}})
	if got := status(t, p, "bad"); !got.BadEntry {
		t.Fatalf("got %+v", got)
	}
	if _, err := p.Disable(t.Context(), "bad", false); err != nil {
		t.Fatal(err)
	}
	if got := status(t, p, "bad"); got.State != plan.ServerStopped || got.BadEntry {
		t.Errorf("disabled: got %+v", got)
	}
	if _, err := p.Enable(t.Context(), "bad"); err != nil {
		t.Fatal(err)
	}
	if got := status(t, p, "bad"); got.State != plan.ServerFailed || !got.BadEntry {
		t.Errorf("enabled: got %+v", got)
	}
}

func TestDisabledForNowSurvivesReload(t *testing.T) {
	s := aChild("it", "server", nil)
	p := newPool(t, mcpclient.Config{Servers: []config.Server{s}})
	if _, err := p.Disable(t.Context(), "it", false); err != nil {
		t.Fatal(err)
	}
	s.Env["MODE"] = "new"
	if err := p.Reconfigure([]config.Server{s}); err != nil {
		t.Fatal(err)
	}
	if got := status(t, p, "it"); got.Disabled != plan.DisabledForNow || got.State != plan.ServerStopped {
		t.Errorf("got %+v", got)
	}
}

func TestServersThatCannotBeDisabledGiveTheReason(t *testing.T) {
	p := newPool(t, mcpclient.Config{Servers: []config.Server{{Name: "off", Command: "x", Disabled: true, Source: config.SourceFlag}, aChild("on", "mute", nil)}})
	for what, test := range map[string]struct {
		do   func() (string, error)
		want string
	}{
		"unknown":           {func() (string, error) { return p.Disable(t.Context(), "none", false) }, "there is no MCP server"},
		"disabled already":  {func() (string, error) { return p.Disable(t.Context(), "off", false) }, "off is disabled already"},
		"in another's file": {func() (string, error) { return p.Enable(t.Context(), "off") }, "enable it there"},
		"enabled already":   {func() (string, error) { return p.Enable(t.Context(), "on") }, "on is not disabled"},
		"nothing is saved":  {func() (string, error) { return p.Disable(t.Context(), "on", true) }, "for now only"},
	} {
		if _, err := test.do(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", what, err, test.want)
		}
	}
}

func TestStatusCountsCallsAndNamesProtocol(t *testing.T) {
	t.Parallel()
	p := newPool(t, mcpclient.Config{Servers: []config.Server{aChild("it", "server", nil)}})
	if _, err := call(t, p, "pause", map[string]any{"ms": 30}); err != nil {
		t.Fatal(err)
	}
	_, _ = p.Call(t.Context(), plan.ToolCall{Tool: plan.Tool{Server: "it", Name: "no.such"}})
	got := status(t, p, "it")
	if got.Calls != 2 || got.Failures != 1 || got.MedianMS < 15 || got.Protocol == "" {
		t.Errorf("got %+v", got)
	}
}

func TestLogIsFollowed(t *testing.T) {
	p := newPool(t, mcpclient.Config{LogDir: t.TempDir(), Servers: []config.Server{aChild("it", "server", nil)}})
	status(t, p, "it")
	lines, at, err := p.Log(t.Context(), "it", -1)
	if err != nil || len(lines) != 0 || at != 0 {
		t.Fatalf("got %q, %d, %v", lines, at, err)
	}
	more := make(chan []string)
	go func() {
		lines, _, err := p.Log(t.Context(), "it", at)
		if err != nil {
			t.Error(err)
		}
		more <- lines
	}()
	_, _ = call(t, p, "crash", nil)
	if got := <-more; len(got) == 0 || got[0] != "panic: out of cheese" {
		t.Errorf("got %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, at, err = p.Log(t.Context(), "it", -1); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Log(ctx, "it", at); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v from a log that does not grow", err)
	}
}
