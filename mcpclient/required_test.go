package mcpclient_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"replan/mcpclient"
	"replan/mcpclient/config"
)

func TestRequiredServerIsMissedUnlessItIsReadyOrUndecided(t *testing.T) {
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
