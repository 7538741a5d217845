package server_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/planning/plan"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func TestOnlyOfferedToolsAreListedAndCallable(t *testing.T) {
	t.Parallel()
	all := newPool(t, mcpclient.Config{Servers: []config.Server{aChild("child", "server", nil)}})
	names := all.Ready(t.Context()).Names()
	for name, c := range map[string]struct {
		include, exclude []string
		want             func(string) bool
	}{
		"include by name":               {[]string{"where"}, nil, func(n string) bool { return n == "where" }},
		"include by pattern":            {[]string{"w*"}, nil, func(n string) bool { return n[0] == 'w' }},
		"exclude by pattern":            {nil, []string{"w*"}, func(n string) bool { return n[0] != 'w' }},
		"exclude goes before include":   {[]string{"*"}, []string{"where"}, func(n string) bool { return n != "where" }},
		"alternatives":                  {[]string{"{where,nobody}"}, nil, func(n string) bool { return n == "where" }},
		"patterns that match no server": {[]string{"nobody"}, nil, func(string) bool { return false }},
	} {
		t.Run(name, func(t *testing.T) {
			s := aChild("child", "server", nil)
			s.IncludeTools, s.ExcludeTools = c.include, c.exclude
			p := newPool(t, mcpclient.Config{Servers: []config.Server{s}})
			got := p.Ready(t.Context()).Names()
			want := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !c.want(n) })
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			if note := string(status(t, p, "child").Note); (note != "") != (len(want) == 0) {
				t.Errorf("got the note %q", note)
			}
			for _, n := range names {
				if c.want(n) {
					continue
				}
				_, err := p.Call(t.Context(), plan.ToolCall{Tool: plan.Tool{Server: "child", Name: n}, Args: map[string]any{}})
				if err == nil || !strings.Contains(err.Error(), "the configuration of child leaves this tool out") {
					t.Errorf("call of %s: got error %v", n, err)
				}
			}
		})
	}
}

func TestLongDescriptionsAndListsAreCut(t *testing.T) {
	t.Parallel()
	const most = 5_000
	tools := make([]server.ServerTool, most+1)
	for i := range tools {
		tools[i].Tool = mcp.Tool{Name: fmt.Sprintf("t%05d", i), RawInputSchema: json.RawMessage(`{"type":"object"}`)}
	}
	tools[0].Tool.Description = strings.Repeat("é", 1<<20)
	s := server.NewMCPServer("x", "1")
	s.AddTools(tools...)
	remote := newServer(t, server.NewStreamableHTTPServer(s))
	p := newPool(t, mcpclient.Config{Servers: []config.Server{{Name: "x", URL: remote.URL}}})
	all := p.Ready(t.Context())
	if len(all) != most {
		t.Errorf("got %d tools", len(all))
	}
	if note := string(status(t, p, "x").Note); note != "left out all tools after the first 5000 of 5001" {
		t.Errorf("got the note %q", note)
	}
	if got := all[0].Description; len(got) > 9<<10 || !utf8.ValidString(got) || !strings.HasSuffix(got, " (cut here: the description has 2048 KB)") {
		t.Errorf("got a description of %d bytes: %.40q", len(got), got)
	}
}
