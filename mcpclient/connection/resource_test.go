package connection_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

func TestResourcesAreListedAndRead(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
		return p.Call(t.Context(), plan.ToolCall{Tool: it, Args: map[string]any{"server": server, "uri": uri}, SaveAttachment: func(content []byte, mediaType string) (plan.Attachment, error) {
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

// following is a server over HTTP with a resource whose changes are reported.
type following struct {
	pool   *mcpclient.Pool
	asked  chan struct{} // the server was asked to report changes
	change func(uri string)
}

func newFollowing(t *testing.T, older bool, refuse func(method string) bool) following {
	t.Helper()
	s := guide()
	server.WithResourceCapabilities(true, false)(s)
	asked, changes := make(chan struct{}, 10), make(chan string)
	r := &remote{MCP: s, Filter: func(w http.ResponseWriter, q *http.Request, body []byte) bool {
		for _, method := range []string{"resources/subscribe", "resources/read", "resources/list"} {
			if bytes.Contains(body, []byte(`"`+method+`"`)) && refuse != nil && refuse(method) {
				http.Error(w, "gone", http.StatusNotFound)
				return false
			}
		}
		switch {
		case older && bytes.Contains(body, []byte(`"server/discover"`)):
			http.Error(w, "unknown method", http.StatusNotFound)
			return false
		case bytes.Contains(body, []byte(`"resources/subscribe"`)):
			asked <- struct{}{}
		case bytes.Contains(body, []byte(`"subscriptions/listen"`)) && bytes.Contains(body, []byte(forecast)):
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
	r.Server = newServer(t, r.Handler())
	t.Cleanup(r.CloseClientConnections)
	p := newPool(t, mcpclient.Config{Later: true, Servers: []config.Server{{Name: "guide", URL: r.URL, Source: config.SourceUser}}})
	return following{p, asked, func(uri string) {
		if older {
			s.SendNotificationToAllClients(mcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri})
		} else {
			changes <- uri
		}
	}}
}

const forecast = "weather://Bern/now"

// eras are the servers of both protocol eras.
var eras = map[string]bool{"older protocol": true, "newer protocol": false}

func (f following) mention(t *testing.T) {
	t.Helper()
	if m, ok, err := f.pool.ReadResource(t.Context(), "guide", forecast); !ok || err != nil || m.Text == "" {
		t.Fatalf("got %+v, %v, %v", m, ok, err)
	}
}

// note returns the first notes after changes.
func (f following) note(t *testing.T, changes ...string) []string {
	t.Helper()
	noted := make(chan struct{}, 100)
	f.pool.Watch(func() { noted <- struct{}{} })
	for _, uri := range changes {
		f.change(uri)
	}
	for {
		if notes := f.pool.Notes(); len(notes) > 0 {
			return notes
		}
		<-noted
	}
}

const forecastChanged = "@guide:" + forecast + " has changed since you mentioned it; mention it again to send it as it is now"

func TestChangeOfMentionedResourceIsNotedOnce(t *testing.T) {
	t.Parallel()
	for name, older := range eras {
		t.Run(name, func(t *testing.T) {
			f := newFollowing(t, older, nil)
			for round := range 2 {
				f.mention(t)
				if round == 0 {
					<-f.asked
				}
				if notes := f.note(t, "weather://elsewhere", forecast, forecast); !slices.Equal(notes, []string{forecastChanged}) {
					t.Errorf("got %q, want %q", notes, forecastChanged)
				}
			}
		})
	}
}

func TestChangeOfPartOfMentionedResourceIsNoted(t *testing.T) {
	t.Parallel()
	f := newFollowing(t, true, nil)
	f.mention(t)
	if notes := f.note(t, forecast+"here", forecast+"/wind"); !slices.Equal(notes, []string{forecastChanged}) {
		t.Errorf("got %q, want %q", notes, forecastChanged)
	}
}

func TestMentionedResourceIsFollowedAfterRestart(t *testing.T) {
	t.Parallel()
	for name, older := range eras {
		t.Run(name, func(t *testing.T) {
			f := newFollowing(t, older, nil)
			f.mention(t)
			<-f.asked
			if err := f.pool.Restart("guide"); err != nil {
				t.Fatal(err)
			}
			f.pool.Ready(t.Context())
			<-f.asked
			if notes := f.note(t, forecast); !slices.Equal(notes, []string{forecastChanged}) {
				t.Errorf("got %q, want %q", notes, forecastChanged)
			}
		})
	}
}

func TestRefusedSubscriptionIsAskedForAgain(t *testing.T) {
	t.Parallel()
	var refused atomic.Bool
	f := newFollowing(t, true, func(method string) bool {
		return method == "resources/subscribe" && refused.CompareAndSwap(false, true)
	})
	f.mention(t)
	f.mention(t)
	<-f.asked
}

func TestForgottenSessionIsRenewedForResources(t *testing.T) {
	t.Parallel()
	var forgotten atomic.Bool
	f := newFollowing(t, true, func(method string) bool {
		return method != "resources/subscribe" && forgotten.CompareAndSwap(true, false)
	})
	f.mention(t)
	forgotten.Store(true)
	f.mention(t)
	forgotten.Store(true)
	if list, err := f.pool.Resources(t.Context()); err != nil || len(list) == 0 || forgotten.Load() {
		t.Errorf("got %v, %v", list, err)
	}
}

func TestMentionWaitsForItsServer(t *testing.T) {
	t.Parallel()
	r := &remote{MCP: guide()}
	r.Server = newServer(t, r.Handler())
	p := newPool(t, mcpclient.Config{Later: true, Servers: []config.Server{{Name: "guide", URL: r.URL, Source: config.SourceUser}}})
	if m, ok, err := p.ReadResource(t.Context(), "guide", "weather://Bern/now"); !ok || err != nil || m.Text != "sun at weather://Bern/now" {
		t.Errorf("got %+v, %v, %v", m, ok, err)
	}
}

func TestMentionNamesWhyItsServerIsNotReady(t *testing.T) {
	t.Parallel()
	p := newPool(t, mcpclient.Config{Later: true, Servers: []config.Server{{Name: "gone", Command: "/nowhere/server", Source: config.SourceUser}}})
	if _, ok, err := p.ReadResource(t.Context(), "gone", "doc://guide"); !ok || err == nil || !strings.Contains(err.Error(), "not ready") || !strings.Contains(err.Error(), "/nowhere/server") {
		t.Errorf("got %v, %v", ok, err)
	}
	if _, ok, err := p.ReadResource(t.Context(), "*", "doc://guide"); ok || err != nil {
		t.Errorf("no server: got %v, %v", ok, err)
	}
}
