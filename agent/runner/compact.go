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

const (
	// keptMessages is the number of newest messages that no summary replaces.
	keptMessages = 4
	// fullShare is the share of the context window left by prompt and tools that
	// a conversation may take before it is summarized, in percent. The goal, the
	// results of its plan and the replies need the rest.
	fullShare = 60
	// undoneShare replaces fullShare after the user has undone a summary.
	undoneShare = 100
)

// compaction is a summary that replaced the oldest messages of the conversation.
type compaction struct {
	summary       event.ChatCompacted
	before, after []prompt.Message // the whole conversation
	used          event.Usage      // of writing the summary
}

// compact summarizes the conversation if the user asks for it or if it leaves too
// little room for the goal. It returns nil if the conversation stays unchanged.
func (s preparation) compact(ctx context.Context, p prepared) *compaction {
	prompting, messages := p.jobConfig.prompting, p.jobConfig.prompting.Conversation
	prompting.ContextWindow = p.info.ContextWindow
	cut := max(len(messages)-keptMessages, 0)
	for cut > 0 && messages[cut].Role != prompt.RoleUser {
		cut-- // keep an answer with its question
	}
	switch {
	case cut == 0 || p.jobConfig.summed && cut <= 2:
		return nil // nothing older, or only the last summary
	case p.jobConfig.spent && !p.job.compact:
		return nil // no run will begin
	}
	c := &compaction{before: messages}
	c.summary = event.ChatCompacted{
		Turns: cut, Kept: len(messages) - cut, Before: prompt.ConversationTokens(prompting, messages), Reason: "you asked for it",
	}
	prompting.Conversation, prompting.Mentions = nil, p.job.mentions
	brief := prompt.Brief{Catalogue: p.catalogue.Accepted(), Prompting: prompting}
	if !p.job.compact {
		left := prompting.ContextWindow - prompt.Tokens(brief)
		if prompting.ContextWindow <= 0 || c.summary.Before*100 <= left*p.jobConfig.share {
			return nil
		}
		c.summary.Reason = untrusted.Text(fmt.Sprintf("it took more than %d %% of the model's context window", p.jobConfig.share))
		s.outcomes <- outcome{events: []event.Data{event.Note{Level: "info", Text: "summarizing the conversation to make room for the goal"}}}
	}
	brief.Prompting.Conversation = messages[:cut]
	summary, err := s.summarise(ctx, p, brief, c)
	if ctx.Err() != nil {
		return nil
	}
	shorter := func(summary string) bool {
		c.summary.Summary, c.after = untrusted.Text(summary), prompt.Compact(messages, summary, c.summary.Kept)
		c.summary.After = prompt.ConversationTokens(prompting, c.after)
		return c.summary.After < c.summary.Before
	}
	if err == nil && shorter(summary) {
		return c
	}
	if err != nil {
		s.cfg.Logger.Warn("summarize the conversation", "error", err)
	}
	c.summary.ByRule = true
	if !shorter(prompt.Digest(messages[:cut])) {
		return nil
	}
	return c
}

// summarise asks the model for the summary.
func (s preparation) summarise(ctx context.Context, p prepared, brief prompt.Brief, c *compaction) (string, error) {
	switch {
	case p.info.Name == "":
		return "", prompt.ErrNoModel
	case p.jobConfig.spent:
		return "", errors.New("the budget of the session is used up")
	}
	request := prompt.CompactionRequest(brief)
	request.Model = p.info.Name
	reply, err := s.cfg.Model.Ask(ctx, request, func(string, string) {})
	if err != nil {
		return "", err
	}
	c.used = event.Usage{ModelCalls: 1, PromptTokens: reply.PromptTokens, CompletionTokens: reply.CompletionTokens}
	c.summary.Tokens = int(c.used.Tokens())
	summary := strings.TrimSpace(prompt.ReplyMessage(reply).Content)
	if summary == "" || reply.CutOff {
		return "", errors.New("the model did not finish the summary")
	}
	return summary, nil
}

// compacted applies the summary written during a job's preparation.
func (s *Session) compacted(p prepared) {
	c := p.compacted
	switch {
	case c != nil:
		s.conversation.shorten(*c)
		s.account.spend(c.used, 0)
		if c.used.ModelCalls > 0 {
			s.modelUse.active = s.cfg.Now()
		}
		_ = s.publish(c.summary)
		s.weigh()
	case !p.job.compact:
	case errors.Is(p.err, context.Canceled):
		s.publishNote("info", "stopped: the conversation stays as it is")
	case p.err != nil:
		s.publishNote("warn", "the conversation stays as it is: "+p.err.Error())
	default:
		s.publishNote("info", "there is nothing to summarize: the newest messages always stay as they are")
	}
}

// undo restores the messages that the last summary replaced and keeps the newer
// ones.
func (s *Session) undo() {
	if len(s.conversation.compactions) == 0 {
		s.publishNote("info", "the conversation was not summarized: nothing to restore")
		return
	}
	prompting := s.jobConfig().prompting
	summary := event.ChatCompacted{Undone: true, Before: prompt.ConversationTokens(prompting, s.conversation.messages), Reason: "you asked for it"}
	last := s.conversation.compactions[len(s.conversation.compactions)-1]
	summary.Turns, summary.Kept = last.summary.Turns, len(s.conversation.messages)-(len(last.after)-last.summary.Kept)
	s.conversation.putBack()
	summary.After = prompt.ConversationTokens(prompting, s.conversation.messages)
	_ = s.publish(summary)
	s.weigh()
}
