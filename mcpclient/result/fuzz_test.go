package result_test

import (
	"encoding/json"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient/result"
	"replan/planning/plan"
)

// FuzzResult checks that what a server answers becomes a value that can be written as
// JSON, or an error, in whatever form it comes.
func FuzzResult(f *testing.F) {
	for _, raw := range []string{
		`{"content":[{"type":"text","text":"{\"a\":1}"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"isError":false}`, `{"structuredContent":{"a":[1e400]},"content":null}`, `{"content":{"type":"resource","resource":{"uri":"x","blob":"!"}}}`,
		`{"content":[null,7,"x",{"type":"hologram"}],"toolResult":"\u001b"}`, `{"resultType":"input_required"}`, `{"content":[{"type":"resource_link","uri":7}],"isError":"x"}`, `[]`, `{"content":[{"type":"text","text":"\ud800"}]}`,
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		read := result.Readable(raw)
		if json.Valid(raw) && !json.Valid(read) {
			t.Fatalf("%s became %s", raw, read)
		}
		got, err := mcp.ParseCallToolResult(&read)
		if err != nil || got == nil {
			return
		}
		result.Restore(got)
		call := plan.ToolCall{Tool: plan.Tool{Server: "it", Name: "x"}}
		value, err := result.Read(call, got)
		if err != nil {
			if err.Error() == "" {
				t.Fatalf("%s: an error without words", raw)
			}
			return
		}
		if _, err := json.Marshal(value); err != nil {
			t.Fatalf("%s: the value %v cannot be written: %v", raw, value, err)
		}
		result.Text(call, got)
	})
}
