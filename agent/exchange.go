package agent

import (
	"time"

	"replan/planning/prompt"
	"replan/planning/reply"
)

// Exchange is one request to a model and what came back.
type Exchange struct {
	Purpose   prompt.Purpose
	Step      string // the step it was for, "" for none
	Attempt   int    // of that step; 0 where it only had its arguments written
	Request   prompt.Request
	Reply     reply.Reply // as far as it came
	Error     string      // why no whole reply came
	StartedAt time.Time
	Done      bool // the reply came, or none will
}

// asked notes what the model is asked.
func (r ledger) asked(x *Exchange) {
	x.StartedAt = r.Now
	r.Exchanges = append(r.Exchanges, x)
}

// replied notes what came of what the model was asked for the same.
func (r ledger) replied(came Exchange) {
	for i := len(r.Exchanges) - 1; i >= 0; i-- {
		x := r.Exchanges[i]
		if x.Done || x.Purpose != came.Purpose || x.Step != came.Step || x.Attempt != came.Attempt {
			continue
		}
		x.Reply, x.Error, x.Done = came.Reply, came.Error, true
		if x.Request.Model == "" || x.Request.Model == r.Model {
			r.measure(x)
		}
		return
	}
}

// calibratedFrom is how long a prompt has to be, in tokens, to tell how many
// bytes a token has: in short ones the marks of the turns weigh too much.
const calibratedFrom = 200

// measure learns from what the server of the run's model counted how full its
// window is, and how many bytes make a token. Of that, requests with tools say
// nothing, since their server writes those out as well.
func (r ledger) measure(x *Exchange) {
	if x.Reply.PromptTokens > 0 {
		r.ContextTokens = x.Reply.PromptTokens + x.Reply.CompletionTokens
	}
	if x.Reply.ContextWindow > 0 {
		r.ContextWindow = x.Reply.ContextWindow
	}
	if x.Reply.PromptTokens < calibratedFrom || len(x.Request.Tools) > 0 {
		return
	}
	bytes := 0
	for _, m := range x.Request.Messages {
		bytes += len(m.Content)
	}
	r.perToken = float64(bytes) / float64(x.Reply.PromptTokens)
}

// BytesPerToken is how many bytes of a prompt the model's server counted as one
// token, as last seen; 0 is unknown.
func (r *Run) BytesPerToken() float64 { return r.perToken }

// loseExchanges closes those that nobody will reply to.
func (r ledger) loseExchanges() {
	for i := len(r.Exchanges) - 1; i >= 0 && !r.Exchanges[i].Done; i-- {
		r.Exchanges[i].Done, r.Exchanges[i].Error = true, "replan ended before the reply came"
	}
}
