package agent

import (
	"cmp"
	"slices"
	"time"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/pace"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// ModelCalls are the requests to models and their replies, and what they show of the
// models.
type ModelCalls struct {
	Exchanges     []*Exchange // in request order
	ContextTokens int         // prompt and completion of the newest call of the run's model
	ContextWindow int         // tokens the model has room for, if known

	bytesPerToken map[string]float64 // bytes per token as the server of each model counts
	speeds        speeds             // of each model, as its replies in this run show
}

// Exchange is one model request and its reply.
type Exchange struct {
	Purpose   prompt.Purpose
	Step      string // the step of the request; "" if none
	Attempt   int    // of that step; 0 if the model only wrote its arguments
	Request   prompt.Request
	Reply     reply.Reply    // possibly incomplete
	Error     untrusted.Text // why no complete reply came
	StartedAt time.Time
	Done      bool // the reply came, or will never come

	Forecast  pace.Forecast // how long it should take; zero if that is unknown
	ReadingAt time.Time     // when the model began to read the prompt; zero before, and in journals
}

// modelTerms are what is known of the models of a run besides its replies.
type modelTerms struct {
	model     string // of the run
	prompting prompt.Prompting
}

// readSpeed returns how fast a model read before the run, in tokens a second; 0 is unknown.
func (t modelTerms) readSpeed(model string) float64 {
	if model == t.model {
		return t.prompting.ReadSpeed
	}
	return t.prompting.Models.ReadSpeed(model)
}

// setWindow says how many tokens the model of the run has room for.
func (c *ModelCalls) setWindow(tokens int) { c.ContextWindow = tokens }

// window returns how many tokens the model of the run has room for; 0 if unknown.
func (c *ModelCalls) window() int { return c.ContextWindow }

// asked records a model request.
func (c *ModelCalls) asked(x *Exchange, now time.Time) {
	x.StartedAt = now
	c.Exchanges = append(c.Exchanges, x)
}

// reads records that a model reads the prompt of a request.
func (c *ModelCalls) reads(d event.ModelReading, now time.Time) {
	for _, x := range slices.Backward(c.Exchanges) {
		if !x.Done && x.Purpose == d.Purpose && x.Step == d.Step && x.Attempt == d.Attempt {
			x.Forecast, x.ReadingAt = d.Forecast, now
			return
		}
	}
}

// replied records the reply to the matching request. before is what was known of the models
// when the run began.
func (c *ModelCalls) replied(received Exchange, before modelTerms) {
	for _, x := range slices.Backward(c.Exchanges) {
		if x.Done || x.Purpose != received.Purpose || x.Step != received.Step || x.Attempt != received.Attempt {
			continue
		}
		x.Reply, x.Error, x.Done = received.Reply, received.Error, true
		c.measure(x, before)
		return
	}
}

// calibratedFrom is the minimum prompt length, in tokens, for measuring bytes per
// token. In shorter prompts the turn markers weigh too much.
const calibratedFrom = 200

// measure uses the token counts of the model's server to learn how full its
// window is, and how many bytes make a token. Requests with tools say nothing
// about the latter, because their server writes out the tools as well; neither do
// those with pictures.
func (c *ModelCalls) measure(x *Exchange, known modelTerms) {
	model := cmp.Or(x.Request.Model, known.model)
	if x.Reply.PromptTokens > 0 && model == known.model {
		c.ContextTokens = x.Reply.PromptTokens + x.Reply.CompletionTokens
	}
	if x.Reply.ContextWindow > 0 && model == known.model {
		c.ContextWindow = x.Reply.ContextWindow
	}
	if c.speeds == nil {
		c.speeds = speeds{}
	}
	c.speeds[model] = c.speeds.of(model, known.readSpeed(model)).Learn(x.Reply)
	if x.Reply.PromptTokens < calibratedFrom || len(x.Request.Tools) > 0 {
		return
	}
	bytes := 0
	for _, m := range x.Request.Messages {
		if len(m.Images) > 0 {
			return
		}
		bytes += len(m.Content)
	}
	if c.bytesPerToken == nil {
		c.bytesPerToken = map[string]float64{}
	}
	c.bytesPerToken[model] = float64(bytes) / float64(x.Reply.PromptTokens)
}

// speeds are how fast models work, as their replies in a run show, by name.
type speeds map[string]pace.Speed

// of returns the speed of a model that read so fast before the run; 0 is unknown.
func (s speeds) of(model string, read float64) pace.Speed {
	speed := s[model]
	speed.Read = cmp.Or(speed.Read, read)
	return speed
}

// measured returns the bytes per token and the speed of a model as its replies in this run
// show, or as they were known before.
func (c *ModelCalls) measured(model string, bytesPerToken, readSpeed float64) (bytes, read float64) {
	return cmp.Or(c.bytesPerToken[model], bytesPerToken), c.speeds.of(model, readSpeed).Read
}

// loseExchanges closes the exchanges that will get no reply.
func (c *ModelCalls) loseExchanges() {
	for i := len(c.Exchanges) - 1; i >= 0 && !c.Exchanges[i].Done; i-- {
		c.Exchanges[i].Done, c.Exchanges[i].Error = true, "replan ended before the reply came"
	}
}
