package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// keptMessages is the number of newest messages that no summary replaces.
const keptMessages = 4

// compact summarizes the conversation if the user asks for it or if it leaves too
// little room for the goal.
func (p *preparation) compact(ctx context.Context) {
	prompting, messages := p.jobConfig.prompting, p.jobConfig.prompting.Conversation
	prompting.ContextWindow = p.info.ContextWindow
	cut := max(len(messages)-keptMessages, 0)
	for cut > 0 && messages[cut].Role != prompt.RoleUser {
		cut-- // keep an answer with its question
	}
	switch {
	case cut == 0 || p.jobConfig.summed && cut <= 2:
		return // nothing older, or only the last summary
	case p.jobConfig.spent && !p.job.Compact:
		return // no run will begin
	}
	c := &summary{before: messages}
	c.event = event.ChatCompacted{
		Turns: cut, Kept: len(messages) - cut, Before: prompt.ConversationTokens(prompting, messages), Reason: "you asked for it",
	}
	prompting.Conversation, prompting.Mentions = nil, p.job.Mentions
	brief := prompt.Brief{Catalog: p.catalog.Accepted(), Prompting: prompting}
	if !p.job.Compact {
		left := prompting.ContextWindow - prompt.Tokens(brief)
		if prompting.ContextWindow <= 0 || c.event.Before*100 <= left*p.jobConfig.share {
			return
		}
		c.event.Reason = untrusted.Text(fmt.Sprintf("it took more than %d %% of the model's context window", p.jobConfig.share))
		p.background.publishLater(event.Note{Level: "info", Text: "summarizing the conversation to make room for the goal"})
	}
	brief.Prompting.Conversation = messages[:cut]
	text, err := p.summarize(ctx, brief, c)
	if ctx.Err() != nil {
		return
	}
	shorter := func(text string) bool {
		c.event.Summary, c.after = untrusted.Text(text), prompt.Compact(messages, text, c.event.Kept)
		c.event.After = prompt.ConversationTokens(prompting, c.after)
		return c.event.After < c.event.Before
	}
	if err == nil && shorter(text) {
		p.summary = c
		return
	}
	if err != nil {
		p.from.log.Warn("summarize the conversation", "error", err)
	}
	c.event.ByRule = true
	if shorter(prompt.Digest(messages[:cut])) {
		p.summary = c
	}
}

// summarize asks the model for the summary.
func (p *preparation) summarize(ctx context.Context, brief prompt.Brief, c *summary) (string, error) {
	switch {
	case p.info.Name == "":
		return "", prompt.ErrNoModel
	case p.jobConfig.spent:
		return "", errors.New("the budget of the session is used up")
	}
	request := prompt.CompactionRequest(brief)
	request.Model = p.info.Name
	reply, err := p.from.model.Ask(ctx, request, func(string, string) {})
	if err != nil {
		return "", err
	}
	c.used = event.Usage{ModelCalls: 1, PromptTokens: reply.PromptTokens, CompletionTokens: reply.CompletionTokens}
	c.event.Tokens = int(c.used.Tokens())
	text := strings.TrimSpace(prompt.ReplyMessage(reply).Content)
	if text == "" || reply.CutOff {
		return "", errors.New("the model did not finish the summary")
	}
	return text, nil
}
