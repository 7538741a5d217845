package ollama_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/planning/prompt"
)

func TestEmptyFormattedReplyRetriesWithOtherThinkSetting(t *testing.T) {
	thinking := func(r ollamatest.Request) bool { return r.Think == true }
	for _, tc := range []struct {
		name  string
		first ollamatest.Reply
	}{
		{"empty reply", ollamatest.Reply{Text: "", Times: -1}},
		{"blank reply cut by the server", ollamatest.Reply{Text: "   \n   ", EndAfter: 5, Times: -1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := serve(t, ollamatest.Script{
				Model: "m", Capabilities: thinker,
				Replies: []ollamatest.Reply{{When: thinking, Text: `{"title":"x"}`, Thinking: "hm", Times: -1}, tc.first},
			})
			client := connect(t, ollama.Config{Host: server.URL()})
			var got pieces
			reply, err := client.Ask(testContext(t), formatted("plan"), got.delta)
			if err != nil || strings.TrimSpace(reply.Text) != `{"title":"x"}` {
				t.Fatalf("reply %+v, error %v", reply, err)
			}
			if text, thought := got.joined(); text != reply.Text || thought != reply.Thinking {
				t.Errorf("pieces %q and %q, want them to make up the reply %+v", text, thought, reply)
			}
			if _, err := client.Ask(testContext(t), formatted("again"), nil); err != nil {
				t.Fatal(err)
			}
			if n := len(server.Requests()); n != 3 {
				t.Errorf("got %d requests, want the working setting to be remembered", n)
			}
		})
	}
}

func TestEmptyReplyIsReturnedAfterRetries(t *testing.T) {
	for _, tc := range []struct {
		name     string
		req      prompt.Request
		requests int
	}{
		{"prose", ask("well?"), 1},
		{"format", formatted("plan"), 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := serve(t, ollamatest.Script{Model: "m", Capabilities: thinker, Replies: []ollamatest.Reply{{Times: -1}}})
			reply, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), tc.req, nil)
			if err != nil || reply.Text != "" {
				t.Errorf("reply %+v, error %v, want an empty one", reply, err)
			}
			if n := len(server.Requests()); n != tc.requests {
				t.Errorf("%d requests, want %d", n, tc.requests)
			}
		})
	}
}

func TestRejectedSchemaFallsBackToJSON(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "{}", Times: -1}}})
	client := connect(t, ollama.Config{Host: server.URL()})
	const bad, good = `{"type":"nonsense"}`, `{"type":"object"}`
	for _, schema := range []string{bad, bad, good} {
		req := ask("go")
		req.Format = []byte(schema)
		if reply, err := client.Ask(testContext(t), req, nil); err != nil || reply.Text != "{}" {
			t.Fatalf("reply %+v, error %v", reply, err)
		}
	}
	var formats []string
	for _, r := range server.Requests() {
		formats = append(formats, string(r.Format))
	}
	if want := []string{bad, `"json"`, `"json"`, good}; !slices.Equal(formats, want) {
		t.Errorf("formats %s, want %s", formats, want)
	}
}

func TestRejectedFormatIsRetriedOnce(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Status: 500, Error: "failed to parse grammar", Times: -1}}})
	_, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), formatted("go"), nil)
	mentions(t, err, "failed to parse grammar", "m:latest", server.URL())
	if errors.Is(err, prompt.ErrNoModel) {
		t.Error("a bad schema counts as a missing model")
	}
	if n := len(server.Requests()); n != 2 {
		t.Errorf("%d requests, want one with the schema and one with json", n)
	}
}

func TestReplyReportsPromptTime(t *testing.T) {
	server := serve(t, ollamatest.Script{
		Model: "m", Replies: []ollamatest.Reply{{Text: "yes", Times: -1}},
		Cache: &ollamatest.Cache{PerPromptToken: time.Microsecond},
	})
	client := connect(t, ollama.Config{Host: server.URL()})
	for i, tc := range []struct {
		words string
		ms    int64
	}{
		{strings.Repeat("word", 2000), 3}, // 2000 tokens and the roles take over 2 ms
		{strings.Repeat("word", 2000) + "again", 1},
	} {
		if reply, err := client.Ask(testContext(t), ask(tc.words), nil); err != nil || reply.PromptMS != tc.ms || reply.PromptTokens < 2000 {
			t.Errorf("%d: reply %+v, error %v, want %d ms", i, reply, err, tc.ms)
		}
	}
}

