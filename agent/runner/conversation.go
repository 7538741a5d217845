package runner

import (
	"fmt"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/runner/intake"
	"replan/planning/plan"
	"replan/planning/prompt"
)

const (
	// fullShare is the share of the context window left by prompt and tools that
	// a conversation may take before it is summarized, in percent. The goal, the
	// results of its plan and the replies need the rest.
	fullShare = 60
	// restoredShare replaces fullShare after the user has undone a summary.
	restoredShare = 100
)

// conversation holds the messages of the user and the session that later turns
// send.
type conversation struct {
	messages  []prompt.Message
	read      []rule.Provenance // the untrusted text that they may hold, also if a summary replaced it
	summaries []summary         // undoable, oldest first
	restored  bool              // the last one was undone; the next waits until no room is left
	open      *openTurn         // a goal of the journal whose answer was not replayed yet
}

// summary replaced the oldest messages of the conversation.
type summary struct {
	event         event.ChatCompacted
	before, after []prompt.Message // the whole conversation
	used          event.Usage      // of writing the summary
}

// openTurn is a goal without its answer.
type openTurn struct {
	goal     string
	mentions []prompt.Mention
}

// history returns the messages. An append to them copies them.
func (c *conversation) history() []prompt.Message { return slices.Clip(c.messages) }

// untrusted returns where the untrusted text comes from that the messages may hold.
func (c *conversation) untrusted() []rule.Provenance { return slices.Clip(c.read) }

// summarized reports whether the conversation starts with a summary.
func (c *conversation) summarized() bool { return len(c.summaries) > 0 }

// share returns how much of the context window the conversation may take, in percent.
func (c *conversation) share() int {
	if c.restored {
		return restoredShare
	}
	return fullShare
}

// turn appends the user's goal with its mentions, and the reply of its run.
func (c *conversation) turn(goal string, mentions []prompt.Mention, reply event.ChatReply) {
	c.ask(goal, mentions)
	c.answer(reply)
}

func (c *conversation) ask(goal string, mentions []prompt.Mention) {
	c.messages = append(append(c.messages, prompt.Attached(mentions, 0)...), prompt.Message{Role: prompt.RoleUser, Content: goal})
}

// answer appends the reply of a run, with the untrusted text that it may hold.
func (c *conversation) answer(reply event.ChatReply) {
	c.messages = append(c.messages, prompt.Message{Role: prompt.RoleAssistant, Content: string(reply.Content())})
	if reply.Read == nil { // by an older replan, which noted none
		reply.Read = []rule.Provenance{{Run: reply.Run, Written: true}}
	}
	c.read = plan.Newest(append(c.read, reply.Read...))
}

// tellUndone appends that the user undid or redid a run: what the model knows of its files is
// out of date.
func (c *conversation) tellUndone(d event.ChatUndone) {
	if len(d.Files) == 0 {
		return
	}
	const shown = 20
	var names []string
	for _, f := range d.Files[:min(len(d.Files), shown)] {
		names = append(names, f.Path)
	}
	if more := len(d.Files) - shown; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	said := "(I undid the run " + d.Run + ": its changes are reverted in "
	if d.Redo {
		said = "(I redid the run " + d.Run + ": its changes are back in "
	}
	c.messages = append(c.messages, prompt.Message{Role: prompt.RoleUser, Content: said + strings.Join(names, ", ") + ".)"})
}

// shorten replaces the oldest messages with a summary.
func (c *conversation) shorten(by summary) {
	c.summaries, c.restored, c.messages = append(c.summaries, by), false, by.after
}

// restore puts back the messages that the last summary replaced, and keeps the newer
// ones. It describes that, without the sizes.
func (c *conversation) restore() event.ChatCompacted {
	last := c.summaries[len(c.summaries)-1]
	undone := event.ChatCompacted{Undone: true, Turns: last.event.Turns, Kept: len(c.messages) - (len(last.after) - last.event.Kept), Reason: "you asked for it"}
	c.summaries, c.restored = c.summaries[:len(c.summaries)-1], true
	c.messages = slices.Concat(last.before, c.messages[len(last.after):])
	return undone
}

// replay takes an event of the session's journal, and reports whether it belongs to the
// conversation. A goal joins the conversation only after its answer: a summary made in
// between covers only what came before the goal.
func (c *conversation) replay(data event.Data) bool {
	switch d := data.(type) {
	case event.ChatUser:
		if !strings.HasPrefix(string(d.Text), "/") {
			c.replayed()
			c.open = &openTurn{goal: intake.Words(string(d.Text)).Goal, mentions: d.Mentions}
		}
	case event.ChatReply:
		if d.Run != "" {
			c.replayed()
			c.answer(d)
		}
	case event.ChatCompacted:
		switch {
		case !d.Undone:
			c.shorten(summary{event: d, before: c.messages, after: prompt.Compact(c.messages, string(d.Summary), d.Kept)})
		case len(c.summaries) > 0:
			c.restore()
		}
	case event.ChatUndone:
		c.tellUndone(d)
	case event.ChatSide: // it is shown, and no model is told
	default:
		return false
	}
	return true
}

// replayed ends the replay of a turn, or of the journal.
func (c *conversation) replayed() {
	if c.open != nil && c.open.goal != "" {
		c.ask(c.open.goal, c.open.mentions)
	}
	c.open = nil
}
