package connection_test

import (
	"encoding/json"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
	"replan/mcpclient/config"
)

// recording keeps the messages of servers.
type recording struct {
	mu  sync.Mutex
	all []mcpclient.Message
}

func (r *recording) add(m mcpclient.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, m)
}

// methods returns the methods of sent requests, and the answers that have a result.
func (r *recording) methods(t *testing.T) (sent []string, results int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.all {
		var of struct {
			Method string
			Result json.RawMessage
		}
		if err := json.Unmarshal(m.Text, &of); err != nil || m.Server != "it" || m.Time.IsZero() {
			t.Errorf("got %+v: %v", m, err)
		}
		if m.Sent {
			sent = append(sent, of.Method)
		} else if of.Result != nil {
			results++
		}
	}
	return sent, results
}

func TestWireReportsEachMessageOfChildAndHTTPServers(t *testing.T) {
	t.Parallel()
	remote := server.NewMCPServer("remote", "1", server.WithToolCapabilities(true))
	remote.AddTool(mcp.NewTool("where"), nil)
	web := httptest.NewServer(server.NewStreamableHTTPServer(remote))
	defer web.Close()
	for name, s := range map[string]config.Server{"child": aChild("it", "server", nil), "HTTP": {Name: "it", URL: web.URL}} {
		t.Run(name, func(t *testing.T) {
			var r recording
			p := newPool(t, mcpclient.Config{Servers: []config.Server{s}, Wire: r.add})
			if got := p.Ready(t.Context()); len(got) == 0 {
				t.Fatalf("got no tools: %+v", p.Status())
			}
			sent, results := r.methods(t)
			if !slices.Contains(sent, "tools/list") || results < 2 {
				t.Errorf("got the requests %q and %d results", sent, results)
			}
		})
	}
}

func TestWireReportsStatusOfRefusedRequests(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(nil) // knows no path
	defer web.Close()
	var r recording
	p := newPool(t, mcpclient.Config{Servers: []config.Server{{Name: "it", URL: web.URL}}, Wire: r.add})
	p.Ready(t.Context())
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.ContainsFunc(r.all, func(m mcpclient.Message) bool { return !m.Sent && string(m.Text) == "HTTP 404 Not Found" }) {
		t.Errorf("got %+v", r.all)
	}
}
