package agent

import (
	"time"

	"replan/planning"
)

// Exchange is one request to a model and what came back.
type Exchange struct {
	Purpose   planning.Purpose
	Step      string // the step it was for, "" for none
	Request   planning.Request
	Reply     planning.Reply
	Error     string // why no reply came
	StartedAt time.Time
	Done      bool // the reply came, or none will
}

// asked notes what the model is asked.
func (r *Run) asked(purpose, step string, request planning.Request) {
	r.Exchanges = append(r.Exchanges, &Exchange{
		Purpose: planning.Purpose(purpose), Step: step, Request: request, StartedAt: r.Now,
	})
}

// replied notes what came of it.
func (r *Run) replied(purpose planning.Purpose, step string, reply planning.Reply, failure string) {
	for i := len(r.Exchanges) - 1; i >= 0; i-- {
		x := r.Exchanges[i]
		if x.Done || x.Purpose != purpose || x.Step != step {
			continue
		}
		x.Reply, x.Error, x.Done = reply, failure, true
		r.calibrate(x)
		return
	}
}

// calibratedFrom is how long a prompt has to be, in tokens, to tell how many
// bytes a token has: in short ones the marks of the turns weigh too much.
const calibratedFrom = 200

// calibrate learns from what the server counted how many bytes make a token.
// Requests with tools are left out, since their server writes those out as well.
func (r *Run) calibrate(x *Exchange) {
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
func (r *Run) loseExchanges() {
	for i := len(r.Exchanges) - 1; i >= 0 && !r.Exchanges[i].Done; i-- {
		r.Exchanges[i].Done, r.Exchanges[i].Error = true, "replan ended before the reply came"
	}
}
