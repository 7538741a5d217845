package ollama_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/planning/prompt"
)

func TestThinkLevelIsSent(t *testing.T) {
	for _, tc := range []struct {
		name  string
		think bool
		level prompt.ThinkLevel
		want  any
	}{
		{"auto", true, prompt.ThinkAuto, true},
		{"on", true, prompt.ThinkOn, true},
		{"off", true, prompt.ThinkOff, false},
		{"low", true, prompt.ThinkLow, "low"},
		{"medium", true, prompt.ThinkMedium, "medium"},
		{"high", true, prompt.ThinkHigh, "high"},
		{"level with thinking off", false, prompt.ThinkHigh, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := serve(t, ollamatest.Script{Model: "m", Capabilities: thinker, Replies: []ollamatest.Reply{{Text: "yes"}}})
			req := ask("go")
			req.Think, req.Level = tc.think, tc.level
			if _, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), req, nil); err != nil {
				t.Fatal(err)
			}
			if got := server.Requests()[0].Think; got != tc.want {
				t.Errorf("think is %v, want %v", got, tc.want)
			}
		})
	}
}

func TestRejectedLevelIsRememberedPerModel(t *testing.T) {
	server := serve(t, ollamatest.Script{
		Others: []ollamatest.Model{{Name: "switch", Capabilities: thinker}, {Name: "levels", Capabilities: thinker}},
		Replies: []ollamatest.Reply{
			{
				When:   func(r ollamatest.Request) bool { _, level := r.Think.(string); return level && r.Model == "switch" },
				Status: 400, Error: `think value "high" is not supported for this model`, Times: -1,
			},
			{Text: "yes", Times: -1},
		},
	})
	client := connect(t, ollama.Config{Host: server.URL()})
	for _, name := range []string{"switch", "levels", "switch", "levels"} {
		req := ask("go")
		req.Model, req.Think, req.Level = name, true, prompt.ThinkHigh
		if _, err := client.Ask(testContext(t), req, nil); err != nil {
			t.Fatal(err)
		}
	}
	var got []any
	for _, r := range server.Requests() {
		got = append(got, r.Model, r.Think)
	}
	if want := []any{"switch", "high", "switch", true, "levels", "high", "switch", true, "levels", "high"}; !slices.Equal(got, want) {
		t.Errorf("settings %v, want %v", got, want)
	}
}

func TestSeveralRejectionsInOneAsk(t *testing.T) {
	server := serve(t, ollamatest.Script{
		Model: "m", Capabilities: thinker,
		Replies: []ollamatest.Reply{
			{When: func(r ollamatest.Request) bool { return len(r.ToolNames()) > 0 }, Status: 400, Error: `"m" does not support tools`, Times: -1},
			{When: func(r ollamatest.Request) bool { return r.Think == "low" }, Status: 400, Error: `think value "low" is not supported for this model`, Times: -1},
			{When: func(r ollamatest.Request) bool { return r.Think != nil }, Status: 400, Error: `"m" does not support thinking`, Times: -1},
			{Text: "yes", Times: -1},
		},
	})
	req := offering("look", search)
	req.Think, req.Level = true, prompt.ThinkLow
	reply, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), req, nil)
	if err != nil || reply.Text != "yes" || len(server.Requests()) != 4 {
		t.Errorf("reply %+v, error %v after %d requests, want one after four", reply, err, len(server.Requests()))
	}
}

func TestLongThinkingIsStopped(t *testing.T) {
	long := strings.Repeat("hm hm ", 100)
	for _, tc := range []struct {
		name    string
		reply   ollamatest.Reply
		limit   int
		stalled bool
	}{
		{"over the limit", ollamatest.Reply{Thinking: long, Text: "yes"}, 100, true},
		{"over the limit in think tags", ollamatest.Reply{Text: "\n<think>" + long + "</think>yes"}, 100, true},
		{"at the limit", ollamatest.Reply{Thinking: long, Text: "yes"}, len(long), false},
		{"no limit", ollamatest.Reply{Thinking: long, Text: "yes"}, 0, false},
		{"think tag after text", ollamatest.Reply{Text: "yes <think>" + long}, 100, false},
		{"closed think tag", ollamatest.Reply{Text: "<think>hm</think>" + long}, 100, false},
		{"long answer", ollamatest.Reply{Thinking: "hm", Text: long}, 100, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := serve(t, ollamatest.Script{Model: "m", Capabilities: thinker, Replies: []ollamatest.Reply{tc.reply}})
			req := ask("go")
			req.Think, req.MaxThinking = true, tc.limit
			reply, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), req, nil)
			var stalled *ollama.StalledError
			if errors.As(err, &stalled) != tc.stalled || (err != nil) != tc.stalled {
				t.Fatalf("reply %+v, error %v", reply, err)
			}
			if tc.stalled {
				mentions(t, err, "m:latest", "without an answer", "--model")
				if stalled.Bytes <= tc.limit || stalled.Bytes > tc.limit+10 {
					t.Errorf("stopped after %d bytes, want just over %d", stalled.Bytes, tc.limit)
				}
			}
		})
	}
}

// Ask leaves a server that pauses for an hour between two pieces at once.
func TestStoppedModelIsLeftAtOnce(t *testing.T) {
	server := serve(t, ollamatest.Script{
		Model: "m", Capabilities: thinker, Pace: time.Hour,
		Replies: []ollamatest.Reply{{Thinking: "hm hm", Text: "yes"}},
	})
	req := ask("go")
	req.Think, req.MaxThinking = true, 1
	_, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), req, nil)
	var stalled *ollama.StalledError
	if !errors.As(err, &stalled) || stalled.Bytes != 3 {
		t.Errorf("error %v, want a StalledError after the first piece", err)
	}
}
