package ollama_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

func offering(words string, tools ...plan.Tool) prompt.Request {
	req := ask(words)
	req.Tools = tools
	return req
}

var search = plan.Tool{Name: "search", Server: "web", InputSchema: []byte(`{"type":"object"}`)}

func TestReplyKeepsCallsAndDigits(t *testing.T) {
	server := serve(t, ollamatest.Script{
		Model: "m", Capabilities: thinker,
		Replies: []ollamatest.Reply{{
			Thinking: "hm", Text: "let me look",
			Calls: []ollamatest.Call{
				{ID: "a", Name: "search", Args: map[string]any{
					"id": json.Number("12345678901234567890"), "price": json.Number("0.1000"), "deep": []any{map[string]any{"n": json.Number("9007199254740993")}},
					"text": "a <b> & \u2028", "none": nil, "yes": true,
				}},
				{Name: "nonsense"},
			},
		}},
	})
	var got pieces
	req := offering("look", search)
	req.Think = true
	reply, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), req, got.delta)
	if err != nil || len(reply.Calls) != 2 {
		t.Fatalf("reply %+v, error %v, want two calls", reply, err)
	}
	if text, thinking := got.joined(); text != "let me look" || reply.Text != text || thinking != "hm" || reply.Thinking != thinking {
		t.Errorf("text %q, thinking %q, reply %+v", text, thinking, reply)
	}
	const want = `{"deep":[{"n":9007199254740993}],"id":12345678901234567890,"none":null,"price":0.1000,"text":"a <b> & ` + "\u2028" + `","yes":true}`
	first, second := reply.Calls[0], reply.Calls[1]
	if args := plan.CanonicalJSON(first.Args); first.ID != "a" || first.Name != "search" || args != strings.ReplaceAll(want, "\u2028", `\u2028`) {
		t.Errorf("first call %q %q %s, want every digit", first.ID, first.Name, args)
	}
	if second.Name != "nonsense" || second.Args == nil || len(second.Args) != 0 || second.ID == "" {
		t.Errorf("second call %+v, want one without arguments", second)
	}
}

func TestReplyOfCallsAlone(t *testing.T) {
	server := serve(t, ollamatest.Script{
		Model: "m", Capabilities: thinker,
		Replies: []ollamatest.Reply{{Calls: []ollamatest.Call{{Name: "search"}}, Times: -1}},
	})
	req := formatted("look")
	req.Tools = plan.Offer{search}
	reply, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), req, nil)
	if err != nil || len(reply.Calls) != 1 || reply.Text != "" {
		t.Errorf("reply %+v, error %v, want the call", reply, err)
	}
	if n := len(server.Requests()); n != 1 {
		t.Errorf("got %d requests, want no retry for text", n)
	}
}

func TestToolsGetShortestUniqueNames(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "yes", Times: -1}}})
	client := connect(t, ollama.Config{Host: server.URL()})
	req := offering("look", search,
		plan.Tool{Name: "read", Server: "files", Description: " many\n\twords "},
		plan.Tool{Name: "read", Server: "web", Description: strings.Repeat("é", 5000)})
	for range 2 {
		if _, err := client.Ask(testContext(t), req, nil); err != nil {
			t.Fatal(err)
		}
	}
	got := server.Requests()[0]
	if want := []string{"search", "files:read", "web:read"}; !slices.Equal(got.ToolNames(), want) {
		t.Errorf("tools %q, want %q", got.ToolNames(), want)
	}
	if string(got.Tools) != string(server.Requests()[1].Tools) {
		t.Error("the same tools were encoded in two ways")
	}
	var tools []struct{ Function struct{ Description string } }
	if err := json.Unmarshal(got.Tools, &tools); err != nil {
		t.Fatal(err)
	}
	if d := tools[1].Function.Description; d != "many words" {
		t.Errorf("description %q, want it on one line", d)
	}
	if d := []rune(tools[2].Function.Description); len(d) != 1001 || d[1000] != '…' {
		t.Errorf("got a description of %d characters, want it cut after 1000", len(d))
	}
}

