package ollama_test

import (
	"testing"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/planning/prompt"
)

func TestSuggestedModelFitsTheMemory(t *testing.T) {
	for gigabytes, want := range map[int64]string{
		0: "qwen3:8b", 64: "qwen3:8b", 16: "qwen3:8b", 12: "qwen3:8b", 8: "qwen3:4b", 4: "qwen3:1.7b", 1: "qwen3:1.7b",
	} {
		if got := ollama.Suggest(gigabytes * 1_000_000_000); got != want {
			t.Errorf("%d GB: %s, want %s", gigabytes, got, want)
		}
	}
}

func TestServerWithoutFitModelNamesTheOneToPull(t *testing.T) {
	const small = 8_000_000_000
	for name, c := range map[string]struct {
		models []ollamatest.Model
		config ollama.Config
		want   string
	}{
		"no models":         {nil, ollama.Config{Memory: small}, "qwen3:4b"},
		"none with tools":   {[]ollamatest.Model{{Name: "plain", Capabilities: []string{"completion"}}}, ollama.Config{Memory: small}, "qwen3:4b"},
		"unknown memory":    {nil, ollama.Config{}, "qwen3:8b"},
		"the one asked for": {nil, ollama.Config{Memory: small, Model: "mine:70b"}, "mine:70b"},
	} {
		t.Run(name, func(t *testing.T) {
			c.config.Host = serve(t, ollamatest.Script{Others: c.models}).URL()
			_, err := connect(t, c.config).Describe(testContext(t), "")
			if got := prompt.TroubleOf(err).Pull; string(got) != c.want {
				t.Errorf("pull %q, want %q", got, c.want)
			}
			mentions(t, err, "`ollama pull "+c.want+"`")
		})
	}
}

func TestMissingServerIsInstalledOnlyHere(t *testing.T) {
	for host, want := range map[string]string{"127.0.0.1:1": "install it with `get ollama` and start `ollama serve`", "ollama.invalid:1": "start it with `ollama serve`"} {
		_, err := connect(t, ollama.Config{Host: host, Install: "get ollama"}).Describe(testContext(t), "")
		mentions(t, err, want)
	}
}
