package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient"
)

// answering returns a pool with an HTTP server that answers each call with this
// result.
func answering(t *testing.T, result string) *mcpclient.Pool {
	t.Helper()
	r := newRemote(t, func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(body, &request) != nil || request.Method != "tools/call" {
			return true
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, result)
		return false
	})
	return over(t, r.URL, nil)
}

func TestAllResultContentIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		result string
		want   any
	}{
		"text and embedded text": {
			`{"content":[{"type":"text","text":"downloaded (SHA: abc)"},{"type":"resource","resource":{"uri":"repo://a","mimeType":"text/plain","text":"package a\n"}}]}`,
			"downloaded (SHA: abc)\npackage a\n",
		},
		"embedded JSON object": {
			`{"content":[{"type":"resource","resource":{"uri":"x://a","text":"{\"n\": 1.50}"}}]}`,
			map[string]any{"n": json.Number("1.50")},
		},
		"embedded blob": {
			`{"content":[{"type":"resource","resource":{"uri":"x://a.gz","mimeType":"application/gzip","blob":"AAAAAAA="}}]}`,
			"[resource x://a.gz: application/gzip, 5 bytes]",
		},
		"embedded resource without content": {
			`{"content":[{"type":"resource","resource":{"uri":"x://a"}}]}`, "[resource x://a]",
		},
		"resource link": {
			`{"content":[{"type":"resource_link","uri":"x://a","name":"a.txt","mimeType":"text/plain","size":12,"description":"the first"}]}`,
			"[resource link x://a: a.txt, text/plain, 12 bytes] the first",
		},
		"image":                    {`{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"}]}`, "[image: image/png, 3 bytes]"},
		"audio":                    {`{"content":[{"type":"audio","mimeType":"audio/wav","data":"AAA="}]}`, "[audio: audio/wav, 2 bytes]"},
		"unknown kind beside text": {`{"content":[{"type":"video","mimeType":"video/mp4","data":"AAAA"},{"type":"text","text":"seen"}]}`, "[video: video/mp4, 3 bytes]\nseen"},
		"unknown kind with text":   {`{"content":[{"type":"note","text":"seen"}]}`, "seen"},
		"unknown kind alone":       {`{"content":[{"type":"hologram","beam":7}]}`, "[hologram]"},
		"malformed block": {
			`{"content":[{"type":"image","data":7},{"type":"text","text":"seen"}]}`, "[content that cannot be read: 25 bytes]\nseen",
		},
		"content that is not a list":              {`{"content":{"type":"text","text":"alone"}}`, "alone"},
		"structured content only":                 {`{"structuredContent":{"n":12345678901234567890}}`, map[string]any{"n": json.Number("12345678901234567890")}},
		"structured content before other content": {`{"content":[{"type":"video"}],"structuredContent":{"n":1}}`, map[string]any{"n": json.Number("1")}},
		"no content in the result":                {`{"content":[]}`, nil},
		"result without any field":                {`{}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := call(t, answering(t, c.result), "far:hello", nil)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %#v, want %#v", got, c.want)
			}
		})
	}
}

func TestToolErrorIncludesEmbeddedResources(t *testing.T) {
	p := answering(t, `{"isError":true,"content":[{"type":"resource","resource":{"uri":"x://log","text":"disk full"}},{"type":"film"}]}`)
	if _, err := call(t, p, "far:hello", nil); !isToolError(err) || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("got %v", err)
	}
}

func TestBuiltInServerResourcesAreKept(t *testing.T) {
	p := inProcess(t, map[string]handler{"it": func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: "x://a", Text: "kept"}),
		}}, nil
	}})
	if got, err := call(t, p, "it", nil); err != nil || got != "kept" {
		t.Errorf("got %v, %v", got, err)
	}
}
