package mcpclient_test

import (
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

// A server takes calls that may change something one after the other, unless it says that they
// may be repeated or its configuration says that they may run side by side.
func TestToolsThatMayChangeSomethingAreSerial(t *testing.T) {
	yes, no := true, false
	web := newChanging(t, "")
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
			web.offers(mcp.Tool{Name: "store", RawInputSchema: []byte(`{"type":"object"}`), Annotations: c.hints})
			web.config.Parallel = c.parallel
			p, all := web.open()
			if all[0].Serial != c.want {
				t.Errorf("got %+v, want serial %t", all[0], c.want)
			}
			_ = p.Close()
		})
	}
}
