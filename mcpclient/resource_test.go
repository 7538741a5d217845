package mcpclient_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

func TestResourcesAreListedAndRead(t *testing.T) {
	docs := server.NewMCPServer("docs", "1", server.WithResourceCapabilities(false, false))
	add := func(uri string, content mcp.ResourceContents, err error) {
		docs.AddResource(mcp.NewResource(uri, "the "+uri), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{content}, err
		})
	}
	add("doc://guide", mcp.TextResourceContents{URI: "doc://guide", Text: "read me"}, nil)
	add("doc://long", mcp.TextResourceContents{URI: "doc://long", Text: strings.Repeat("é", 40<<10)}, nil)
	add("doc://picture", mcp.BlobResourceContents{URI: "doc://picture", Blob: "AAAA"}, nil)
	add("doc://broken", nil, errors.New("out of paper"))
	p := newPool(t, mcpclient.Config{InProcess: existing(map[string]*server.MCPServer{"docs": docs, "tools": server.NewMCPServer("tools", "1")})})
	p.Ready(t.Context())
	list, err := p.Resources(t.Context())
	if err != nil || len(list) != 4 || list[1].Server != "docs" || list[1].URI != "doc://guide" || list[1].Name != "the doc://guide" {
		t.Errorf("%+v, %v", list, err)
	}
	if m, ok, err := p.ReadResource(t.Context(), "docs", "doc://guide"); !ok || err != nil || m.Text != "read me" || m.Server != "docs" || m.Name != "docs:doc://guide" || m.Cut {
		t.Errorf("%+v, %v, %v", m, ok, err)
	}
	if m, _, err := p.ReadResource(t.Context(), "docs", "doc://long"); err != nil || !m.Cut || m.Bytes != 80<<10 || len(m.Text) != 64<<10 {
		t.Errorf("%d of %d bytes, %v", len(m.Text), m.Bytes, err)
	}
	for uri, want := range map[string]string{"doc://picture": "it is not text", "doc://broken": "out of paper"} {
		if _, ok, err := p.ReadResource(t.Context(), "docs", uri); !ok || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v %v", uri, ok, err)
		}
	}
	if _, ok, err := p.ReadResource(t.Context(), "tools", "doc://guide"); ok || err != nil {
		t.Errorf("server without resources: got %v, %v", ok, err)
	}
}

func TestModelReadsResources(t *testing.T) {
	docs := server.NewMCPServer("docs", "1", server.WithResourceCapabilities(false, false))
	add := func(uri string, content mcp.ResourceContents) {
		docs.AddResource(mcp.NewResource(uri, uri), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{content}, nil
		})
	}
	add("doc://guide", mcp.TextResourceContents{URI: "doc://guide", Text: "read me"})
	add("doc://picture", mcp.BlobResourceContents{URI: "doc://picture", MIMEType: "image/png", Blob: "AAAA"})
	p := newPool(t, mcpclient.Config{InProcess: existing(map[string]*server.MCPServer{"docs": docs, "tools": server.NewMCPServer("tools", "1")})})
	it := tool(t, p, "mcp:resources.read")
	if it.Trusted || !it.ReadOnly || !strings.Contains(string(it.InputSchema), `"enum":["docs"]`) {
		t.Errorf("got %+v", it)
	}
	read := func(server, uri string) (any, error) {
		return p.Call(t.Context(), plan.ToolCall{Tool: it, Args: map[string]any{"server": server, "uri": uri}, Keep: func(content []byte, mediaType string) (plan.Attachment, error) {
			return plan.Attachment{File: "/kept", Type: mediaType, Bytes: len(content), SHA256: "00"}, nil
		}})
	}
	if got, err := read("docs", "doc://guide"); err != nil || got != "read me" {
		t.Errorf("text: got %v, %v", got, err)
	}
	if got, err := read("docs", "doc://picture"); err != nil || !strings.Contains(plan.CanonicalJSON(got), `"file":"/kept"`) || !strings.Contains(plan.CanonicalJSON(got), "[resource doc://picture: image/png, 3 bytes]") {
		t.Errorf("picture: got %v, %v", got, err)
	}
	for _, missing := range [][2]string{{"docs", "doc://nothing"}, {"tools", "doc://guide"}, {"nobody", "x"}} {
		if _, err := read(missing[0], missing[1]); !isToolError(err) {
			t.Errorf("%v: got %v", missing, err)
		}
	}
	without := inProcess(t, nil)
	if _, err := without.Ready(t.Context()).Find("resources.read"); err == nil {
		t.Error("offered without resources")
	}
}

