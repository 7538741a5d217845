package mcpclient_test

import (
	"context"
	"slices"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
)

func TestOnlyTheServersThatAreNeededAreWaitedFor(t *testing.T) {
	own := server.NewMCPServer("workspace", "1")
	for _, name := range []string{"fs.read", "look"} {
		own.AddTool(mcp.NewTool(name), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(name), nil
		})
	}
	p := newPool(t, mcpclient.Config{
		InProcess: map[string]*server.MCPServer{"workspace": own},
		Servers:   []mcpclient.Server{aChild("mute", "mute", nil), aChild("child", "server", nil)},
	})
	for name, c := range map[string]struct {
		names   []string
		awaited []string // in the end
		offered string   // what is there then
	}{
		"the workspace is waited for, whoever needs what": {nil, nil, "fs.read"},
		"an operator needs no other server":               {[]string{"fs.read"}, nil, "fs.read"},
		"a bare name that somebody ready has needs none":  {[]string{"look"}, nil, "look"},
		"a qualified name needs its server":               {[]string{"child:env"}, nil, "child:env"},
		"a qualified pattern needs its server":            {[]string{"child:*"}, nil, "child:env"},
		"a name of the server that is silent":             {[]string{"mute:x"}, []string{"mute"}, "fs.read"},
		"a bare name that nobody has needs all":           {[]string{"nowhere"}, []string{"mute"}, "child:env"},
		"every tool needs all":                            {[]string{"*:*"}, []string{"mute"}, "child:env"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.awaited != nil { // it would wait for ever: stop when the others are there
				p.ReadyFor(ctx, []string{"child:env"})
				cancel()
			}
			all, awaited := p.ReadyFor(ctx, c.names)
			if _, err := all.Find(c.offered); err != nil || !slices.Equal(awaited, c.awaited) {
				t.Errorf("waits for %q still, and %v; want %q", awaited, err, c.awaited)
			}
		})
	}
}
