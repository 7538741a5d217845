//go:build ollama

package ollama_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent/ollama"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// These tests use the server that OLLAMA_HOST names, and of its models the
// smallest that suits the test. The text of replies does not matter; a test
// without a suitable model is skipped.

// longWait is the timeout for one reply of a real model on a slow machine.
const longWait = 2 * time.Minute

func real(t *testing.T, cfg ollama.Config) *ollama.Client {
	t.Helper()
	cfg.Host = os.Getenv("OLLAMA_HOST")
	if cfg.Host == "" {
		t.Fatal("OLLAMA_HOST is not set: name the server for these tests")
	}
	return connect(t, cfg)
}

func realModels(t *testing.T, client *ollama.Client) []prompt.ModelInfo {
	t.Helper()
	models, err := client.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(models) == 0 {
		t.Skipf("%s has no models: pull one that can call tools", client.Host())
	}
	return models
}

// smallest returns the smallest model that fits, or skips the test: not every
// machine has room for one of each kind.
func smallest(t *testing.T, client *ollama.Client, kind string, fits func(prompt.ModelInfo) bool) string {
	t.Helper()
	models := slices.DeleteFunc(realModels(t, client), func(m prompt.ModelInfo) bool { return !m.Chats || !fits(m) })
	if len(models) == 0 {
		t.Skipf("%s has no model that %s: pull one to run this test", client.Host(), kind)
	}
	return slices.MinFunc(models, func(a, b prompt.ModelInfo) int { return int(a.Bytes - b.Bytes) }).Name
}

const callsTools = "can call tools and does not think"

func calls(m prompt.ModelInfo) bool { return m.Tools && !m.Thinks }

func short(model, words string) prompt.Request {
	req := ask(words)
	req.Model, req.MaxTokens, req.Timeout = model, 20, longWait
	return req
}

func TestRealServerDescribesItsModels(t *testing.T) {
	client := real(t, ollama.Config{})
	for _, m := range realModels(t, client) {
		if m.Name == "" || m.Bytes == 0 || m.ContextWindow == 0 || m.ContextWindow > m.Longest || m.Parameters == "" || m.Quantization == "" {
			t.Errorf("model %+v lacks a field", m)
		}
	}
	info, err := client.Describe(t.Context(), "")
	if errors.Is(err, prompt.ErrNoModel) {
		t.Skip(err)
	}
	if err != nil || !info.Tools || !info.Chats {
		t.Errorf("model %+v, error %v, want one that can call tools", info, err)
	}
}

