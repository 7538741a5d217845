//go:build ollama

package ollama_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent/ollama"
	"replan/planning"
)

// These tests ask the server that OLLAMA_HOST names. Any model that can call
// tools will do; what it says does not matter.

// longWait is for a real model on a slow machine.
const longWait = 5 * time.Minute

func real(t *testing.T, cfg ollama.Config) *ollama.Client {
	t.Helper()
	cfg.Host = os.Getenv("OLLAMA_HOST")
	if cfg.Host == "" {
		t.Fatal("OLLAMA_HOST is not set: name the server that these tests are to ask")
	}
	return connect(t, cfg)
}

func realModels(t *testing.T, client *ollama.Client) []planning.ModelInfo {
	t.Helper()
	models, err := client.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(models) == 0 {
		t.Fatalf("%s has no models: pull one that can call tools", client.Host())
	}
	return models
}

// smallest is the model with the fewest bytes that fits; it is an error that
// there is none.
func smallest(t *testing.T, client *ollama.Client, what string, fits func(planning.ModelInfo) bool) string {
	t.Helper()
	models := slices.DeleteFunc(realModels(t, client), func(m planning.ModelInfo) bool { return !m.Chats || !fits(m) })
	if len(models) == 0 {
		t.Fatalf("%s has no model that %s: pull one", client.Host(), what)
	}
	return slices.MinFunc(models, func(a, b planning.ModelInfo) int { return int(a.Bytes - b.Bytes) }).Name
}

func calls(m planning.ModelInfo) bool { return m.Tools && !m.Thinks }

func short(model, words string) planning.Request {
	req := ask(words)
	req.Model, req.MaxTokens, req.Timeout = model, 20, longWait
	return req
}

func TestRealServerDescribesItsModels(t *testing.T) {
	client := real(t, ollama.Config{})
	for _, m := range realModels(t, client) {
		if m.Name == "" || m.Bytes == 0 || m.ContextWindow == 0 || m.ContextWindow > m.Longest || m.Parameters == "" || m.Quantization == "" {
			t.Errorf("model %+v lacks something", m)
		}
	}
	info, err := client.Describe(t.Context(), "")
	if err != nil || !info.Tools || !info.Chats {
		t.Errorf("model %+v, error %v, want one that can call tools", info, err)
	}
}

