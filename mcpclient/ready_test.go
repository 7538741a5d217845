package mcpclient_test

import (
	"context"
	"slices"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
	"replan/mcpclient/config"
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