func TestRealServerLoadsModel(t *testing.T) {
	client := real(t, ollama.Config{ContextWindow: 2048, KeepAlive: time.Minute})
	name := smallest(t, client, callsTools, calls)
	if err := client.Warm(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	models := realModels(t, client)
	i := slices.IndexFunc(models, func(m prompt.ModelInfo) bool { return m.Name == name })
	if !models[i].Loaded {
		t.Errorf("model %+v, want it loaded", models[i])
	}
	mentions(t, client.Warm(t.Context(), "no-such-model"), "`ollama pull no-such-model`")
}

func TestRealServerStreamsReply(t *testing.T) {
	client := real(t, ollama.Config{ContextWindow: 2048})
	name := smallest(t, client, callsTools, calls)
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

func TestRealServerFollowsFormat(t *testing.T) {
	client := real(t, ollama.Config{ContextWindow: 2048})
	for _, kind := range []struct {
		name string
		fits func(prompt.ModelInfo) bool
	}{
		{callsTools, calls},
		{"can think", func(m prompt.ModelInfo) bool { return m.Thinks }},
	} {
		t.Run(kind.name, func(t *testing.T) {
			req := short(smallest(t, client, kind.name, kind.fits), "Plan something.")
			req.MaxTokens, req.Think, req.Level = 200, true, prompt.ThinkHigh
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
				t.Errorf("got the thinking %q, want none", reply.Thinking)
			}
		})
	}
}

func TestRealServerAcceptsThinkLevels(t *testing.T) {
	client := real(t, ollama.Config{ContextWindow: 2048})
	name := smallest(t, client, "can think", func(m prompt.ModelInfo) bool { return m.Thinks })
	for _, level := range []prompt.ThinkLevel{prompt.ThinkHigh, prompt.ThinkOn, prompt.ThinkOff, prompt.ThinkAuto} {
		req := short(name, "Think.")
		req.Think, req.Level, req.MaxTokens = true, level, 4 // it matters only that the request is accepted
		if _, err := client.Ask(t.Context(), req, nil); err != nil {
			t.Errorf("level %q: %v", level, err)
		}
	}
}

func TestRealServerAcceptsTools(t *testing.T) {
	client := real(t, ollama.Config{ContextWindow: 8192})
	tools := plan.Offer(slices.Concat(prompt.PlanTools(), plan.Catalog{
		{Name: "text.count", Server: "demo", Description: "counts", InputSchema: []byte(`{"type":"object","properties":{
			"a":{"type":["string","null"],"enum":["x",null]},"b":{"anyOf":[{"type":"string"},{"type":"integer"}]},
			"c":{"$ref":"#/$defs/c"},"d":{"type":"array","items":{"$ref":"#/$defs/c"}},"e":true},
			"required":["c"],"$defs":{"c":{"type":"object","properties":{"n":{"const":12345678901234567890}}}}}`)},
		{Name: "plain", Server: "demo"},
	}))
	for _, kind := range []struct {
		name string
		fits func(prompt.ModelInfo) bool
	}{
		{callsTools, calls},
		{"can call no tools", func(m prompt.ModelInfo) bool { return !m.Tools }},
	} {
		t.Run(kind.name, func(t *testing.T) {
			req := short(smallest(t, client, kind.name, kind.fits), "Count.")
			req.Tools = tools
			req.Messages = append(req.Messages,
				prompt.Message{Role: prompt.RoleAssistant, Calls: []reply.ToolUse{{ID: "one", Name: "text.count", Args: map[string]any{"c": map[string]any{"n": json.Number("12345678901234567890")}}}}},
				prompt.Message{Role: prompt.RoleTool, Tool: "text.count", CallID: "one", Content: "7"},
				prompt.Message{Role: prompt.RoleUser, Content: "Go on."})
			if _, err := client.Ask(t.Context(), req, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRealServerRefusesLongPrompt(t *testing.T) {
	client := real(t, ollama.Config{ContextWindow: 512})
	name := smallest(t, client, callsTools, calls)
	_, err := client.Ask(t.Context(), short(name, strings.Repeat("word ", 2000)), nil)
	mentions(t, err, "does not fit the context window of "+name+" (512 tokens)", "context_window")
}

// The requests are those of the pipeline, with a stamp in front, so that only
// requests with the same stamp share a prefix.
func TestRealServerCachesPromptAfterAnalysis(t *testing.T) {
	client := real(t, ollama.Config{ContextWindow: 8192})
	name := smallest(t, client, callsTools, calls)
	info, err := client.Describe(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	analysis, plan := phases(t, info)
	read := func(req prompt.Request, stamp string) int64 {
		t.Helper()
		req.Model, req.MaxTokens, req.Timeout = name, 1, longWait
		req.Messages = slices.Clone(req.Messages)
		req.Messages[0].Content = stamp + "\n" + req.Messages[0].Content
		reply, err := client.Ask(t.Context(), req, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d tokens of prompt read in %d ms", req.Purpose, reply.PromptTokens, reply.PromptMS)
		return reply.PromptMS
	}
	var cold, warm []int64
	for range 2 {
		stamp := rand.Text()
		read(analysis, stamp)
		warm = append(warm, read(plan, stamp))
		cold = append(cold, read(plan, rand.Text()))
	}
	t.Logf("%s read the prompt of phase 3 in %v ms after phase 1, and in %v ms cold", name, warm, cold)
	// Other work of the machine only adds to a time.
	if c, w := slices.Min(cold), slices.Min(warm); 4*w > c {
		t.Errorf("the prompt of phase 3 took %d ms to read after phase 1 and %d ms cold, want a quarter at most", w, c)
	}
}

// phases returns the requests of phases 1 and 3 for one goal.
func phases(t *testing.T, info prompt.ModelInfo) (analysis, execution prompt.Request) {
	t.Helper()
	schema := func(args string) json.RawMessage {
		return json.RawMessage(`{"type":"object","properties":{` + args + `}}`)
	}
	path := `"path":{"type":"string","description":"of a file or a folder of this project"}`
	pipeline := planning.NewPipeline(prompt.Brief{
		Goal: "rename authenticate to verify_user and run the tests",
		Catalog: plan.Catalog{
			{Name: "fs.read", Server: "demo", Description: "returns the text of a file, or of some of its lines", InputSchema: schema(path), ReadOnly: true, Annotated: true},
			{Name: "fs.list", Server: "demo", Description: "lists what is in a folder", InputSchema: schema(path), ReadOnly: true, Annotated: true},
			{Name: "fs.search", Server: "demo", Description: "finds the lines that hold a text", InputSchema: schema(path + `,"query":{"type":"string"}`), ReadOnly: true, Annotated: true},
			{Name: "fs.write", Server: "demo", Description: "writes a whole file", InputSchema: schema(path + `,"text":{"type":"string"}`), Annotated: true},
			{Name: "code.symbols", Server: "demo", Description: "lists what a file declares", InputSchema: schema(path), ReadOnly: true, Annotated: true},
			{Name: "code.references", Server: "demo", Description: "finds where a name is used", InputSchema: schema(`"name":{"type":"string"}`), ReadOnly: true, Annotated: true},
			{Name: "vcs.diff", Server: "demo", Description: "returns what was changed since the last commit", InputSchema: schema(path), ReadOnly: true, Annotated: true},
			{Name: "vcs.log", Server: "demo", Description: "lists the newest commits", InputSchema: schema(path), ReadOnly: true, Annotated: true},
			{Name: "test.run", Server: "demo", Description: "runs the tests of this project", InputSchema: schema(path), Annotated: true},
		},
		Prompting: prompt.Prompting{ContextWindow: info.ContextWindow},
	})
	analysis, more := pipeline.Next()
	pipeline.Absorb(reply.Reply{Text: `{"mode":"plan","task":"rename a function","goal":"the tests pass","complexity":"medium","reflect":false}`})
	execution, again := pipeline.Next()
	if !more || !again || analysis.Purpose != prompt.PurposeAnalysis || execution.Purpose != prompt.PurposePlan || analysis.Shortened+execution.Shortened != "" {
		t.Fatalf("the pipeline requests %s (%s) and %s (%s)", analysis.Purpose, analysis.Shortened, execution.Purpose, execution.Shortened)
	}
	return analysis, execution
}
