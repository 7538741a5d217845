package serve_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"replan/cli/serve"
)

func TestSubscriptionIsAcknowledgedBeforeItsResult(t *testing.T) {
	s := serve.New(serve.Config{Version: "1"})
	defer s.Close()
	h := s.Handler(serve.Access{Token: token})
	for range 200 {
		code, body := post(t, h, func(r *http.Request) {
			message := `{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
			r.Body = io.NopCloser(strings.NewReader(message))
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Header.Set("MCP-Protocol-Version", "2026-07-28")
			r.Header.Set("Mcp-Method", "subscriptions/listen")
		})
		told, result := strings.Index(body, "notifications/subscriptions/acknowledged"), strings.Index(body, `"result"`)
		if code != http.StatusOK || told < 0 || result < told {
			t.Fatalf("got %d: %s", code, body)
		}
	}
}
