package result_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"pgregory.net/rapid"

	"replan/internal/jsonsize"
	"replan/mcpclient/result"
	"replan/planning/plan"
)

// TestRandomContentIsNeverLost makes results of random blocks. Each word and each
// byte that was sent is in the value, beside it, or in a file.
func TestRandomContentIsNeverLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var words []string
		var sent [][]byte
		word := rapid.Custom(func(t *rapid.T) string {
			w := rapid.StringMatching(`[a-z<"ü]{3,12}`).Draw(t, "word")
			words = append(words, w)
			return w
		})
		content := rapid.Custom(func(t *rapid.T) string {
			data := rapid.SliceOfN(rapid.Byte(), 1, 60).Draw(t, "bytes")
			sent = append(sent, data)
			return rapid.SampledFrom([]*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding}).Draw(t, "alphabet").EncodeToString(data)
		})
		known := func(t *rapid.T) any {
			switch rapid.IntRange(0, 6).Draw(t, "kind") {
			case 0:
				return map[string]any{"type": "text", "text": word.Draw(t, "text")}
			case 1:
				return map[string]any{"type": "resource", "resource": map[string]any{"uri": word.Draw(t, "uri"), "blob": content.Draw(t, "blob")}}
			case 2:
				return map[string]any{"type": "resource", "resource": map[string]any{"uri": "x://a", "text": word.Draw(t, "text")}}
			case 3:
				return map[string]any{"type": "resource_link", "uri": word.Draw(t, "uri"), "name": word.Draw(t, "name"), "title": word.Draw(t, "title"), "description": word.Draw(t, "description")}
			case 4:
				kind := rapid.SampledFrom([]string{"image", "audio", "video", ""}).Draw(t, "type")
				return map[string]any{"type": kind, "mimeType": rapid.SampledFrom([]string{"image/png", "", "no type"}).Draw(t, "media"), "data": content.Draw(t, "data")}
			case 5:
				return map[string]any{"type": "hologram", "beam": map[string]any{"colours": []any{word.Draw(t, "colour")}}}
			default:
				return word.Draw(t, "bare")
			}
		}
		// block adds fields that its kind does not have.
		block := func(t *rapid.T) any {
			drawn := known(t)
			fields, ok := drawn.(map[string]any)
			if !ok || !rapid.Bool().Draw(t, "more") {
				return drawn
			}
			if resource, ok := fields["resource"].(map[string]any); ok && rapid.Bool().Draw(t, "inside") {
				fields = resource
			}
			for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"url", "source", "json", "content", "text", "Text", "lines"}), 1, 3).Draw(t, "names") {
				if fields[name] == nil {
					fields[name] = rapid.SampledFrom([]func() any{
						func() any { return word.Draw(t, "extra") },
						func() any { return map[string]any{"data": []any{word.Draw(t, "extra")}} },
					}).Draw(t, "form of extra")()
				}
			}
			return drawn
		}
		blocks := []any{}
		for range rapid.IntRange(0, 5).Draw(t, "blocks") {
			blocks = append(blocks, block(t))
		}
		reply := map[string]any{"content": blocks}
		switch rapid.IntRange(0, 5).Draw(t, "form") {
		case 0:
			reply["structuredContent"] = map[string]any{"field": word.Draw(t, "field")}
		case 1:
			if len(blocks) == 1 {
				reply["content"] = blocks[0]
			}
		case 2:
			reply["toolResult"] = word.Draw(t, "old")
		case 3:
			reply["structuredContent"], reply["toolResult"] = map[string]any{"field": word.Draw(t, "field")}, word.Draw(t, "old")
		}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"data", "result", "items"}), 0, 2, rapid.ID).Draw(t, "fields of the result") {
			reply[name] = []any{word.Draw(t, "unknown")}
		}
		raw, err := plan.EncodeJSON(reply)
		if err != nil {
			t.Fatal(err)
		}
		rewritten := result.Readable(raw)
		parsed, err := mcp.ParseCallToolResult(&rewritten)
		if err != nil {
			t.Fatalf("the library rejects %s: %v", raw, err)
		}
		result.Restore(parsed)
		var kept [][]byte
		beside := ""
		value, err := result.Read(plan.ToolCall{
			Beside: func(text string) { beside = text },
			SaveAttachment: func(content []byte, mediaType string) (plan.Attachment, error) {
				kept = append(kept, bytes.Clone(content))
				return plan.Attachment{File: "/f", Type: mediaType, Bytes: len(content)}, nil
			},
		}, parsed)
		if err != nil {
			t.Fatal(err)
		}
		seen := beside + plan.CanonicalJSON(value)
		switch v := value.(type) {
		case map[string]any:
			text, _ := v["text"].(string)
			seen += text
		case string:
			seen += v
		}
		for _, w := range words {
			quoted, _ := json.Marshal(w) // always possible
			if plain := strings.Trim(string(quoted), `"`); !strings.Contains(seen, w) && !strings.Contains(seen, plain) && !strings.Contains(seen, strings.Trim(plan.CanonicalJSON(w), `"`)) {
				t.Fatalf("%q is lost of %s: %s", w, raw, seen)
			}
		}
		for _, data := range sent {
			found := false
			for _, k := range kept {
				found = found || bytes.Equal(k, data)
			}
			if !found {
				t.Fatalf("%x is lost of %s", data, raw)
			}
		}
	})
}

func TestReadingADeepResultTakesLinearMemory(t *testing.T) {
	const deep = 9000
	reply := &mcp.CallToolResult{RawStructuredContent: json.RawMessage(strings.Repeat(`{"a":`, deep) + "1" + strings.Repeat("}", deep))}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := result.Read(plan.ToolCall{}, reply); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	used := (after.TotalAlloc - before.TotalAlloc) >> 20
	if used > 64 {
		t.Errorf("it took %d MB", used)
	}
}

func TestTextOfTooManyValuesStaysAText(t *testing.T) {
	text := "[" + strings.Repeat("1,", jsonsize.Most) + "1]"
	got, err := result.Read(plan.ToolCall{}, &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(text)}})
	if err != nil || got != text {
		t.Errorf("got a %T, %v", got, err)
	}
}
