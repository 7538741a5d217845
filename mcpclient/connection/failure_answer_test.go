package connection_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

// An error that a server answers is a failure of the call. Only a call without an answer of its
// server is in doubt.
func TestOnlySilenceOfAServerLeavesTheEffectUnknown(t *testing.T) {
	t.Parallel()
	rpc := func(code int, message string) string {
		return fmt.Sprintf(`"error":{"code":%d,"message":%q}`, code, message)
	}
	for name, c := range map[string]struct {
		status int
		body   string // members of the JSON-RPC answer; or the whole body, if it begins with !
		words  string
		failed bool
	}{
		"internal error":                  {200, rpc(-32603, "Not Found: Resource not found"), "Not Found: Resource not found", true},
		"error of the server":             {200, rpc(-32000, "disk full"), "disk full", true},
		"error of the server's own":       {200, rpc(17, "quota used up"), "quota used up", true},
		"error without a code":            {200, `"error":{"message":"no"}`, "no", true},
		"parse error":                     {200, rpc(-32700, "cannot parse"), "cannot parse", true},
		"refused":                         {200, rpc(-32602, "no such argument"), "no such argument", true},
		"HTTP error with an answer":       {500, rpc(-32603, "it broke"), "it broke", true},
		"HTTP refusal":                    {400, rpc(-32600, "wrong"), "wrong", true},
		"HTTP error without an answer":    {502, "!<html>Bad Gateway</html>", "", false},
		"gateway that waited in vain":     {504, "!", "", false},
		"time-out of a server behind it":  {200, rpc(-32001, "Request timed out"), "Request timed out", false},
		"connection lost behind it":       {200, rpc(-32000, "MCP error -32000: Connection closed"), "Connection closed", false},
		"time-out told by a HTTP gateway": {504, rpc(-32001, "upstream timeout"), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRemote(t, func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
				if !bytes.Contains(body, []byte(mcp.MethodToolsCall)) {
					return true
				}
				var request struct {
					ID json.RawMessage `json:"id"`
				}
				if err := json.Unmarshal(body, &request); err != nil {
					t.Error(err)
				}
				text, whole := strings.CutPrefix(c.body, "!")
				if !whole {
					w.Header().Set("Content-Type", "application/json")
					text = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, request.ID, c.body)
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(text))
				return false
			})
			_, err := call(t, over(t, r.URL, nil), "far:hello", nil)
			if err == nil || isToolError(err) != c.failed || !strings.Contains(err.Error(), c.words) {
				t.Errorf("got %v, a failure: %t; want %t with %q", err, isToolError(err), c.failed, c.words)
			}
		})
	}
}
