package ollamatest_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ollama/ollama/api"

	"replan/agent/ollama/ollamatest"
)

var always = []ollamatest.Reply{{Text: "yes", Times: -1}}

// words returns a text of that many tokens of four bytes that begins with name.
func words(name string, tokens int) string {
	return name + strings.Repeat(" w0r", tokens)[:4*tokens-len(name)]
}

func exchange(t *testing.T, client *api.Client, req *api.ChatRequest) api.ChatResponse {
	t.Helper()
	if req.Model == "" {
		req.Model = "m"
	}
	var last api.ChatResponse
	if err := client.Chat(testContext(t), req, func(line api.ChatResponse) error {
		last = line
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return last
}

func user(text string) api.Message { return api.Message{Role: "user", Content: text} }

func TestSharedPrefixComesFromCache(t *testing.T) {
	system := api.Message{Role: "system", Content: words("sys", 1000)}
	tool := api.Tools{{Type: "function", Function: api.ToolFunction{Name: "search", Parameters: api.ToolFunctionParameters{Type: "object"}}}}
	with := func(messages ...api.Message) *api.ChatRequest {
		return &api.ChatRequest{Messages: append([]api.Message{system}, messages...)}
	}
	for _, tc := range []struct {
		name     string
		slots    int
		requests []*api.ChatRequest
		least    int // cached tokens of the last prompt
		most     int
	}{
		{"first request", 1, []*api.ChatRequest{with(user("one"))}, 0, 0},
		{"same request", 1, []*api.ChatRequest{with(user("one")), with(user("one"))}, 1004, 1010},
		{"new tail", 1, []*api.ChatRequest{with(user("one")), with(user("two"))}, 1000, 1005},
		{"new head", 1, []*api.ChatRequest{
			with(user("one")), {Messages: []api.Message{{Role: "system", Content: words("new", 1000)}, user("one")}},
		}, 0, 4},
		{"conversation continues after the reply", 1, []*api.ChatRequest{
			{Messages: []api.Message{user(words("hi", 500))}},
			{Messages: []api.Message{user(words("hi", 500)), {Role: "assistant", Content: "yes"}, user("and now?")}},
		}, 506, 512},
		{"tools change", 1, []*api.ChatRequest{
			with(user(words("one", 1000))), {Messages: []api.Message{system, user(words("one", 1000))}, Tools: tool},
		}, 1000, 1005},
		{"other format, temperature and limit", 1, []*api.ChatRequest{
			with(user("one")), {
				Messages: []api.Message{system, user("one")}, Format: json.RawMessage(`{"type":"object"}`),
				Options: map[string]any{"temperature": 1, "num_predict": 9},
			},
		}, 1004, 1010},
		{"other context window", 1, []*api.ChatRequest{
			with(user("one")), {Messages: []api.Message{system, user("one")}, Options: map[string]any{"num_ctx": 9000}},
		}, 0, 0},
		{"other model", 1, []*api.ChatRequest{with(user("one")), {Model: "other", Messages: []api.Message{system, user("one")}}}, 0, 0},
		{"other request in between", 1, []*api.ChatRequest{with(user("one")), {Messages: []api.Message{user("a title!")}}, with(user("one"))}, 0, 4},
		{"other request in between, two slots", 2, []*api.ChatRequest{with(user("one")), {Messages: []api.Message{user("a title!")}}, with(user("one"))}, 1004, 1010},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server, client := serve(t, ollamatest.Script{
				Model: "m", Others: []ollamatest.Model{{Name: "other"}}, Replies: always,
				Cache: &ollamatest.Cache{PerPromptToken: time.Nanosecond, Slots: tc.slots},
			})
			var before ollamatest.CacheUse
			var end api.ChatResponse
			for _, req := range tc.requests {
				before = server.Cache()
				end = exchange(t, client, req)
			}
			use := server.Cache()
			prompt, cached := use.PromptTokens-before.PromptTokens, use.CachedTokens-before.CachedTokens
			if cached < tc.least || cached > tc.most {
				t.Errorf("%d of %d tokens came from the cache, want %d to %d", cached, prompt, tc.least, tc.most)
			}
			if end.PromptEvalCount != prompt || end.PromptEvalDuration != time.Duration(prompt-cached) || use.Requests != len(tc.requests) {
				t.Errorf("the last line reports %d tokens in %d ns, want all %d and the time for %d", end.PromptEvalCount, end.PromptEvalDuration, prompt, prompt-cached)
			}
		})
	}
}

