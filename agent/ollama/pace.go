package ollama

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/ollama/ollama/api"

	"replan/planning/pace"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// measuredPace is how fast a model works on a server, and how the server counts its tokens.
type measuredPace struct {
	Speed         pace.Speed `json:"speed"`
	BytesPerToken float64    `json:"bytes_per_token,omitempty"` // of prompts without tools and pictures; 0 if unknown
}

// differs reports whether a pace is worth saving in place of another.
func (p measuredPace) differs(from measuredPace) bool {
	const notable = 0.2
	off := func(a, b float64) bool { return math.Abs(a-b) > notable*b }
	return off(p.Speed.Read, from.Speed.Read) || off(p.Speed.Write, from.Speed.Write) || off(p.BytesPerToken, from.BytesPerToken)
}

const (
	calibratedFrom = 200         // tokens; in shorter prompts the marks of the turns weigh too much
	bytesPerToken  = 3           // a cautious guess before the first reply
	coldLoad       = time.Second // a server that reports at least this had the model not in memory
)

// pacing learns the pace of one model from its replies, and keeps what its server
// should have in its prompt cache. It is safe for concurrent use.
type pacing struct {
	mu    sync.Mutex
	pace  measuredPace
	saved measuredPace // in the file of what was learned
	last  string       // the prompt and reply that the server remembers
	sure  bool         // last is all it can remember; false while other programs may have asked before
	used  time.Time    // when the model last worked or was loaded; zero if never
}

// known returns the pace so far.
func (p *pacing) known() measuredPace {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pace
}

// loaded records that the model is in memory, and how long it took to load.
func (p *pacing) loaded(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used = time.Now()
	if took >= coldLoad {
		p.last, p.sure = "", true
	}
}

// mayBeGone reports whether the model may not be in memory any more, or was never.
func (p *pacing) mayBeGone(keepAlive time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used.IsZero() || keepAlive >= 0 && time.Since(p.used) > keepAlive
}

// forecast estimates what a rendered prompt costs.
func (p *pacing) forecast(rendered string, req prompt.Request) pace.Forecast {
	p.mu.Lock()
	defer p.mu.Unlock()
	per := p.pace.BytesPerToken
	if per <= 0 {
		per = bytesPerToken
	}
	return pace.Forecast{
		Tokens: int(float64(len(rendered)) / per), Cached: int(float64(shared(p.last, rendered)) / per),
		Reply: prompt.UsualReply(req), Speed: p.pace.Speed,
	}
}

// learn takes the figures of a whole reply to a rendered prompt, and fills in how
// much of the prompt the server may have remembered. It returns the pace and
// whether it is worth saving.
func (p *pacing) learn(rendered string, countable bool, loading time.Duration, r *reply.Reply) (measuredPace, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case loading >= coldLoad: // the cache was empty
	case p.sure:
		r.CachedTokens = r.PromptTokens * shared(p.last, rendered) / max(len(rendered), 1)
	default:
		r.CachedTokens = r.PromptTokens
	}
	p.pace.Speed = p.pace.Speed.Learn(*r)
	if countable && r.PromptTokens >= calibratedFrom {
		p.pace.BytesPerToken = float64(len(rendered)) / float64(r.PromptTokens)
	}
	p.last, p.sure, p.used = rendered+turn("assistant", r.Text), true, time.Now()
	save := p.pace.differs(p.saved)
	if save {
		p.saved = p.pace
	}
	return p.pace, save
}

// fail records a request without a whole reply: it is unknown what the server
// remembers now.
func (p *pacing) fail() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.sure = "", false
}

// stopped records a request that was given up after a time, before the first word. The
// server keeps what it has read of the prompt until then, and what it knew of it before.
func (p *pacing) stopped(rendered string, after time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	read := int(after.Seconds() * p.pace.Speed.Read * p.pace.BytesPerToken)
	p.last, p.sure = rendered[:min(shared(p.last, rendered)+read, len(rendered))], false
}

// rendered returns a prompt about as the template of a model does: the system
// message, the tools, the other messages. Two prompts share in the cache of the
// server what they share here.
func rendered(chat *api.ChatRequest) string {
	var b strings.Builder
	for i, m := range chat.Messages {
		b.WriteString(turn(m.Role, m.Content))
		for _, call := range m.ToolCalls {
			b.WriteString(call.Function.Name + call.Function.Arguments.String())
		}
		if i == 0 && len(chat.Tools) > 0 {
			tools, _ := json.Marshal(chat.Tools) // what cannot be written was not sent either
			b.Write(tools)
		}
	}
	return b.String()
}

func turn(role, content string) string { return "\n" + role + "\n" + content }

// shared returns the length of the common prefix, in bytes.
func shared(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// Forecast returns how long a request should take, by what earlier replies of its
// model showed. If the model may not be in memory, Forecast loads it first, so that
// what follows is reading and writing alone. Errors are those of [Client.Ask].
func (c *Client) Forecast(ctx context.Context, req prompt.Request) (pace.Forecast, error) {
	info, about, err := c.describe(ctx, req.Model)
	if err != nil {
		return pace.Forecast{}, c.explain(ctx, info, err)
	}
	if about.pacing.mayBeGone(c.KeepAlive()) {
		if err := c.load(ctx, info, about.pacing); err != nil {
			return pace.Forecast{}, err
		}
	}
	x := &exchange{client: c, info: info, known: about, req: req}
	return x.forecast(), nil
}

// forecast estimates what the request costs.
func (x *exchange) forecast() pace.Forecast {
	return x.known.pacing.forecast(x.rendered(), x.req)
}

// rendered is the prompt of the request, see [rendered].
func (x *exchange) rendered() string { return rendered(x.chatRequest(x.known.setting(x.req))) }

// learnPace takes the figures of the whole reply, and saves what they change.
func (x *exchange) learnPace(ctx context.Context, r *reply.Reply) {
	if x.replies != 1 { // the figures of several replies do not fit one prompt
		x.known.pacing.fail()
		r.CachedTokens = r.PromptTokens
		return
	}
	chat := x.chatRequest(x.known.setting(x.req))
	countable := len(chat.Tools) == 0
	for _, m := range chat.Messages {
		countable = countable && len(m.Images) == 0
	}
	now, save := x.known.pacing.learn(rendered(chat), countable, x.loadTime, r)
	if !save || x.client.file == "" {
		return
	}
	name := tagged(x.info.Name)
	x.client.learn(ctx, func(about *serverFacts) {
		if about.Paces == nil {
			about.Paces = make(map[string]measuredPace)
		}
		about.Paces[name] = now
	})
}
