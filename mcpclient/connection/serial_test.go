package connection_test

import (
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
	"replan/mcpclient/config"
)

// A server takes calls that may change something one after the other, unless it says that they
// may be repeated or its configuration says that they may run side by side.
func TestToolsThatMayChangeSomethingAreSerial(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for name, c := range map[string]struct {
		hints    mcp.ToolAnnotation
		parallel bool
		want     bool
	}{
		"no hints":             {want: true},
		"not read-only":        {hints: mcp.ToolAnnotation{ReadOnlyHint: &no}, want: true},
		"not idempotent":       {hints: mcp.ToolAnnotation{IdempotentHint: &no}, want: true},
		"read-only":            {hints: mcp.ToolAnnotation{ReadOnlyHint: &yes}},
		"idempotent":           {hints: mcp.ToolAnnotation{IdempotentHint: &yes}},
		"a server in parallel": {parallel: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := server.NewMCPServer("web", "1", server.WithToolCapabilities(true))
			s.AddTool(mcp.Tool{Name: "store", RawInputSchema: []byte(`{"type":"object"}`), Annotations: c.hints}, nil)
			web := newServer(t, server.NewStreamableHTTPServer(s))
			p := newPool(t, mcpclient.Config{Servers: []config.Server{{Name: "web", URL: web.URL, Parallel: c.parallel}}})
			if got := tool(t, p, "store"); got.Serial != c.want {
				t.Errorf("got %+v, want serial %t", got, c.want)
			}
		})
	}
}