func TestInputSchemaConversion(t *testing.T) {
	for _, tc := range []struct{ name, schema, want string }{
		{"no schema", ``, `{"type":"object","properties":{}}`},
		{"invalid schema", `[1]`, `{"type":"object","properties":{}}`},
		{
			"required properties first, others by name",
			`{"type":"object","properties":{"a":{"type":"string"},"c":{"type":"integer"},"b":{"type":"boolean"}},"required":["c","gone"]}`,
			`{"type":"object","required":["c","gone"],"properties":{"c":{"type":"integer"},"gone":{},"a":{"type":"string"},"b":{"type":"boolean"}}}`,
		},
		{
			"nested properties", `{"properties":{"a":{"type":"object","properties":{"b":{"type":"string","description":"x"}},"required":["b"]}}}`,
			`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string","description":"x"}},"required":["b"]}}}`,
		},
		{
			"enum and const", `{"properties":{"a":{"enum":["x",2,null]},"b":{"const":12345678901234567890}}}`,
			`{"type":"object","properties":{"a":{"enum":["x",2]},"b":{"enum":[12345678901234567890]}}}`,
		},
		{
			"anyOf and oneOf", `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]},"b":{"oneOf":[{"type":"integer"},{"type":"boolean"}]}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["integer","boolean"]}}}`,
		},
		{
			"null where the argument is required, else it is left out",
			`{"properties":{"a":{"type":["string","null"]},"b":{"type":["string","null"]},"c":{"anyOf":[{"enum":["x"]},{"type":"null"}]},"d":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"integer"},{"type":"null"}]}},"required":["b","c","d"]}`,
			`{"type":"object","required":["b","c","d"],"properties":{"b":{"type":["string","null"]},"c":{"enum":["x",null]},"d":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"integer"},{"type":"null"}]},"a":{"type":"string"}}}`,
		},
		{
			"items", `{"properties":{"a":{"type":"array","items":{"$ref":"#/$defs/x"},"minItems":1}},"$defs":{"x":{"type":"string","maxLength":3}}}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","description":"(characters at most 3)"},"description":"(items at least 1)"}}}`,
		},
		{
			"reference with its own description", `{"properties":{"a":{"$ref":"#/definitions/x~1y","description":"mine"}},"definitions":{"x/y":{"type":"string","description":"theirs"}}}`,
			`{"type":"object","properties":{"a":{"type":"string","description":"mine"}}}`,
		},
		{"unresolved reference", `{"properties":{"a":{"$ref":"file:///x"},"b":{"$ref":"#/none"}}}`, `{"type":"object","properties":{"a":{},"b":{}}}`},
		{"reference to itself", `{"properties":{"a":{"$ref":"#/properties/a"}}}`, `{"type":"object","properties":{"a":{}}}`},
		{
			"allOf", `{"properties":{"a":{"allOf":[{"$ref":"#/$defs/x"},{"properties":{"c":{}},"required":["c"]}]}},"$defs":{"x":{"type":"object","properties":{"b":{}},"required":["b"]}}}`,
			`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{},"c":{}},"required":["b","c"]}}}`,
		},
		{
			"alternatives at the top", `{"anyOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}}}],"properties":{"c":{}},"required":["c"]}`,
			`{"type":"object","required":["c"],"properties":{"c":{},"a":{},"b":{}}}`,
		},
		{
			"other constraints move to the description", `{"properties":{"a":{"type":"integer","description":"how many","minimum":1,"maximum":10,"default":5},"b":{"type":"string","format":"date"}}}`,
			`{"type":"object","properties":{"a":{"type":"integer","description":"how many (at least 1, at most 10, default 5)"},"b":{"type":"string","description":"(format \"date\")"}}}`,
		},
		{"malformed fields", `{"type":["object"],"required":"a","properties":{"a":true,"b":{"type":7,"enum":"x","description":["y"],"required":null}}}`, `{"type":"object","properties":{"a":{},"b":{}}}`},
		{"list of item schemas", `{"properties":{"a":{"type":"array","items":[{"type":"string"},{"type":"integer"}]}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "yes"}}})
			_, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), offering("look", plan.Tool{Name: "x", InputSchema: []byte(tc.schema)}), nil)
			if err != nil {
				t.Fatal(err)
			}
			var tools []struct {
				Type     string
				Function struct{ Parameters json.RawMessage }
			}
			if err := json.Unmarshal(server.Requests()[0].Tools, &tools); err != nil {
				t.Fatal(err)
			}
			if got := string(tools[0].Function.Parameters); got != tc.want || tools[0].Type != "function" {
				t.Errorf("parameters\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func TestRecursiveSchemaIsBounded(t *testing.T) {
	const tree = `{"properties":{"root":{"$ref":"#/$defs/node"}},"$defs":{"node":{"type":"object","properties":{
		"a":{"$ref":"#/$defs/node"},"b":{"$ref":"#/$defs/node"},"c":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}}`
	server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "yes"}}})
	if _, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), offering("look", plan.Tool{Name: "x", InputSchema: []byte(tree)}), nil); err != nil {
		t.Fatal(err)
	}
	if n := len(server.Requests()[0].Tools); n > 30_000 {
		t.Errorf("the tool takes %d bytes", n)
	}
}

func TestConversationKeepsCallsAndResults(t *testing.T) {
	conversation := func() prompt.Request {
		req := offering("look", search)
		req.Messages = append(req.Messages,
			prompt.Message{Role: prompt.RoleAssistant, Content: "hm", Calls: []reply.ToolUse{
				{ID: "one", Name: "search", Args: map[string]any{"z": json.Number("12345678901234567890"), "a": "b", "m": nil}},
				{Name: "search", Args: map[string]any{}},
			}},
			prompt.Message{Role: prompt.RoleTool, Tool: "search", CallID: "one", Content: "found"},
			prompt.Message{Role: prompt.RoleTool, Tool: "search", Content: "found too"})
		return req
	}
	t.Run("model with tools", func(t *testing.T) {
		server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "yes"}}})
		if _, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), conversation(), nil); err != nil {
			t.Fatal(err)
		}
		got := server.Requests()[0].Messages
		if len(got) != 5 || len(got[2].ToolCalls) != 2 || got[2].Content != "hm" {
			t.Fatalf("messages %+v", got)
		}
		if call := got[2].ToolCalls[0]; call.ID != "one" || call.Function.Name != "search" || string(call.Function.Arguments) != `{"a":"b","m":null,"z":12345678901234567890}` {
			t.Errorf("call %+v with %s", call, call.Function.Arguments)
		}
		if args := string(got[2].ToolCalls[1].Function.Arguments); args != `{}` {
			t.Errorf("a call without arguments has %s", args)
		}
		if m := got[3]; m.Role != "tool" || m.ToolName != "search" || m.ToolCallID != "one" || m.Content != "found" {
			t.Errorf("got the tool message %+v", m)
		}
	})
	t.Run("model without tools gets text", func(t *testing.T) {
		server := serve(t, ollamatest.Script{Model: "m", Capabilities: []string{"completion"}, Replies: []ollamatest.Reply{{Text: "yes"}}})
		if _, err := connect(t, ollama.Config{Host: server.URL(), Model: "m"}).Ask(testContext(t), conversation(), nil); err != nil {
			t.Fatal(err)
		}
		if n := len(server.Requests()); n != 1 {
			t.Errorf("got %d requests, want none with tools", n)
		}
		var got []string
		for _, m := range server.Requests()[0].Messages {
			got = append(got, m.Role+": "+m.Content)
			if len(m.ToolCalls) > 0 {
				t.Errorf("message %+v has a call", m)
			}
		}
		want := []string{
			"system: be brief", "user: look",
			"assistant: hm\n(call of search with {\"a\":\"b\",\"m\":null,\"z\":12345678901234567890})\n(call of search with {})",
			"user: found", "user: found too",
		}
		if !slices.Equal(got, want) {
			t.Errorf("messages %q, want %q", got, want)
		}
	})
}

func TestRejectedToolsAreRemembered(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "thinker", Replies: []ollamatest.Reply{
		{
			When:   func(r ollamatest.Request) bool { return len(r.ToolNames()) > 0 },
			Status: 400, Error: "registry.ollama.ai/library/thinker:latest does not support tools", Times: -1,
		},
		{Text: "yes", Times: -1},
	}})
	client := connect(t, ollama.Config{Host: server.URL()})
	for range 2 {
		if reply, err := client.Ask(testContext(t), offering("look", search), nil); err != nil || reply.Text != "yes" {
			t.Fatalf("reply %+v, error %v", reply, err)
		}
	}
	var offered []int
	for _, r := range server.Requests() {
		offered = append(offered, len(r.ToolNames()))
	}
	if want := []int{1, 0, 0}; !slices.Equal(offered, want) {
		t.Errorf("numbers of tools %v, want %v", offered, want)
	}
}
