package ollama_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/planning/prompt"
)

var tiny = ollamatest.Model{Name: "tiny:1b", ContextLength: 8192, Bytes: 300}

// reached is one progress report of a pull.
type reached struct {
	step        string
	done, total int64
}

func TestPullReportsProgressOfAllPartsTogether(t *testing.T) {
	server := serve(t, ollamatest.Script{Pulls: []ollamatest.Pull{{Model: tiny, Steps: []ollamatest.PullStep{
		{Status: "pulling manifest"},
		{Status: "pulling a", Digest: "sha256:a", Total: 200},
		{Status: "pulling a", Digest: "sha256:a", Total: 200, Completed: 200},
		{Status: "pulling b", Digest: "sha256:b"},
		{Status: "pulling b", Digest: "sha256:b", Total: 100, Completed: 40},
		{Status: "verifying sha256 digest"},
	}}}})
	client := connect(t, ollama.Config{Host: server.URL()})
	var got []reached
	err := client.Pull(testContext(t), " tiny:1b ", func(step string, done, total int64) { got = append(got, reached{step, done, total}) })
	want := []reached{
		{"pulling manifest", 0, 0},
		{"pulling a", 0, 200},
		{"pulling a", 200, 200},
		{"pulling b", 200, 200},
		{"pulling b", 240, 300},
		{"verifying sha256 digest", 240, 300},
		{"success", 240, 300},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("progress\n%v, error %v, want\n%v", got, err, want)
	}
}

// none ignores the progress of a pull.
func none(string, int64, int64) {}

func TestPulledModelAnswersAndRemovedModelIsForgotten(t *testing.T) {
	server := serve(t, ollamatest.Script{Pulls: []ollamatest.Pull{{Model: tiny}}})
	client := connect(t, ollama.Config{Host: server.URL()})
	_, err := client.Describe(testContext(t), "")
	mentions(t, err, "has no models")
	for range 2 {
		if err := client.Pull(testContext(t), tiny.Name, none); err != nil {
			t.Fatal(err)
		}
		info, err := client.Describe(testContext(t), "")
		if err != nil || info.Name != tiny.Name || info.ContextWindow != 8192 {
			t.Fatalf("got %+v, error %v, want the pulled model", info, err)
		}
		if err := client.Remove(testContext(t), tiny.Name); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"", tiny.Name} {
			if info, err := client.Describe(testContext(t), name); !errors.Is(err, prompt.ErrNoModel) {
				t.Errorf("described %q as %+v, error %v, want the removed model to be forgotten", name, info, err)
			}
		}
	}
}

func TestPullErrorNamesTheRemedy(t *testing.T) {
	const registry = "pull model manifest: Get \"https://registry.ollama.ai/v2/library/tiny/manifests/1b\": dial tcp: lookup registry.ollama.ai: no such host"
	for name, c := range map[string]struct {
		pull ollamatest.Pull
		want []string
	}{
		"no such model":  {ollamatest.Pull{Error: "pull model manifest: file does not exist"}, []string{"registry has no model tiny:1b", "ollama.com/search"}},
		"no name":        {ollamatest.Pull{Status: 400, Error: "invalid model name"}, []string{"is not a model name", "qwen3:8b"}},
		"no network":     {ollamatest.Pull{Error: registry}, []string{"cannot reach the registry", "network or proxy"}},
		"disk full":      {ollamatest.Pull{Error: "write /m/blobs/sha256-a-partial: no space left on device"}, []string{"disk", "is full", "remove a model"}},
		"old server":     {ollamatest.Pull{Error: "pull model manifest: 412: The model you are attempting to pull requires a newer version of Ollama."}, []string{"too old for tiny:1b", "update it"}},
		"no pull API":    {ollamatest.Pull{Status: 404, Error: "404 page not found"}, []string{"cannot pull models", "update it"}},
		"not signed in":  {ollamatest.Pull{Status: 401, Error: "unauthorized"}, []string{"`ollama signin`"}},
		"early end":      {ollamatest.Pull{Cut: true}, []string{"ended the download of tiny:1b early", "pull it again"}},
		"something else": {ollamatest.Pull{Error: "digest mismatch"}, []string{"did not pull tiny:1b", "log", "digest mismatch"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.pull.Model = tiny
			server := serve(t, ollamatest.Script{Pulls: []ollamatest.Pull{c.pull}})
			mentions(t, connect(t, ollama.Config{Host: server.URL()}).Pull(testContext(t), "tiny:1b", none), c.want...)
		})
	}
	client := connect(t, ollama.Config{Host: "127.0.0.1:1"})
	mentions(t, client.Pull(testContext(t), "tiny:1b", none), "does not answer", "ollama serve")
	mentions(t, client.Remove(testContext(t), "tiny:1b"), "does not answer", "ollama serve")
}

func TestPullEndsWithContext(t *testing.T) {
	server := serve(t, ollamatest.Script{Pulls: []ollamatest.Pull{{
		Model: tiny, Steps: []ollamatest.PullStep{{Status: "pulling manifest"}}, Hold: make(chan struct{}),
	}}})
	ctx, cancel := context.WithCancel(testContext(t))
	err := connect(t, ollama.Config{Host: server.URL()}).Pull(ctx, tiny.Name, func(string, int64, int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want it to wrap context.Canceled", err)
	}
}

func TestUnknownModelIsNotRemoved(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m"})
	mentions(t, connect(t, ollama.Config{Host: server.URL()}).Remove(testContext(t), "other"), "has no model other")
}
