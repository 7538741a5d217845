package ollamatest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Cache is the cost of a model's work with Ollama's prompt cache. The prefix that a prompt
// shares with the last one of its slot is not read again. It is for benchmarks; the delays
// are real.
type Cache struct {
	PerToken       time.Duration // per token written
	PerPromptToken time.Duration // per prompt token read
	BytesPerToken  int           // 0 means 4; a chunk is one token
	Slots          int           // concurrent requests, others wait; 0 means 1
}

// CacheUse is the cost of the requests so far, in tokens.
type CacheUse struct {
	Requests     int // read so far
	PromptTokens int // of all prompts
	CachedTokens int // those of PromptTokens that needed no reading
}

const bytesPerToken = 4

type promptCache struct {
	cost Cache
	base context.Context // of the server: a prompt is read to the end even if its client is gone
	free chan struct{}   // one entry per slot

	mu    sync.Mutex
	slots []*slot
	turn  int
	use   CacheUse
}

// slot is a prompt that the model remembers.
type slot struct {
	busy     bool
	model    string
	window   int
	rendered string // prompt and reply
	turn     int    // of its last use

	// For the request that uses it.
	promptTokens int
	readFor      time.Duration
	written      time.Time // when the last token is complete
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

// used returns the cost of the requests so far.
func (c *promptCache) used() CacheUse {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.use
}

// tokenSize returns the size of a token in bytes.
func (c *promptCache) tokenSize() int { return c.cost.BytesPerToken }

// read waits for a slot and reads the prompt. It returns nil if the client gives
// up. If the client gives up during reading, the model still reads to the end.
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

// take assigns the prompt to the free slot that shares the longest prefix with
// it; ties go to the least recently used slot. It also returns when the prompt
// will have been read.
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
		if s.model == model && s.window == window { // a different window reloads the model
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

// write waits until the model has written a piece, and adds it to the slot.
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

// rendered returns the prompt as a model's template renders it: system message,
// tools, other messages, start of the reply.
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

// common returns the length of the common prefix in bytes.
func common(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
