package connection_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"replan/planning/plan"
)

// What a server says of its own secrets, or others', reaches neither messages nor results of errors.
func TestErrorOfAToolHoldsNoSecretOfItsServer(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]string{
		"tool":     `"result":{"isError":true,"content":[{"type":"text","text":"refused: header-secret-1"}],"structuredContent":{"key":"header-secret-1"}}`,
		"protocol": `"error":{"code":-32602,"message":"refused: header-secret-1"}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRemote(t, func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
				var request struct {
					ID     json.RawMessage `json:"id"`
					Method string          `json:"method"`
				}
				if json.Unmarshal(body, &request) != nil || request.Method != "tools/call" {
					return true
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, request.ID, reply)
				return false
			})
			p := over(t, r.URL+"?key=header-secret-1", nil)
			_, err := call(t, p, "far:hello", nil)
			var failure *plan.ToolError
			if err == nil || !strings.Contains(err.Error(), "refused: [secret left out]") || strings.Contains(err.Error(), "secret-1") {
				t.Fatalf("got %v", err)
			}
			if errors.As(err, &failure) && strings.Contains(fmt.Sprint(failure.Message, failure.Result), "secret-1") {
				t.Errorf("got %+v", failure)
			}
			if status := p.Status()[0]; strings.Contains(status.URL, "secret-1") || !strings.Contains(status.URL, "?key=[secret left out]") {
				t.Errorf("got %q", status.URL)
			}
		})
	}
}
