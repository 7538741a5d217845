package connection_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
	"replan/mcpclient/config"
)

// guide is a server with a prompt, templates of resources, and completions.
func guide() *server.MCPServer {
	s := server.NewMCPServer("guide", "1", server.WithCompletions(), server.WithPromptCapabilities(true), server.WithResourceCapabilities(false, false),
		server.WithPromptCompletionProvider(completions{"code": {"main.go", "un\u202eseen", "two\nlines", "util.go"}, "depth after main.go": {"deep"}}), server.WithResourceCompletionProvider(completions{"city": {"Bern", "New York"}, "x": {"1"}}))
	s.AddPrompt(mcp.NewPrompt("review", mcp.WithPromptDescription("Reviews code"), mcp.WithArgument("code", mcp.RequiredArgument(), mcp.ArgumentDescription("a file")), mcp.WithArgument("depth")),
		func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return mcp.NewGetPromptResult("", []mcp.PromptMessage{
				mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent("Review "+r.Params.Arguments["code"]+".")),
				mcp.NewPromptMessage(mcp.RoleAssistant, mcp.NewTextContent("It is fine.")),
				mcp.NewPromptMessage(mcp.RoleUser, mcp.NewImageContent("AAAA", "image/png")),
			}), nil
		})
	template := func(uri string) {
		s.AddResourceTemplate(mcp.NewResourceTemplate(uri, "weather"), func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, Text: "sun at " + r.Params.URI}}, nil
		})
	}
	template("weather://{city}/now")
	template("map://{x}/{y}")
	template("free://{any}")
	return s
}

// completions are the values of arguments by name.
type completions map[string][]string

func (c completions) CompletePromptArgument(_ context.Context, _ string, a mcp.CompleteArgument, given mcp.CompleteContext) (*mcp.Completion, error) {
	return &mcp.Completion{Values: append(c[a.Name], c[a.Name+" after "+given.Arguments["code"]]...)}, nil
}

func (c completions) CompleteResourceArgument(_ context.Context, _ string, a mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	return &mcp.Completion{Values: c[a.Name]}, nil
}

// guided returns a pool with the server guide over HTTP.
func guided(t *testing.T, s *server.MCPServer) *mcpclient.Pool {
	t.Helper()
	r := &remote{MCP: s}
	r.Server = newServer(t, r.Handler())
	p := newPool(t, mcpclient.Config{Servers: []config.Server{{Name: "guide", URL: r.URL, Source: config.SourceUser}}})
	p.Ready(t.Context())
	return p
}

// awaitPrompts waits until the prompts are listed.
func awaitPrompts(t *testing.T, p *mcpclient.Pool, want ...string) []mcpclient.Prompt {
	t.Helper()
	changed := make(chan struct{}, 1)
	p.Watch(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	defer p.Watch(nil)
	for {
		var names []string
		list := p.Prompts().All()
		for _, one := range list {
			names = append(names, one.Name)
		}
		if slices.Equal(names, want) {
			return list
		}
		<-changed
	}
}

func TestPromptsAreListedReadAndCompleted(t *testing.T) {
	t.Parallel()
	s := guide()
	p := guided(t, s)
	list := awaitPrompts(t, p, "review")
	want := mcpclient.Prompt{Server: "guide", Name: "review", Description: "Reviews code", Arguments: []mcpclient.PromptArgument{{Name: "code", Description: "a file", Required: true}, {Name: "depth"}}}
	if !reflect.DeepEqual(list[0], want) {
		t.Errorf("got %+v", list[0])
	}
	m, err := p.Prompts().Read(t.Context(), "guide", "review", map[string]string{"code": "main.go"})
	if err != nil || m.Server != "guide" || m.Text != "Review main.go.\n\nAn example of an answer:\nIt is fine.\n\n[content that is no text]" {
		t.Errorf("got %+v, %v", m, err)
	}
	if values, err := p.Prompts().Complete(t.Context(), "guide", "review", "code", nil); err != nil || !slices.Equal(values, []string{"main.go", "util.go"}) {
		t.Errorf("got completions %v, %v", values, err)
	}
	if values, err := p.Prompts().Complete(t.Context(), "guide", "review", "depth", map[string]string{"code": "main.go"}); err != nil || !slices.Equal(values, []string{"deep"}) {
		t.Errorf("got completions after an argument %v, %v", values, err)
	}
	if list, err := p.Prompts().Of(t.Context(), "guide"); err != nil || len(list) != 1 {
		t.Errorf("got %v, %v", list, err)
	}
	for _, missing := range [][2]string{{"guide", "nothing"}, {"nobody", "review"}} {
		if _, err := p.Prompts().Read(t.Context(), missing[0], missing[1], nil); err == nil {
			t.Errorf("%v: no error", missing)
		}
	}
}

func TestInvisibleCharactersOfPromptsAndResourcesBecomeVisible(t *testing.T) {
	t.Parallel()
	const hidden, seen = "col\tumn\u200b \u202eback \U000E0041", "col\tumn<U+200B> <U+202E>back <U+E0041>"
	s := guide()
	s.AddPrompt(mcp.NewPrompt("hide"), func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return mcp.NewGetPromptResult("", []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(hidden))}), nil
	})
	s.AddResource(mcp.NewResource("doc://hide", "hide"), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: "doc://hide", Text: hidden}}, nil
	})
	p := guided(t, s)
	if m, err := p.Prompts().Read(t.Context(), "guide", "hide", nil); err != nil || m.Text != seen || m.Bytes != len(seen) {
		t.Errorf("prompt: got %+q, %v", m.Text, err)
	}
	if m, _, err := p.ReadResource(t.Context(), "guide", "doc://hide"); err != nil || m.Text != seen || m.Bytes != len(seen) {
		t.Errorf("resource: got %+q, %v", m.Text, err)
	}
}

func TestChangedPromptsAreListedAgain(t *testing.T) {
	t.Parallel()
	s := guide()
	p := guided(t, s)
	awaitPrompts(t, p, "review")
	s.AddPrompt(mcp.NewPrompt("explain"), nil)
	awaitPrompts(t, p, "explain", "review")
}

func TestTemplatesOfResourcesAreCompleted(t *testing.T) {
	t.Parallel()
	p := guided(t, guide())
	list, err := p.Resources(t.Context())
	var got []string
	for _, r := range list {
		if got = append(got, r.URI); r.Open {
			got = append(got, "…")
		}
	}
	slices.Sort(got)
	want := []string{"free://", "map://1/", "weather://Bern/now", "weather://New%20York/now", "…", "…"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	if m, ok, err := p.ReadResource(t.Context(), "guide", "weather://Bern/now"); !ok || err != nil || !strings.Contains(m.Text, "weather://Bern/now") {
		t.Errorf("got %+v, %v", m, err)
	}
}
