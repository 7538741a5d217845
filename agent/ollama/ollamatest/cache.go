package ollamatest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Cache is what a model's work costs, as Ollama's prompt cache has it: what a
// prompt shares with the last one of its slot, from the first byte on, is not
// read again. It is for benchmarks; the times are real.
type Cache struct {
	PerToken       time.Duration // for each token that is written
	PerPromptToken time.Duration // for each token of the prompt that is read
	BytesPerToken  int           // 0 means 4; a chunk is one token
	Slots          int           // requests that are worked on at once, others wait; 0 means 1
}

// CacheUse is what the requests so far have cost, in tokens.
type CacheUse struct {
	Requests     int // that have been read
	PromptTokens int // of all prompts
	CachedTokens int // of those, how many needed no reading
}

// Cache returns what the requests so far have cost; the zero value where the
// script has no Cache.
func (s *Server) Cache() CacheUse {
	if s.cache == nil {
		return CacheUse{}
	}
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	return s.cache.use
}

const bytesPerToken = 4

// tokenSize is how many bytes a token has.
func (s *Server) tokenSize() int {
	if s.cache == nil {
		return bytesPerToken
	}
	return s.cache.cost.BytesPerToken
}

type promptCache struct {
	cost Cache
	base context.Context // of the server: a prompt is read to its end, whoever has gone away
	free chan struct{}   // a place for each slot

	mu    sync.Mutex
	slots []*slot
	turn  int
	use   CacheUse
}

// slot is one prompt that the model remembers.
type slot struct {
	busy     bool
	model    string
	window   int
	rendered string // prompt and reply
	turn     int    // when it was last used

	// Of the request that uses it.
	promptTokens int
	readFor      time.Duration
	written      time.Time // when the last token is done
}

func newPromptCache(base context.Context, cost Cache) *promptCache {
	if cost.BytesPerToken <= 0 {
		cost.BytesPerToken = bytesPerToken
	}
	cost.Slots = max(cost.Slots, 1)
	c := &promptCache{cost: cost, base: base, free: make(chan struct{}, cost.Slots)}
	for range cost.Slots {
		c.slots = append(c.slots, &slot{})
	}
	return c
}

// read waits for a slot and reads the prompt. Whoever gives up while it waits
// gets nil; the model goes on reading for one who gives up later, and then nil
// too.
func (c *promptCache) read(ctx context.Context, m Model, req Request) *slot {
	select {
	case c.free <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	s, until := c.take(m.Name, window(m, req), rendered(req))
	if !sleep(c.base, until) || ctx.Err() != nil {
		c.leave(s)
		return nil
	}
	return s
}

// take gives the prompt the free slot that remembers most of it, of several the
// one that was used longest ago, and says when it will have been read.
func (c *promptCache) take(model string, window int, prompt string) (*slot, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var best *slot
	shared := 0
	for _, s := range c.slots {
		if s.busy {
			continue
		}
		n := 0
		if s.model == model && s.window == window { // another window loads the model anew
			n = common(s.rendered, prompt)
		}
		if best == nil || n > shared || n == shared && s.turn < best.turn {
			best, shared = s, n
		}
	}
	total := (len(prompt) + c.cost.BytesPerToken - 1) / c.cost.BytesPerToken
	cached := min(shared/c.cost.BytesPerToken, total-1) // the last token is always read
	c.turn++
	c.use.Requests++
	c.use.PromptTokens += total
	c.use.CachedTokens += cached
	began := time.Now()
	readFor := time.Duration(total-cached) * c.cost.PerPromptToken
	*best = slot{
		busy: true, model: model, window: window, rendered: prompt, turn: c.turn,
		promptTokens: total, readFor: readFor, written: began.Add(readFor),
	}
	return best, best.written
}

// write waits until the model has written a piece, and remembers it.
func (c *promptCache) write(ctx context.Context, s *slot, p piece) bool {
	s.written = s.written.Add(time.Duration(p.tokens) * c.cost.PerToken)
	if !sleep(ctx, s.written) {
		return false
	}
	s.rendered += p.thinking + p.text
	if p.call != nil {
		s.rendered += callText(p.call.Function.Name, p.call.Function.Arguments.String())
	}
	return true
}

func (c *promptCache) leave(s *slot) {
	c.mu.Lock()
	s.busy = false
	c.mu.Unlock()
	<-c.free
}

// rendered is the prompt as a model's template makes it of a request: the system
// message, the tools, the other messages, and the opening of the reply.
func rendered(req Request) string {
	var b strings.Builder
	messages := req.Messages
	if len(messages) > 0 && messages[0].Role == "system" {
		b.WriteString("<system>\n" + messages[0].Content)
		messages = messages[1:]
	}
	if req.offersTools() {
		fmt.Fprintf(&b, "\n<tools>\n%s\n", req.Tools)
	}
	for _, m := range messages {
		fmt.Fprintf(&b, "\n<%s>\n%s", m.Role, m.Content)
		for _, call := range m.ToolCalls {
			b.WriteString(callText(call.Function.Name, string(call.Function.Arguments)))
		}
	}
	b.WriteString("\n<assistant>\n")
	return b.String()
}

func callText(name, args string) string {
	return fmt.Sprintf(`<call>{"name":%q,"arguments":%s}`, name, args)
}

// common is how many bytes two texts share from their first on.
func common(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
