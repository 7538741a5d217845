package ollama_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/internal/testgarbage"
	"replan/planning/prompt"
)

func TestMain(m *testing.M) {
	testgarbage.CollectLess()
	goleak.VerifyTestMain(m)
}

// limit is the longest time a test may wait for an event.
const limit = 30 * time.Second

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

func serve(t *testing.T, script ollamatest.Script) *ollamatest.Server {
	t.Helper()
	server, err := ollamatest.Start(t.Context(), script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

func connect(t *testing.T, cfg ollama.Config) *ollama.Client {
	t.Helper()
	if cfg.RetryDelay == 0 {
		cfg.RetryDelay = time.Nanosecond
	}
	client, err := ollama.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

// pieces records the arguments of delta.
type pieces struct{ text, thinking []string }

func (p *pieces) delta(text, thinking string) {
	p.text = append(p.text, text)
	p.thinking = append(p.thinking, thinking)
}

func (p *pieces) joined() (text, thinking string) {
	return strings.Join(p.text, ""), strings.Join(p.thinking, "")
}

func ask(words string) prompt.Request {
	return prompt.Request{
		Purpose:  prompt.PurposeChat,
		Messages: []prompt.Message{{Role: prompt.RoleSystem, Content: "be brief"}, {Role: prompt.RoleUser, Content: words}},
	}
}

func formatted(words string) prompt.Request {
	req := ask(words)
	req.Format = []byte(`{"type":"object","properties":{"title":{"type":"string"}}}`)
	return req
}

var thinker = []string{"completion", "tools", "thinking"}

func mentions(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one that mentions %q", words)
	}
	if missing := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.Contains(err.Error(), w) }); len(missing) > 0 {
		t.Errorf("the error %q does not mention %q", err, missing)
	}
}

func containsSecret(err error) bool { return strings.Contains(err.Error(), "secret") }
