package connection_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
	"replan/planning/plan"
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

// keeper keeps what is no text in memory.
type keeper struct {
	files  map[string]string // content by the name of its file
	beside string
}

// file is the value of binary content that a keeper has stored.
func file(mediaType, content string) map[string]any {
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
	return plan.Attachment{File: "/kept/" + sum, Type: mediaType, Bytes: len(content), SHA256: sum}.Value()
}

// value is the value of a step whose result holds files and no structured content.
func value(text string, files ...any) map[string]any {
	return map[string]any{"text": text, "files": files}
}

func (k *keeper) call(t *testing.T, p *mcpclient.Pool) (any, error) {
	t.Helper()
	return k.callAs(t, p, true)
}

func (k *keeper) has(content string) bool {
	return slices.Contains(slices.Collect(maps.Values(k.files)), content)
}

func (k *keeper) callAs(t *testing.T, p *mcpclient.Pool, readOnly bool) (any, error) {
	t.Helper()
	k.files = map[string]string{}
	tool, err := p.Ready(t.Context()).Find("far:hello")
	if err != nil {
		t.Fatal(err)
	}
	tool.ReadOnly = readOnly
	return p.Call(t.Context(), plan.ToolCall{
		Tool: tool, Beside: func(text string) { k.beside = text },
		SaveAttachment: func(content []byte, mediaType string) (plan.Attachment, error) {
			sum := fmt.Sprintf("%x", sha256.Sum256(content))
			k.files["/kept/"+sum] = string(content)
			return plan.Attachment{File: "/kept/" + sum, Type: mediaType, Bytes: len(content), SHA256: sum}, nil
		},
	})
}