func TestRealServerLoadsAModelBeforeItIsAsked(t *testing.T) {
	client := real(t, ollama.Config{ContextWindow: 2048, KeepAlive: time.Minute})
	name := smallest(t, client, "can call tools", calls)
	if err := client.Warm(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	models := realModels(t, client)
	i := slices.IndexFunc(models, func(m planning.ModelInfo) bool { return m.Name == name })
	if !models[i].Loaded {
		t.Errorf("model %+v, want it loaded", models[i])
	}
	mentions(t, client.Warm(t.Context(), "no-such-model"), "`ollama pull no-such-model`")
}

func TestRealServerStreamsAReply(t *testing.T) {
	client := real(t, ollama.Config{ContextWindow: 2048})
	name := smallest(t, client, "can call tools", calls)
	var got pieces
	reply, err := client.Ask(t.Context(), short(name, "Tell a story."), got.delta)
	if err != nil {
		t.Fatal(err)
	}
	text, thinking := got.joined()
	if text != reply.Text || thinking != reply.Thinking || reply.CompletionTokens == 0 || reply.PromptTokens == 0 || reply.PromptMS == 0 {
		t.Errorf("reply %+v of the pieces %q and %q", reply, text, thinking)
	}
}

func TestRealServerHoldsAReplyToItsFormat(t *testing.T) {
	client := real(t, ollama.Config{ContextWindow: 2048})
	for _, what := range []struct {
		rule string
		fits func(planning.ModelInfo) bool
	}{
		{"can call tools", calls},
		{"can think, which it is told not to", func(m planning.ModelInfo) bool { return m.Thinks }},
	} {
		t.Run(what.rule, func(t *testing.T) {
			req := short(smallest(t, client, what.rule, what.fits), "Plan something.")
			req.MaxTokens, req.Think, req.Level = 200, true, planning.ThinkHigh
			req.Format = []byte(`{"type":"object","properties":{"mode":{"type":"string","enum":["direct","plan"]}},"required":["mode"],"additionalProperties":false}`)
			reply, err := client.Ask(t.Context(), req, nil)
			if err != nil {
				t.Fatal(err)
			}
			var answer struct{ Mode string }
			if err := json.Unmarshal([]byte(reply.Text), &answer); err != nil || answer.Mode != "direct" && answer.Mode != "plan" {
				t.Errorf("reply %q, error %v, want one of the two modes", reply.Text, err)
			}
			if reply.Thinking != "" {
				t.Errorf("it thought %q", reply.Thinking)
			}
		})
	}
}

func TestRealServerTakesAsMuchThinkingAsItKnows(t *testing.T) {
	client := real(t, ollama.Config{ContextWindow: 2048})
	name := smallest(t, client, "can think", func(m planning.ModelInfo) bool { return m.Thinks })
	for _, level := range []planning.ThinkLevel{planning.ThinkHigh, planning.ThinkOn, planning.ThinkOff, planning.ThinkAuto} {
		req := short(name, "Think.")
		req.Think, req.Level = true, level
		if _, err := client.Ask(t.Context(), req, nil); err != nil {
			t.Errorf("level %q: %v", level, err)
		}
	}
}

func TestRealServerTakesEveryTool(t *testing.T) {
	client := real(t, ollama.Config{ContextWindow: 8192})
	tools := planning.Offer(slices.Concat(planning.PlanTools(), planning.Catalogue{
		{Name: "text.count", Server: "demo", Description: "counts", InputSchema: []byte(`{"type":"object","properties":{
			"a":{"type":["string","null"],"enum":["x",null]},"b":{"anyOf":[{"type":"string"},{"type":"integer"}]},
			"c":{"$ref":"#/$defs/c"},"d":{"type":"array","items":{"$ref":"#/$defs/c"}},"e":true},
			"required":["c"],"$defs":{"c":{"type":"object","properties":{"n":{"const":12345678901234567890}}}}}`)},
		{Name: "plain", Server: "demo"},
	}))
	for _, what := range []struct {
		rule string
		fits func(planning.ModelInfo) bool
	}{
		{"can call tools", calls},
		{"can call no tools", func(m planning.ModelInfo) bool { return !m.Tools }},
	} {
		t.Run(what.rule, func(t *testing.T) {
			req := short(smallest(t, client, what.rule, what.fits), "Count.")
			req.Tools = tools
			req.Messages = append(req.Messages,
				planning.Message{Role: planning.RoleAssistant, Calls: []planning.ToolUse{{ID: "one", Name: "text.count", Args: map[string]any{"c": map[string]any{"n": json.Number("12345678901234567890")}}}}},
				planning.Message{Role: planning.RoleTool, Tool: "text.count", CallID: "one", Content: "7"},
				planning.Message{Role: planning.RoleUser, Content: "Go on."})
			if _, err := client.Ask(t.Context(), req, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRealServerRefusesWhatDoesNotFit(t *testing.T) {
	client := real(t, ollama.Config{ContextWindow: 512})
	name := smallest(t, client, "can call tools", calls)
	_, err := client.Ask(t.Context(), short(name, strings.Repeat("word ", 2000)), nil)
	mentions(t, err, "longer than the 512 tokens", name)
}

func TestRealServerReadsASharedPrefixOnce(t *testing.T) {
	client := real(t, ollama.Config{ContextWindow: 4096})
	name := smallest(t, client, "can call tools and is large enough to be timed", func(m planning.ModelInfo) bool { return calls(m) && m.Bytes > 20_000_000 })
	// From the first byte on no two prefixes have anything in common.
	prefix := func(lines int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "%d ", time.Now().UnixNano()*31)
		for i := range lines {
			fmt.Fprintf(&b, "In room %d of house %d lives number %d.\n", i, i*7%31, i*i%97)
		}
		return b.String()
	}
	probe := short(name, prefix(20))
	probe.MaxTokens = 1
	reply, err := client.Ask(t.Context(), probe, nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := 20 * 2000 / reply.PromptTokens // for some 2000 tokens
	var cold, warm []int64
	for range 5 {
		known := prefix(lines)
		var took [2]int64
		for j, tail := range []string{"Who lives first?", "Who lives last of all?"} {
			req := short(name, tail)
			req.MaxTokens = 1
			req.Messages[0].Content = known
			reply, err := client.Ask(t.Context(), req, nil)
			if err != nil {
				t.Fatal(err)
			}
			took[j] = reply.PromptMS
		}
		cold, warm = append(cold, took[0]), append(warm, took[1])
	}
	t.Logf("reading a prompt of %d lines took %v ms cold and %v ms with its prefix known", lines, cold, warm)
	if c, w := median(cold), median(warm); 4*w > c {
		t.Errorf("with its prefix known the prompt took %d ms to read, cold %d ms, want a quarter at most", w, c)
	}
}

func median(times []int64) int64 {
	slices.Sort(times)
	return times[len(times)/2]
}
