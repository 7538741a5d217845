package ollama

import (
	"context"

	"replan/planning/pace"
	"replan/planning/reply"
)

// forecast estimates what the request costs.
func (x *exchange) forecast() pace.Forecast {
	return x.known.paced().forecast(x.rendered(), x.req)
}

// rendered is the prompt of the request, see [rendered].
func (x *exchange) rendered() string { return rendered(x.chatRequest(x.known.setting(x.req))) }

// learnPace takes the figures of the whole reply, and saves what they change.
func (x *exchange) learnPace(ctx context.Context, r *reply.Reply) {
	if x.replies != 1 { // the figures of several replies do not fit one prompt
		x.known.paced().fail()
		r.CachedTokens = r.PromptTokens
		return
	}
	chat := x.chatRequest(x.known.setting(x.req))
	countable := len(chat.Tools) == 0
	for _, m := range chat.Messages {
		countable = countable && len(m.Images) == 0
	}
	now, save := x.known.paced().learn(rendered(chat), countable, x.loadTime, r)
	if save {
		x.client.savePace(ctx, x.info.Name, now)
	}
}