func TestTokensAreStreamedSingly(t *testing.T) {
	const text = "one two ünd thrèe"
	_, client := serve(t, ollamatest.Script{
		Model: "m", Cache: &ollamatest.Cache{PerToken: time.Nanosecond, BytesPerToken: 3}, Replies: []ollamatest.Reply{{
			Text: text, Calls: []ollamatest.Call{{Name: "search", Args: map[string]any{"q": "x"}}},
		}},
	})
	var pieces []string
	var end api.ChatResponse
	err := client.Chat(testContext(t), &api.ChatRequest{
		Model: "m", Messages: []api.Message{user("go")}, Tools: api.Tools{{Type: "function"}},
	}, func(line api.ChatResponse) error {
		if line.Message.Content != "" {
			pieces = append(pieces, line.Message.Content)
		}
		end = line
		return nil
	})
	if err != nil || strings.Join(pieces, "") != text {
		t.Fatalf("pieces %q, error %v", pieces, err)
	}
	for _, p := range pieces[:len(pieces)-1] {
		if len(p) < 3 || len(p) > 4 {
			t.Errorf("got a piece of %d bytes, want three and no torn rune", len(p))
		}
	}
	if end.EvalCount <= len(pieces)+5 {
		t.Errorf("%d tokens for %d pieces and a call, want the call to cost some", end.EvalCount, len(pieces))
	}
}

func TestSlotsBoundConcurrency(t *testing.T) {
	for _, slots := range []int{1, 3} {
		var busy, most atomic.Int32
		_, client := serve(t, ollamatest.Script{
			Model: "m", Cache: &ollamatest.Cache{Slots: slots},
			Replies: []ollamatest.Reply{{Times: -1, TextFor: func(ollamatest.Request) string {
				n := busy.Add(1)
				for now := most.Load(); n > now && !most.CompareAndSwap(now, n); now = most.Load() {
				}
				runtime.Gosched()
				busy.Add(-1)
				return "yes"
			}}},
		})
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				if lines, err := chat(testContext(t), client, "m", "go"); err != nil || text(lines) != "yes" {
					t.Errorf("text %q, error %v", text(lines), err)
				}
			})
		}
		group.Wait()
		if n := int(most.Load()); n > slots {
			t.Errorf("%d requests at once in %d slots", n, slots)
		}
	}
}

// With one slot the two requests would wait for each other.
func TestSlotsAllowConcurrency(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	_, client := serve(t, ollamatest.Script{
		Model: "m", Cache: &ollamatest.Cache{Slots: 2},
		Replies: []ollamatest.Reply{{Times: -1, TextFor: func(ollamatest.Request) string {
			both.Done()
			both.Wait()
			return "yes"
		}}},
	})
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			if lines, err := chat(testContext(t), client, "m", "go"); err != nil || text(lines) != "yes" {
				t.Errorf("text %q, error %v", text(lines), err)
			}
		})
	}
	group.Wait()
}

// Writing takes an hour, so the second request is served only if the first frees
// its slot.
func TestCancelFreesSlot(t *testing.T) {
	begun := make(chan struct{})
	_, client := serve(t, ollamatest.Script{
		Model: "m", Cache: &ollamatest.Cache{PerToken: time.Hour},
		Replies: []ollamatest.Reply{{Times: -1, TextFor: func(ollamatest.Request) string {
			begun <- struct{}{}
			return "yes"
		}}},
	})
	for i := range 2 {
		ctx, cancel := context.WithCancel(testContext(t))
		var group sync.WaitGroup
		group.Go(func() {
			defer cancel()
			select {
			case <-begun:
			case <-ctx.Done():
				t.Errorf("request %d got no slot", i)
			}
		})
		if _, err := chat(ctx, client, "m", "well?"); !errors.Is(err, context.Canceled) {
			t.Errorf("request %d: error %v, want it to wrap context.Canceled", i, err)
		}
		group.Wait()
	}
}

func TestNoCacheCountsNothing(t *testing.T) {
	server, client := serve(t, ollamatest.Script{Model: "m", Replies: always})
	exchange(t, client, &api.ChatRequest{Messages: []api.Message{user("go")}})
	if use := server.Cache(); use != (ollamatest.CacheUse{}) {
		t.Errorf("use %+v, want none", use)
	}
}
