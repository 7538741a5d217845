package ollama_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/planning/prompt"
)

// failures are errors of the server and parts of the messages for the user.
var failures = []struct {
	status int
	words  string
	want   []string
}{
	{404, "model 'm' not found", []string{"has no model m:latest", "`ollama pull m:latest`", "--model"}},
	{404, `model "m" not found, try pulling it first`, []string{"has no model m:latest", "`ollama pull m:latest`"}},
	{404, "404 page not found", []string{"not Ollama or too old", "--host"}},
	{400, "registry.ollama.ai/library/m:latest does not support tools", []string{"m:latest cannot call tools", "--model"}},
	{400, `"m" does not support thinking`, []string{"does not support this thinking level", "auto or off"}},
	{400, `think value "high" is not supported for this model`, []string{"does not support this thinking level", "auto or off"}},
	{400, `"m" does not support chat`, []string{"m:latest cannot chat", "--model"}},
	{400, "the input length exceeds the context length", []string{"does not fit the context window of", "16384 tokens", "m:latest"}},
	{400, "this model requires a newer version of Ollama", []string{"update Ollama", "--model"}},
	{401, "unauthorized", []string{"`ollama signin`"}},
	{500, "invalid JSON schema in format", []string{"cannot constrain m:latest", "update Ollama"}},
	{500, "failed to load model vocabulary required for format", []string{"cannot constrain m:latest"}},
	{500, "model requires more system memory (5.6 GiB) than is available (3.1 GiB)", []string{"not enough memory for m:latest", "smaller --model", "context window", "5.6 GiB"}},
	{500, "llama runner process has terminated: cudaMalloc failed: out of memory", []string{"not enough memory for m:latest", "smaller --model"}},
	{500, "llama runner process has terminated: signal: killed", []string{"the process of m:latest died", "smaller --model"}},
	{500, "llama runner process no longer running: 2", []string{"the process of m:latest died"}},
	{500, "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error", []string{"the process of m:latest died"}},
	{500, "error parsing tool call: raw='{', err=unexpected end of JSON input", []string{"wrote a tool call that Ollama cannot parse", "--model"}},
	{503, "server busy, please try again. maximum pending requests exceeded", []string{"busy with other requests", "try again"}},
	{500, "something that nobody has heard of", []string{"something that nobody has heard of", "log"}},
}

func TestServerErrorNamesTheRemedy(t *testing.T) {
	for _, tc := range failures {
		t.Run(tc.words, func(t *testing.T) {
			server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Status: tc.status, Error: tc.words, Times: -1}}})
			client := connect(t, ollama.Config{Host: server.URL()})
			_, err := client.Ask(testContext(t), ask("go"), nil)
			mentions(t, err, tc.want...)
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error %q is more than one line", err)
			}
			if missing := tc.status == 404; errors.Is(err, prompt.ErrNoModel) != missing {
				t.Errorf("error %v, wraps ErrNoModel: %v, want %v", err, !missing, missing)
			}
		})
	}
}

func TestErrorInMidReplyNamesTheRemedy(t *testing.T) {
	for _, tc := range failures {
		if tc.status != 500 {
			continue
		}
		t.Run(tc.words, func(t *testing.T) {
			server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "one two", Error: tc.words, Times: -1}}})
			_, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), ask("go"), nil)
			var cut *ollama.CutStreamError
			if !errors.As(err, &cut) || cut.Bytes != 7 {
				t.Fatalf("error %v, want a CutStreamError after 7 bytes", err)
			}
			mentions(t, err, tc.want...)
		})
	}
}

func TestLateContextErrorIsPromptTooLong(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Error: "the input length exceeds the context length"}}})
	_, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), ask("go"), nil)
	var long *ollama.PromptTooLongError
	if !errors.As(err, &long) || long.ContextWindow != 16384 {
		t.Errorf("error %v, want a PromptTooLongError", err)
	}
}

func TestStatusWithoutBodyIsAnError(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m"})
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/chat" {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		http.Redirect(w, r, server.URL()+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer gateway.Close()
	_, err := connect(t, ollama.Config{Host: gateway.URL}).Ask(testContext(t), ask("go"), nil)
	mentions(t, err, "Bad Gateway", gateway.URL)
}

func TestRepeatingModelIsReported(t *testing.T) {
	for _, tc := range []struct {
		name   string
		text   string
		repeat bool
	}{
		{"thirty equal words", strings.Repeat("so ", 30), true},
		{"blanks of any kind", "{" + strings.Repeat(" \n", 40), true},
		{"fewer equal words", strings.Repeat("so ", 29), false},
		{"another word at the end", strings.Repeat("so ", 40) + "what", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			size := 0
			if strings.HasPrefix(tc.text, "{") {
				size = 1
			}
			server := serve(t, ollamatest.Script{Model: "m", ChunkSize: size, Replies: []ollamatest.Reply{{Text: tc.text, EndAfter: len(tc.text)}}})
			_, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), ask("go"), nil)
			if !tc.repeat {
				if err != nil {
					t.Errorf("got %v for a stream with a clean end", err)
				}
				return
			}
			var cut *ollama.CutStreamError
			if !errors.As(err, &cut) {
				t.Fatalf("error %v, want a CutStreamError", err)
			}
			if strings.Contains(err.Error(), "repeated itself") != tc.repeat {
				t.Errorf("error %q after %d equal pieces", err, cut.Repeats)
			}
		})
	}
}
