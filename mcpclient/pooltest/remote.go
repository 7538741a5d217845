package pooltest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
	"replan/mcpclient/config"
)

// Remote is mcp-go's streamable HTTP server behind a filter.
type Remote struct {
	*httptest.Server
	MCP    *server.MCPServer
	Filter func(w http.ResponseWriter, r *http.Request, body []byte) bool // true passes the request on
}

// NewRemote returns such a server with the tool hello. filter may be nil.
func NewRemote(t *testing.T, filter func(http.ResponseWriter, *http.Request, []byte) bool) *Remote {
	t.Helper()
	r := &Remote{MCP: server.NewMCPServer("remote", "1", server.WithLogging(), server.WithInstructions("Say hello\nfirst. "+strings.Repeat("x", 1000))), Filter: filter}
	r.MCP.AddTool(mcp.NewTool("hello"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("from afar"), nil
	})
	r.Server = NewServer(t, r.Handler())
	return r
}

// NewServer returns a server that ends with the test.
func NewServer(t *testing.T, h http.Handler) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// End ends the server with all its connections, which the client keeps open to hear
// of changes.
func (r *Remote) End() {
	_ = r.Listener.Close()
	r.CloseClientConnections()
	r.Close()
}

// Handler returns what answers requests, behind the filter.
func (r *Remote) Handler() http.Handler {
	inner := server.NewStreamableHTTPServer(r.MCP)
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if r.Filter != nil {
			body, err := io.ReadAll(q.Body)
			if err != nil || !r.Filter(w, q, body) {
				return
			}
			q.Body = io.NopCloser(bytes.NewReader(body))
		}
		inner.ServeHTTP(w, q)
	})
}

// Over returns a pool with a server at the URL.
func Over(t *testing.T, url string, headers map[string]string) *mcpclient.Pool {
	t.Helper()
	return New(t, mcpclient.Config{Servers: []config.Server{
		{Name: "far", URL: url, Headers: headers, Source: config.SourceUser},
	}})
}
