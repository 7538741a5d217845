package ollama_test

import (
	"errors"
	"strings"
	"testing"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/planning/prompt"
)

func TestPromptThatCannotFitIsNotSent(t *testing.T) {
	if testing.Short() {
		t.Skip("handles MBs in one goroutine")
	}
	const part = "the goal alone takes about 60000 tokens; put long text into a file, or "
	for _, tc := range []struct {
		name     string
		never    bool
		requests int
	}{
		{"by no estimate", true, 0},
		{"by estimate alone: the server decides", false, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := serve(t, ollamatest.Script{Model: "m"})
			req := ask(strings.Repeat("word ", 20_000))
			req.TooLong, req.Never = part, tc.never
			_, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), req, nil)
			mentions(t, err, "does not fit the context window of m:latest (16384 tokens): "+part+"choose another --model")
			if !errors.Is(err, prompt.ErrTooLong) || len(server.Requests()) != tc.requests {
				t.Errorf("%d requests, error %v", len(server.Requests()), err)
			}
		})
	}
}
