package ollamatest_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ollama/ollama/api"

	"replan/agent/ollama/ollamatest"
)

func offer(names ...string) (tools api.Tools) {
	for _, name := range names {
		tools = append(tools, api.Tool{Type: "function", Function: api.ToolFunction{Name: name, Parameters: api.ToolFunctionParameters{Type: "object"}}})
	}
	return tools
}

func TestCallsFollowTextInSeparateLines(t *testing.T) {
	server, client := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{
		Text: "let me", Calls: []ollamatest.Call{{Name: "a", Args: map[string]any{"y": 1, "x": json.Number("12345678901234567890")}}, {ID: "mine", Name: "b"}},
	}}})
	var got []string
	err := client.Chat(testContext(t), &api.ChatRequest{Model: "m", Messages: []api.Message{user("go")}, Tools: offer("a", "b")}, func(line api.ChatResponse) error {
		words := line.Message.Content
		for _, c := range line.Message.ToolCalls {
			words += "[" + c.ID + " " + c.Function.Name + "]"
		}
		got = append(got, words)
		return nil
	})
	if want := []string{"let ", "me", "[call_00000001 a]", "[mine b]", ""}; err != nil || !slices.Equal(got, want) {
		t.Errorf("lines %q, error %v, want %q", got, err, want)
	}
	if names := server.Requests()[0].ToolNames(); !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("got the tools %q", names)
	}
}

func TestArgumentsKeepDigitsAndSortNames(t *testing.T) {
	server, _ := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{
		Calls: []ollamatest.Call{{Name: "a", Args: map[string]any{"y": 1, "x": json.Number("12345678901234567890")}}},
	}}})
	_, body := call(t, http.MethodPost, server.URL()+"/api/chat", `{"model":"m","stream":false,"tools":[{"function":{"name":"a"}}],"messages":[{"role":"user","content":"x"}]}`)
	if want := `"tool_calls":[{"id":"call_00000001","function":{"index":0,"name":"a","arguments":{"x":12345678901234567890,"y":1}}}]`; !strings.Contains(body, want) {
		t.Errorf("answer %s, want %s in it", body, want)
	}
}

func TestScriptedCallsNeedOfferedTools(t *testing.T) {
	_, client := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Calls: []ollamatest.Call{{Name: "a"}}}}})
	_, err := chat(testContext(t), client, "m", "go")
	var status api.StatusError
	if !errors.As(err, &status) || status.StatusCode != 500 || !strings.Contains(status.ErrorMessage, "offers no tools") {
		t.Errorf("error %v, want HTTP 500 with the reason", err)
	}
}

func TestRequestsRecordEarlierCalls(t *testing.T) {
	server, client := serve(t, ollamatest.Script{Model: "m", Replies: always})
	args := api.NewToolCallFunctionArguments()
	args.Set("q", "x")
	exchange(t, client, &api.ChatRequest{Messages: []api.Message{
		{Role: "assistant", ToolCalls: []api.ToolCall{{ID: "one", Function: api.ToolCallFunction{Name: "a", Arguments: args}}}},
		{Role: "tool", ToolName: "a", ToolCallID: "one", Content: "found"},
	}})
	got := server.Requests()[0].Messages
	if c := got[0].ToolCalls[0]; c.ID != "one" || c.Function.Name != "a" || string(c.Function.Arguments) != `{"q":"x"}` {
		t.Errorf("call %+v", c)
	}
	if m := got[1]; m.Role != "tool" || m.ToolName != "a" || m.ToolCallID != "one" || m.Content != "found" {
		t.Errorf("answer %+v", m)
	}
}

func TestBodyBreaksAfterBytes(t *testing.T) {
	const ask = `{"model":"m","messages":[{"role":"user","content":"x"}]}`
	for _, tc := range []struct {
		name  string
		reply ollamatest.Reply
		bytes int
		want  string // "" if the body ends without an error
	}{
		{"connection breaks in a line", ollamatest.Reply{Text: "one two", BreakAfter: 20}, 20, "unexpected EOF"},
		{"connection breaks in the second line", ollamatest.Reply{Text: "one two", BreakAfter: 200}, 200, "unexpected EOF"},
		{"connection breaks before the first byte", ollamatest.Reply{Text: "one two", BreakAfter: -1}, 0, "unexpected EOF"},
		{"body ends in a line", ollamatest.Reply{Text: "one two", StopAfter: 20}, 20, ""},
		{"body ends before the first byte", ollamatest.Reply{Text: "one two", StopAfter: -1}, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server, _ := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{tc.reply}})
			body, err := tryCall(t, server.URL()+"/api/chat", ask)
			if len(body) != tc.bytes {
				t.Errorf("got %d bytes, want %d", len(body), tc.bytes)
			}
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestRunningModels(t *testing.T) {
	server, client := serve(t, ollamatest.Script{
		Replies: always,
		Others:  []ollamatest.Model{{Name: "a", Bytes: 7, Parameters: "1B", Quantization: "F16"}, {Name: "b", NumCtx: 3000}},
	})
	loaded := func() (out []string) {
		list, err := client.ListRunning(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list.Models {
			out = append(out, m.Name)
			if !m.ExpiresAt.After(time.Now()) || m.ContextLength != map[string]int{"a:latest": 9000, "b:latest": 3000}[m.Name] {
				t.Errorf("model %+v", m)
			}
		}
		return out
	}
	if got := loaded(); got != nil {
		t.Errorf("in memory %q, want none", got)
	}
	call(t, http.MethodPost, server.URL()+"/api/chat", `{"model":"a","messages":[],"options":{"num_ctx":9000}}`)
	exchange(t, client, &api.ChatRequest{Model: "b", Messages: []api.Message{user("go")}})
	if got := loaded(); !slices.Equal(got, []string{"a:latest", "b:latest"}) {
		t.Errorf("in memory %q, want both", got)
	}
	if _, body := call(t, http.MethodPost, server.URL()+"/api/chat", `{"model":"b","messages":[],"keep_alive":0}`); !strings.Contains(body, `"done_reason":"unload"`) {
		t.Errorf("got the answer %s to unloading", body)
	}
	if got := loaded(); !slices.Equal(got, []string{"a:latest"}) {
		t.Errorf("in memory %q, want a", got)
	}
	list, err := client.List(testContext(t))
	if err != nil || list.Models[0].Size != 7 || list.Models[0].Details.ParameterSize != "1B" || list.Models[0].Details.QuantizationLevel != "F16" {
		t.Errorf("list %+v, error %v", list, err)
	}
}