func TestAllResultContentIsKept(t *testing.T) {
	t.Parallel()
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
			value("[resource x://a.gz: application/gzip, 5 bytes]", file("application/gzip", "\x00\x00\x00\x00\x00")),
		},
		"embedded resource without content": {
			`{"content":[{"type":"resource","resource":{"uri":"x://a"}}]}`, "[resource x://a: empty]",
		},
		"resource link": {
			`{"content":[{"type":"resource_link","uri":"x://a","name":"a.txt","mimeType":"text/plain","size":12,"description":"the first"}]}`,
			"[resource link x://a: a.txt, text/plain, 12 bytes] the first",
		},
		"image":                       {`{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"}]}`, value("[image: image/png, 3 bytes]", file("image/png", "\x00\x00\x00"))},
		"audio":                       {`{"content":[{"type":"audio","mimeType":"audio/wav","data":"AAA="}]}`, value("[audio: audio/wav, 2 bytes]", file("audio/wav", "\x00\x00"))},
		"unknown kind beside text":    {`{"content":[{"type":"video","mimeType":"video/mp4","data":"AAAA"},{"type":"text","text":"seen"}]}`, value("[video: video/mp4, 3 bytes]\nseen", file("video/mp4", "\x00\x00\x00"))},
		"unknown kind with text":      {`{"content":[{"type":"note","text":"seen"}]}`, "seen"},
		"unknown kind alone":          {`{"content":[{"type":"hologram","beam":7}]}`, map[string]any{"type": "hologram", "beam": json.Number("7")}},
		"unknown kind without fields": {`{"content":[{"type":"film"}]}`, "[film: empty]"},
		"unknown kind with bytes and more": {
			`{"content":[{"type":"video","data":"AAAA","length":{"s":4}}]}`, value("[video: application/octet-stream, 3 bytes]\n{\"length\":{\"s\":4},\"type\":\"video\"}", file("application/octet-stream", "\x00\x00\x00")),
		},
		"bytes that are no base64": {
			`{"content":[{"type":"image","mimeType":"image/png","data":"not*base64"}]}`, "[image: image/png, no valid base64, as it came]\nnot*base64",
		},
		"blob that is no base64": {
			`{"content":[{"type":"resource","resource":{"uri":"x://a","blob":"%%%"}}]}`, "[resource x://a: no valid base64, as it came]\n%%%",
		},
		"base64 in the alphabet of URLs, without padding": {
			`{"content":[{"type":"image","mimeType":"image/png","data":"-_8"}]}`, value("[image: image/png, 2 bytes]", file("image/png", "\xfb\xff")),
		},
		"media type that is none": {
			`{"content":[{"type":"image","mimeType":"so so","data":"iVBORw0KGgo="}]}`, value("[image: image/png, 8 bytes]", file("image/png", "\x89PNG\r\n\x1a\n")),
		},
		"two equal pictures": {
			`{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"},{"type":"image","mimeType":"image/png","data":"AAAA"}]}`,
			value("[image: image/png, 3 bytes]\n[image: image/png, 3 bytes]", file("image/png", "\x00\x00\x00"), file("image/png", "\x00\x00\x00")),
		},
		"a text that is no block": {`{"content":["plain"]}`, "plain"},
		"null as a block":         {`{"content":[null,{"type":"text","text":"seen"}]}`, "seen"},
		"content is null":         {`{"content":null}`, nil},
		"malformed block": {
			`{"content":[{"type":"image","data":7},{"type":"text","text":"seen"}]}`, "{\"data\":7,\"type\":\"image\"}\nseen",
		},
		"image by its URL":          {`{"content":[{"type":"image","mimeType":"image/png","url":"http://a/b.png"}]}`, map[string]any{"type": "image", "mimeType": "image/png", "url": "http://a/b.png"}},
		"image in another field":    {`{"content":[{"type":"image","source":{"data":"AAAA"}}]}`, map[string]any{"type": "image", "source": map[string]any{"data": "AAAA"}}},
		"image with more":           {`{"content":[{"type":"image","mimeType":"image/png","data":"AAAA","alt":"a cat"}]}`, value("[image: image/png, 3 bytes]\n{\"alt\":\"a cat\",\"type\":\"image\"}", file("image/png", "\x00\x00\x00"))},
		"image without any content": {`{"content":[{"type":"image","mimeType":"image/png"}]}`, "[image: image/png, empty]"},
		"JSON in a text block":      {`{"content":[{"type":"text","json":{"k":7}}]}`, map[string]any{"type": "text", "json": map[string]any{"k": json.Number("7")}}},
		"text in another field":     {`{"content":[{"type":"text","content":"MYTEXT"}]}`, map[string]any{"type": "text", "content": "MYTEXT"}},
		"text with more":            {`{"content":[{"type":"text","text":"seen","lang":"en"}]}`, "seen\n{\"lang\":\"en\",\"type\":\"text\"}"},
		"text with fields that hold no content": {
			`{"content":[{"type":"text","text":"{\"n\":1}","annotations":{"priority":1},"_meta":{"a":1},"mimeType":null,"meta":null}]}`, map[string]any{"n": json.Number("1")},
		},
		"fields that differ in capitals": {`{"content":[{"type":"text","text":"one","Text":"two"}]}`, "one\n{\"Text\":\"two\",\"type\":\"text\"}"},
		"embedded resource with other content": {
			`{"content":[{"type":"resource","resource":{"uri":"x://a","data":{"k":7}}}]}`,
			map[string]any{"type": "resource", "resource": map[string]any{"uri": "x://a", "data": map[string]any{"k": json.Number("7")}}},
		},
		"embedded text with more": {
			`{"content":[{"type":"resource","resource":{"uri":"x://a","text":"seen","lines":3}}]}`, "seen\n{\"resource\":{\"lines\":3},\"type\":\"resource\"}",
		},
		"resource that is no object": {`{"content":[{"type":"resource","resource":"x://a"}]}`, map[string]any{"type": "resource", "resource": "x://a"}},
		"resource link with text":    {`{"content":[{"type":"resource_link","uri":"x://a","name":"a.txt","text":"seen"}]}`, "[resource link x://a: a.txt]\nseen"},
		"resource link with title, icons and more": {
			`{"content":[{"type":"resource_link","uri":"x://a","name":"a.txt","title":"A","icons":[{"src":"x"}],"lines":3}]}`,
			"[resource link x://a: A, a.txt]\n{\"lines\":3,\"type\":\"resource_link\"}",
		},
		"result of protocol 2024-10-07":           {`{"toolResult":{"n":1.50}}`, map[string]any{"n": json.Number("1.50")}},
		"text of protocol 2024-10-07":             {`{"toolResult":"seen"}`, "seen"},
		"content that is not a list":              {`{"content":{"type":"text","text":"alone"}}`, "alone"},
		"structured content only":                 {`{"structuredContent":{"n":12345678901234567890}}`, map[string]any{"n": json.Number("12345678901234567890")}},
		"structured content before other content": {`{"content":[{"type":"video"}],"structuredContent":{"n":1}}`, map[string]any{"n": json.Number("1")}},
		"no content in the result":                {`{"content":[]}`, nil},
		"result without any field":                {`{}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var k keeper
			got, err := k.call(t, answering(t, c.result))
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
	t.Parallel()
	p := answering(t, `{"isError":true,"content":[{"type":"resource","resource":{"uri":"x://log","text":"disk full"}},{"type":"film"}]}`)
	if _, err := call(t, p, "far:hello", nil); !isToolError(err) || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("got %v", err)
	}
}

func TestBuiltInServerResourcesAreKept(t *testing.T) {
	t.Parallel()
	p := inProcess(t, map[string]handler{"it": func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: "x://a", Text: "kept"}),
		}}, nil
	}})
	if got, err := call(t, p, "it", nil); err != nil || got != "kept" {
		t.Errorf("got %v, %v", got, err)
	}
}

// manyPictures is content whose base64 is long enough for a file of its own.
var manyPictures = strings.Repeat("A picture, 1 of many. ", 50)

// kinds are blocks of a result with what must be found of each: a text in what the
// model reads, and bytes among the kept files.
var kinds = map[string]struct{ block, text, bytes string }{
	"text":                   {block: `{"type":"text","text":"plain words"}`, text: "plain words"},
	"JSON as text":           {block: `{"type":"text","text":"{\"cell\":17}"}`, text: "17"},
	"embedded text":          {block: `{"type":"resource","resource":{"uri":"x://a","text":"package a"}}`, text: "package a"},
	"embedded blob":          {block: `{"type":"resource","resource":{"uri":"x://a.gz","mimeType":"application/gzip","blob":"YmxvYg=="}}`, text: "x://a.gz", bytes: "blob"},
	"blob that is no base64": {block: `{"type":"resource","resource":{"uri":"x://a","blob":"%no base64%"}}`, text: "%no base64%"},
	"link":                   {block: `{"type":"resource_link","uri":"x://far","name":"far.txt"}`, text: "x://far"},
	"image":                  {block: `{"type":"image","mimeType":"image/png","data":"cGljdHVyZQ=="}`, text: "image/png", bytes: "picture"},
	"audio":                  {block: `{"type":"audio","mimeType":"audio/wav","data":"c291bmQ="}`, text: "audio/wav", bytes: "sound"},
	"video":                  {block: `{"type":"video","mimeType":"video/mp4","data":"ZmlsbQ=="}`, text: "video/mp4", bytes: "film"},
	"unknown kind":           {block: `{"type":"hologram","beam":"blue"}`, text: "blue"},
	"image by its URL":       {block: `{"type":"image","url":"http://a/b.png"}`, text: "http://a/b.png"},
	"image in a source":      {block: `{"type":"image","source":{"media_type":"image/png","data":"` + base64.StdEncoding.EncodeToString([]byte(manyPictures)) + `"}}`, text: "media_type", bytes: manyPictures},
	"text in another field":  {block: `{"type":"text","content":"MYTEXT"}`, text: "MYTEXT"},
	"text with more":         {block: `{"type":"text","text":"plain words","more":"MYTEXT"}`, text: "MYTEXT"},
	"resource with data":     {block: `{"type":"resource","resource":{"uri":"x://a","data":{"k":"seven"}}}`, text: "seven"},
	"link with text":         {block: `{"type":"resource_link","uri":"x://far","text":"MYTEXT"}`, text: "MYTEXT"},
	"malformed block":        {block: `{"type":"image","data":["raw"]}`, text: "raw"},
	"bare text":              {block: `"bare words"`, text: "bare words"},
}

// surroundings are the rest of a result around one block.
var surroundings = map[string]string{
	"alone":                    `{"content":[%s]}`,
	"beside text":              `{"content":[{"type":"text","text":"said before"},%s,{"type":"text","text":"said after"}]}`,
	"beside structured":        `{"content":[%s],"structuredContent":{"field":"fixed"}}`,
	"beside structured scalar": `{"content":[%s],"structuredContent":false}`,
	"outside a list":           `{"content":%s}`,
	"beside an unknown field":  `{"content":[%s],"rows":["in no block"]}`,
}

func TestNoKindOfContentIsLost(t *testing.T) {
	t.Parallel()
	for kind, k := range kinds {
		for around, form := range surroundings {
			for _, failed := range []bool{false, true} {
				for _, readOnly := range []bool{true, false} {
					t.Run(fmt.Sprintf("%s %s, failed %v, read-only %v", kind, around, failed, readOnly), func(t *testing.T) {
						result := fmt.Sprintf(form, k.block)
						if failed {
							result = strings.Replace(result, "{", `{"isError":true,`, 1)
						}
						p := answering(t, result)
						var kept keeper
						value, err := kept.callAs(t, p, readOnly)
						seen := kept.beside + plan.CanonicalJSON(value)
						if failed {
							if !isToolError(err) {
								t.Fatalf("error %v, want a tool error", err)
							}
							seen = err.Error()
						} else if err != nil {
							t.Fatal(err)
						}
						wanted := []string{k.text}
						switch around {
						case "beside text":
							wanted = append(wanted, "said before", "said after")
						case "beside structured":
							wanted = append(wanted, "fixed")
						case "beside structured scalar":
							wanted = append(wanted, "false")
						case "beside an unknown field":
							wanted = append(wanted, "in no block")
						}
						for _, want := range wanted {
							if !strings.Contains(seen, want) {
								t.Errorf("%q is lost: %s", want, seen)
							}
						}
						if k.bytes != "" && !kept.has(k.bytes) {
							t.Errorf("the bytes are not kept: %v", kept.files)
						}
						if k.bytes != "" && strings.Contains(seen, base64.StdEncoding.EncodeToString([]byte(k.bytes))) {
							t.Errorf("base64 is in the value: %s", seen)
						}
					})
				}
			}
		}
	}
}

func TestTextBesideStructuredContentIsKeptIfItSaysMore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ content, structured, want string }{
		"the same as JSON":          {`{\"n\": 1, \"a\": [\"x\"]}`, `{"a":["x"],"n":1}`, ""},
		"a text in it":              {`the text\n`, `{"content":"the text"}`, ""},
		"one of its values as JSON": {`{\"id\":7}`, `{"result":[{"id":7},{"id":8}]}`, ""},
		"a number in it":            {`42`, `{"result":42}`, ""},
		"words about it":            {`2 issues found, more on page 2`, `{"issues":[1,2]}`, "2 issues found, more on page 2"},
		"other JSON":                {`{\"next\":3}`, `{"issues":[1,2]}`, `{"next":3}`},
	} {
		t.Run(name, func(t *testing.T) {
			var k keeper
			if _, err := k.call(t, answering(t, `{"content":[{"type":"text","text":"`+c.content+`"}],"structuredContent":`+c.structured+`}`)); err != nil {
				t.Fatal(err)
			}
			if k.beside != c.want {
				t.Errorf("beside %q, want %q", k.beside, c.want)
			}
		})
	}
}

func TestLongBase64InJSONIsKeptAsFile(t *testing.T) {
	t.Parallel()
	picture := make([]byte, 1200)
	for i := range picture {
		picture[i] = byte(i * 7)
	}
	long := base64.StdEncoding.EncodeToString(picture)
	words := strings.Repeat("Some 8 words that are plain and no base64 ", 40)
	hexadecimal := strings.Repeat("0123456789abcdef", 100)
	for name, c := range map[string]struct {
		result string
		want   any
	}{
		"in structured content beside its media type": {
			`{"structuredContent":{"content":[{"type":"image","mimeType":"image/png","data":"` + long + `"}]}}`,
			map[string]any{"content": []any{map[string]any{"type": "image", "mimeType": "image/png", "data": file("image/png", string(picture))}}},
		},
		"in a data URL": {
			`{"structuredContent":{"src":"data:image/webp;base64,` + long + `"}}`, map[string]any{"src": file("image/webp", string(picture))},
		},
		"without a media type": {
			`{"structuredContent":["` + long + `"]}`, []any{file("application/octet-stream", string(picture))},
		},
		"in JSON as text": {
			`{"content":[{"type":"text","text":"{\"data\":\"` + long + `\"}"}]}`, map[string]any{"data": file("application/octet-stream", string(picture))},
		},
		"short base64 stays":           {`{"structuredContent":{"key":"QUJD"}}`, map[string]any{"key": "QUJD"}},
		"words stay":                   {`{"structuredContent":{"text":"` + words + `"}}`, map[string]any{"text": words}},
		"hexadecimal numbers stay":     {`{"structuredContent":{"sum":"` + hexadecimal + `"}}`, map[string]any{"sum": hexadecimal}},
		"what cannot be decoded stays": {`{"structuredContent":{"data":"` + long + `*"}}`, map[string]any{"data": long + "*"}},
	} {
		t.Run(name, func(t *testing.T) {
			var k keeper
			got, err := k.call(t, answering(t, c.result))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestPictureInBothContentsIsNamedOnce(t *testing.T) {
	t.Parallel()
	long := base64.StdEncoding.EncodeToString([]byte(manyPictures))
	var k keeper
	_, err := k.call(t, answering(t, `{"content":[{"type":"image","mimeType":"image/png","data":"`+long+`"}],"structuredContent":{"mimeType":"image/png","data":"`+long+`"}}`))
	if err != nil || k.beside != "" || len(k.files) != 1 {
		t.Errorf("beside %q, files %d: %v", k.beside, len(k.files), err)
	}
}

func TestResultOfUnknownTypeFailsTheCall(t *testing.T) {
	t.Parallel()
	_, err := call(t, answering(t, `{"resultType":"task","taskId":"1","content":[]}`), "far:hello", nil)
	if err == nil || isToolError(err) || !strings.Contains(err.Error(), `a result of the type "task", which replan does not know`) {
		t.Errorf("got %v, want an unknown outcome", err)
	}
}

func TestContentThatCannotBeKeptFailsTheCall(t *testing.T) {
	t.Parallel()
	p := answering(t, `{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"}]}`)
	tool, err := p.Ready(t.Context()).Find("far:hello")
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	_, err = p.Call(t.Context(), plan.ToolCall{Tool: tool, SaveAttachment: func([]byte, string) (plan.Attachment, error) { return plan.Attachment{}, full }})
	if !errors.Is(err, full) || isToolError(err) {
		t.Errorf("error %v, want one that leaves the effect unknown", err)
	}
}

func TestWithoutKeeperContentStaysInTheValue(t *testing.T) {
	t.Parallel()
	got, err := call(t, answering(t, `{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"}]}`), "far:hello", nil)
	if err != nil || !strings.Contains(plan.CanonicalJSON(got), `"base64":"AAAA"`) {
		t.Errorf("got %v: %v", got, err)
	}
}

func TestResultThatItsServerDeclaresOtherwiseIsNotedOnce(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"n":{"type":"integer"},"big":{"type":"number"}},"required":["n"]}`
	s := server.NewMCPServer("k", "1", server.WithToolCapabilities(true))
	for name, content := range map[string]any{
		"right": map[string]any{"n": 1}, "wrong": map[string]any{"n": "one"}, "lacking": map[string]any{"m": 1}, "list": []any{1},
	} {
		s.AddTool(mcp.Tool{Name: name, RawInputSchema: json.RawMessage(`{"type":"object"}`), RawOutputSchema: json.RawMessage(schema)},
			func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return mcp.NewToolResultStructuredOnly(content), nil
			})
	}
	for name, text := range map[string]string{"words": "n is 1", "JSON": `{"n":1}`, "wrong_JSON": `{"n":"one"}`} {
		s.AddTool(mcp.Tool{Name: name, RawInputSchema: json.RawMessage(`{"type":"object"}`), RawOutputSchema: json.RawMessage(schema)},
			func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return mcp.NewToolResultText(text), nil
			})
	}
	s.AddTool(mcp.Tool{Name: "unusable", RawInputSchema: json.RawMessage(`{"type":"object"}`), RawOutputSchema: json.RawMessage(`{"$ref":"http://example.com/x"}`)},
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultStructuredOnly(map[string]any{"n": "one"}), nil
		})
	remote := newServer(t, server.NewStreamableHTTPServer(s))
	p := over(t, remote.URL, nil)
	const starts = "the result of far:%s is not as its server declares it: %s"
	for name, want := range map[string]string{
		"right": "", "unusable": "", "JSON": "",
		"words":      fmt.Sprintf(starts, "words", "it has no structured content"),
		"wrong_JSON": fmt.Sprintf(starts, "wrong_JSON", "n: got string, want integer"),
		"wrong":      fmt.Sprintf(starts, "wrong", "n: got string, want integer"),
		"lacking":    fmt.Sprintf(starts, "lacking", "missing property 'n'"),
		"list":       fmt.Sprintf(starts, "list", "got array, want object"),
	} {
		for round, want := range []string{want, ""} {
			if _, err := call(t, p, "far:"+name, nil); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got := strings.Join(p.Notes(), "\n"); got != want {
				t.Errorf("%s, call %d: got %q, want %q", name, round+1, got, want)
			}
		}
	}
}
