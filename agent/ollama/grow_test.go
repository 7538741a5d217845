package ollama_test

import (
	"path/filepath"
	"slices"
	"testing"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/agent/runner"
)

var _ runner.ModelGrower = (*ollama.Client)(nil)

const kilo = 1024

// sized is a model of 100 bytes a token beside weights of a million bytes.
func sized(m ollamatest.Model) ollamatest.Model {
	m.Name, m.ContextLength, m.Bytes, m.TokenBytes = "m", 128*kilo, 1_000_000, 100
	return m
}

func TestWindowGrowsOnlyWithinKnownMemory(t *testing.T) {
	for _, tc := range []struct {
		name   string
		model  ollamatest.Model // beside sized
		other  int64            // bytes of another model in memory
		config int              // context window of the configuration
		loaded int              // context window that some program loaded the model with
		tokens int              // wanted
		want   int
	}{
		{name: "to the step that holds what is needed", other: 90_000_000, tokens: 30 * kilo, want: 32 * kilo},
		{name: "by several steps", other: 90_000_000, tokens: 40 * kilo, want: 64 * kilo},
		{name: "to the model's own at most", other: 90_000_000, tokens: 900 * kilo, want: 128 * kilo},
		{name: "to the largest step that fits the memory", other: 3_000_000, tokens: 100 * kilo, want: 32 * kilo},
		{name: "not if nothing is needed", other: 90_000_000, tokens: 16 * kilo, want: 16 * kilo},
		{name: "not beyond the memory shown", other: 1_000_000, tokens: 30 * kilo, want: 16 * kilo},
		{name: "not if no larger memory was seen", tokens: 30 * kilo, want: 16 * kilo},
		{name: "in the memory beside GPUs", model: ollamatest.Model{CPU: true}, other: 90_000_000, tokens: 30 * kilo, want: 32 * kilo},
		{name: "to what some program has loaded it with", loaded: 64 * kilo, tokens: 50 * kilo, want: 64 * kilo},
		{name: "not if the configuration sets it", other: 90_000_000, config: 8 * kilo, tokens: 30 * kilo, want: 8 * kilo},
		{name: "not if the Modelfile sets it", model: ollamatest.Model{NumCtx: 4 * kilo}, other: 90_000_000, tokens: 30 * kilo, want: 4 * kilo},
		{name: "not if the server cannot load it so", model: ollamatest.Model{MostBytes: 3_000_000}, other: 90_000_000, tokens: 30 * kilo, want: 16 * kilo},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := serve(t, ollamatest.Script{
				Others:  []ollamatest.Model{sized(tc.model), {Name: "other", Bytes: tc.other}},
				Replies: []ollamatest.Reply{{Text: "yes", Times: -1}},
			})
			ctx := testContext(t)
			warm := func(name string, window int) {
				t.Helper()
				if err := connect(t, ollama.Config{Host: server.URL(), ContextWindow: window}).Warm(ctx, name); err != nil {
					t.Fatal(err)
				}
			}
			if tc.other > 0 {
				warm("other", 0)
			}
			client := connect(t, ollama.Config{Host: server.URL(), Model: "m", ContextWindow: tc.config})
			if tc.loaded > 0 {
				warm("m", tc.loaded)
			} else if err := client.Warm(ctx, ""); err != nil {
				t.Fatal(err)
			}
			grown, err := client.Grow(ctx, "", tc.tokens)
			if err != nil || grown.ContextWindow != tc.want {
				t.Errorf("the window is %d, error %v; want %d", grown.ContextWindow, err, tc.want)
			}
			reply, err := client.Ask(ctx, ask("well?"), nil)
			if err != nil || reply.ContextWindow != tc.want {
				t.Errorf("a request has a window of %d, error %v; want %d", reply.ContextWindow, err, tc.want)
			}
		})
	}
}

func TestWindowGrowsOnceWithOneReload(t *testing.T) {
	server := serve(t, ollamatest.Script{
		Others:  []ollamatest.Model{sized(ollamatest.Model{}), {Name: "other", Bytes: 90_000_000}},
		Replies: []ollamatest.Reply{{Text: "yes", Times: -1}},
	})
	client := connect(t, ollama.Config{Host: server.URL(), Model: "m"})
	ctx := testContext(t)
	for _, name := range []string{"other", "m"} {
		if err := client.Warm(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	for _, tokens := range []int{20 * kilo, 60 * kilo, 120 * kilo} {
		if info, err := client.Grow(ctx, "", tokens); err != nil || info.ContextWindow != 32*kilo {
			t.Errorf("for %d tokens: %d, error %v", tokens, info.ContextWindow, err)
		}
		if _, err := client.Ask(ctx, ask("well?"), nil); err != nil {
			t.Fatal(err)
		}
	}
	want := []ollamatest.Load{{Model: "other:latest", Window: 16 * kilo}, {Model: "m:latest", Window: 16 * kilo}, {Model: "m:latest", Window: 32 * kilo}}
	if got := server.Loads(); !slices.Equal(got, want) {
		t.Errorf("loads %v, want %v", got, want)
	}
}

func TestWindowOfEachModelGrowsOnce(t *testing.T) {
	second := sized(ollamatest.Model{})
	second.Name = "second"
	server := serve(t, ollamatest.Script{Others: []ollamatest.Model{sized(ollamatest.Model{}), second, {Name: "other", Bytes: 90_000_000}}})
	client := connect(t, ollama.Config{Host: server.URL(), Model: "m"})
	ctx := testContext(t)
	for _, name := range []string{"other", "m"} {
		if err := client.Warm(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"m", "second", "m", "second"} {
		if info, err := client.Grow(ctx, name, 20*kilo); err != nil || info.ContextWindow != 32*kilo {
			t.Errorf("%s: %d, error %v", name, info.ContextWindow, err)
		}
	}
}

func TestShownMemoryCountsInLaterSessions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "servers.json")
	server := serve(t, ollamatest.Script{Others: []ollamatest.Model{sized(ollamatest.Model{}), {Name: "other", Bytes: 90_000_000}}})
	ctx := testContext(t)
	first := connect(t, ollama.Config{Host: server.URL(), Learned: file})
	if err := first.Warm(ctx, "other"); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Models(ctx); err != nil {
		t.Fatal(err)
	}
	if err := connect(t, ollama.Config{Host: server.URL(), KeepAlive: 1}).Warm(ctx, "m"); err != nil {
		t.Fatal(err)
	}
	later := connect(t, ollama.Config{Host: server.URL(), Model: "m", Learned: file})
	models, err := later.Models(ctx)
	if err != nil || models[0].Growable != 128*kilo || models[1].Growable != 0 {
		t.Errorf("models %+v, error %v; want that m may grow to its own window", models, err)
	}
	if info, err := later.Grow(ctx, "", 30*kilo); err != nil || info.ContextWindow != 32*kilo {
		t.Errorf("the window is %d, error %v", info.ContextWindow, err)
	}
	if models, err = later.Models(ctx); err != nil || models[0].ContextWindow != 32*kilo || models[0].Growable != 0 {
		t.Errorf("after it has grown: %+v, error %v", models, err)
	}
}