func TestIgnoredFormatIsLearnedForAServerVersion(t *testing.T) {
	// As Ollama 0.17.4 with qwen3: a format binds only after thinking.
	replies := []ollamatest.Reply{
		{When: func(r ollamatest.Request) bool { return r.Think == true }, Text: `{"title":"x"}`, Thinking: "hm", Times: -1},
		{Text: "Here is the plan:\n1. look", Times: -1},
	}
	file := filepath.Join(t.TempDir(), "servers.json")
	const defect = "qwen3:8b on Ollama 0.17.4 ignores a format with thinking off; replan asks it with thinking on"
	asks := func(server *ollamatest.Server, requests int) {
		t.Helper()
		client := connect(t, ollama.Config{Host: server.URL(), Learned: file})
		before := len(server.Requests())
		var got pieces
		reply, err := client.Ask(testContext(t), formatted("plan"), got.delta)
		if err != nil || reply.Text != `{"title":"x"}` || reply.Thinking != "hm" || reply.Note != defect {
			t.Errorf("reply %+v, error %v", reply, err)
		}
		if n := len(server.Requests()) - before; n != requests {
			t.Errorf("%d requests, want %d", n, requests)
		}
		if info, err := client.Describe(testContext(t), ""); err != nil || string(info.Defect) != defect {
			t.Errorf("described as %+v, error %v", info, err)
		}
	}
	server := serve(t, ollamatest.Script{Model: "qwen3:8b", Version: "0.17.4", Capabilities: thinker, Replies: replies})
	asks(server, 2)
	asks(server, 1) // a later session remembers it

	// The server was updated at the same address: the client turns thinking off again.
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fixed := serve(t, ollamatest.Script{Model: "qwen3:8b", Version: "0.34.0", Capabilities: thinker, Replies: []ollamatest.Reply{{Text: `{"title":"y"}`}}})
	if err := os.WriteFile(file, bytes.ReplaceAll(data, []byte(server.URL()), []byte(fixed.URL())), 0o600); err != nil {
		t.Fatal(err)
	}
	client := connect(t, ollama.Config{Host: fixed.URL(), Learned: file})
	if reply, err := client.Ask(testContext(t), formatted("plan"), nil); err != nil || reply.Text != `{"title":"y"}` || reply.Note != "" {
		t.Errorf("reply %+v, error %v", reply, err)
	}
	if requests := fixed.Requests(); len(requests) != 1 || requests[0].Think != false {
		t.Errorf("requests %+v, want one without thinking", requests)
	}
}

func TestFirstReplyStandsIfNoThinkSettingKeepsTheFormat(t *testing.T) {
	for _, tc := range []struct {
		name   string
		second ollamatest.Reply
	}{
		{"prose again", ollamatest.Reply{Text: "Well, 1. look", Thinking: "hm", Times: -1}},
		{"no reply", ollamatest.Reply{Status: 500, Error: "oops", Times: -1}},
		{"reply cut off", ollamatest.Reply{Text: `{"title":`, DoneReason: "length", Times: -1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.second.When = func(r ollamatest.Request) bool { return r.Think == true }
			server := serve(t, ollamatest.Script{Model: "m", Capabilities: thinker, Replies: []ollamatest.Reply{tc.second, {Text: "1. look", Times: -1}}})
			client := connect(t, ollama.Config{Host: server.URL()})
			for range 2 {
				reply, err := client.Ask(testContext(t), formatted("plan"), nil)
				if err != nil || reply.Text != "1. look" || reply.Thinking != "" || reply.CutOff || reply.Note != "" {
					t.Errorf("reply %+v, error %v", reply, err)
				}
			}
			if n := len(server.Requests()); n != 3 {
				t.Errorf("got %d requests, want a second one for the first reply alone", n)
			}
		})
	}
}

func TestReplyThatKeepsItsFormatIsAskedForOnce(t *testing.T) {
	for _, tc := range []struct {
		name         string
		capabilities []string
		reply        ollamatest.Reply
	}{
		{"an object", thinker, ollamatest.Reply{Text: ` {"title":"x"}` + "\n"}},
		{"cut off", thinker, ollamatest.Reply{Text: `{"title":"x`, DoneReason: "length"}},
		{"prose of a model without thinking", nil, ollamatest.Reply{Text: "1. look"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := serve(t, ollamatest.Script{Model: "m", Capabilities: tc.capabilities, Replies: []ollamatest.Reply{tc.reply}})
			reply, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), formatted("plan"), nil)
			if err != nil || reply.Text != tc.reply.Text || len(server.Requests()) != 1 {
				t.Errorf("reply %+v, error %v, %d requests", reply, err, len(server.Requests()))
			}
		})
	}
}