func TestChangeOfMentionedResourceIsNotedOnce(t *testing.T) {
	const uri = "weather://Bern/now"
	for name, older := range map[string]bool{"older protocol": true, "newer protocol": false} {
		t.Run(name, func(t *testing.T) {
			s := guide()
			server.WithResourceCapabilities(true, false)(s)
			asked, changes := make(chan struct{}, 10), make(chan string)
			r := &remote{mcp: s, filter: func(w http.ResponseWriter, q *http.Request, body []byte) bool {
				switch {
				case older && bytes.Contains(body, []byte(`"server/discover"`)):
					http.Error(w, "unknown method", http.StatusNotFound)
					return false
				case bytes.Contains(body, []byte(`"resources/subscribe"`)):
					asked <- struct{}{}
				case bytes.Contains(body, []byte(`"subscriptions/listen"`)) && bytes.Contains(body, []byte(uri)):
					asked <- struct{}{}
					w.Header().Set("Content-Type", "text/event-stream")
					for {
						select {
						case changed := <-changes:
							_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":%q,\"params\":{\"uri\":%q}}\n\n", mcp.MethodNotificationResourceUpdated, changed)
							_ = http.NewResponseController(w).Flush()
						case <-q.Context().Done():
							return false
						}
					}
				}
				return true
			}}
			r.Server = newServer(t, r.handler())
			t.Cleanup(r.CloseClientConnections)
			p := newPool(t, mcpclient.Config{Servers: []config.Server{{Name: "guide", URL: r.URL, Source: config.SourceUser}}})
			p.Ready(t.Context())
			change := func(uri string) {
				if older {
					s.SendNotificationToAllClients(mcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri})
				} else {
					changes <- uri
				}
			}
			noted := make(chan struct{}, 100)
			p.Watch(func() { noted <- struct{}{} })
			for round := range 2 {
				if m, ok, err := p.ReadResource(t.Context(), "guide", uri); !ok || err != nil || m.Text == "" {
					t.Fatalf("got %+v, %v", m, err)
				}
				if round == 0 {
					<-asked
				}
				change("weather://elsewhere")
				change(uri)
				change(uri)
				var notes []string
				for notes = p.Notes(); len(notes) == 0; notes = p.Notes() {
					<-noted
				}
				if want := "@" + `guide:` + uri + " has changed since you mentioned it; mention it again to send it as it is now"; !slices.Equal(notes, []string{want}) {
					t.Errorf("got %q, want %q", notes, want)
				}
			}
		})
	}
}

func TestMentionWaitsForItsServer(t *testing.T) {
	r := &remote{mcp: guide()}
	r.Server = newServer(t, r.handler())
	p := newPool(t, mcpclient.Config{Later: true, Servers: []config.Server{{Name: "guide", URL: r.URL, Source: config.SourceUser}}})
	if m, ok, err := p.ReadResource(t.Context(), "guide", "weather://Bern/now"); !ok || err != nil || m.Text != "sun at weather://Bern/now" {
		t.Errorf("got %+v, %v, %v", m, ok, err)
	}
}

func TestMentionNamesWhyItsServerIsNotReady(t *testing.T) {
	p := newPool(t, mcpclient.Config{Later: true, Servers: []config.Server{{Name: "gone", Command: "/nowhere/server", Source: config.SourceUser}}})
	if _, ok, err := p.ReadResource(t.Context(), "gone", "doc://guide"); !ok || err == nil || !strings.Contains(err.Error(), "not ready") || !strings.Contains(err.Error(), "/nowhere/server") {
		t.Errorf("got %v, %v", ok, err)
	}
	if _, ok, err := p.ReadResource(t.Context(), "*", "doc://guide"); ok || err != nil {
		t.Errorf("no server: got %v, %v", ok, err)
	}
}
