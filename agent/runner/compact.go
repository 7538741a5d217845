package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"replan/agent/event"
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
	told          event.ChatCompacted
	before, after []prompt.Message // the whole conversation
	used          event.Usage      // of writing the summary
}

// compact summarizes the conversation if the user asks for it or if it leaves too
// little room for the goal. It returns nil if the conversation stays unchanged.
func (s preparation) compact(ctx context.Context, p prepared) *compaction {
	prompting, talk := p.jobTerms.prompting, p.jobTerms.prompting.Conversation
	prompting.ContextWindow = p.info.ContextWindow
	cut := max(len(talk)-keptMessages, 0)
	for cut > 0 && talk[cut].Role != prompt.RoleUser {
		cut-- // keep an answer with its question
	}
	switch {
	case cut == 0 || p.jobTerms.summed && cut <= 2:
		return nil // nothing older, or only the last summary
	case p.jobTerms.spent && !p.job.compact:
		return nil // no run will begin
	}
	c := &compaction{before: talk}
	c.told = event.ChatCompacted{
		Turns: cut, Kept: len(talk) - cut, Before: prompt.ConversationTokens(prompting, talk), Reason: "you asked for it",
	}
	prompting.Conversation, prompting.Mentions = nil, p.job.mentions
	brief := prompt.Brief{Catalogue: p.catalogue, Prompting: prompting}
	if !p.job.compact {
		left := prompting.ContextWindow - prompt.Tokens(brief)
		if prompting.ContextWindow <= 0 || c.told.Before*100 <= left*p.jobTerms.share {
			return nil
		}
		c.told.Reason = fmt.Sprintf("it took more than %d %% of the room in the model's context window", p.jobTerms.share)
		s.outcomes <- outcome{events: []event.Data{event.Note{Level: "info", Text: "the conversation is being summed up, so that there is room for the goal"}}}
	}
	brief.Prompting.Conversation = talk[:cut]
	summary, err := s.summarise(ctx, p, brief, c)
	if ctx.Err() != nil {
		return nil
	}
	shorter := func(summary string) bool {
		c.told.Summary, c.after = summary, prompt.Compact(talk, summary, c.told.Kept)
		c.told.After = prompt.ConversationTokens(prompting, c.after)
		return c.told.After < c.told.Before
	}
	if err == nil && shorter(summary) {
		return c
	}
	if err != nil {
		s.cfg.Logger.Warn("sum the conversation up", "error", err)
	}
	c.told.ByRule = true
	if !shorter(prompt.Digest(talk[:cut])) {
		return nil
	}
	return c
}

// summarise asks the model for the summary.
func (s preparation) summarise(ctx context.Context, p prepared, brief prompt.Brief, c *compaction) (string, error) {
	switch {
	case p.info.Name == "":
		return "", prompt.ErrNoModel
	case p.jobTerms.spent:
		return "", errors.New("the budget of the session is used up")
	}
	request := prompt.CompactionRequest(brief)
	request.Model = p.info.Name
	reply, err := s.cfg.Model.Ask(ctx, request, func(string, string) {})
	if err != nil {
		return "", err
	}
	c.used = event.Usage{ModelCalls: 1, PromptTokens: reply.PromptTokens, CompletionTokens: reply.CompletionTokens}
	c.told.Tokens = int(c.used.Tokens())
	summary := strings.TrimSpace(prompt.Said(reply).Content)
	if summary == "" || reply.CutOff {
		return "", errors.New("the model did not write the summary to its end")
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
		_ = s.say(c.told)
		s.weigh()
	case !p.job.compact:
	case errors.Is(p.err, context.Canceled):
		s.tellOf("info", "stopped: the conversation stays as it is")
	case p.err != nil:
		s.tellOf("warn", "the conversation stays as it is: "+p.err.Error())
	default:
		s.tellOf("info", "there is nothing to sum up in the conversation: its newest messages always stay as they are")
	}
}

// undo restores the messages that the last summary replaced and keeps the newer
// ones.
func (s *Session) undo() {
	if len(s.conversation.compactions) == 0 {
		s.tellOf("info", "the conversation was not summed up, so there is nothing to put back")
		return
	}
	prompting := s.jobTerms().prompting
	told := event.ChatCompacted{Undone: true, Before: prompt.ConversationTokens(prompting, s.conversation.messages), Reason: "you asked for it"}
	last := s.conversation.compactions[len(s.conversation.compactions)-1]
	told.Turns, told.Kept = last.told.Turns, len(s.conversation.messages)-(len(last.after)-last.told.Kept)
	s.conversation.putBack()
	told.After = prompt.ConversationTokens(prompting, s.conversation.messages)
	_ = s.say(told)
	s.weigh()
}
