package runner

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// conversation holds the messages of the user and the session that later turns
// send.
type conversation struct {
	messages    []prompt.Message
	read        []rule.Provenance // the untrusted text that they may hold, also if a summary replaced it
	compactions []compaction      // undoable, oldest first
	undone      bool              // the last one was undone; the next waits until no room is left
}

// ask appends the user's request and its mentions.
func (c *conversation) ask(goal string, mentions []prompt.Mention) {
	c.messages = append(append(c.messages, prompt.Attached(mentions, 0)...), prompt.Message{Role: prompt.RoleUser, Content: goal})
}

// reply appends the session's reply.
func (c *conversation) reply(text string) {
	c.messages = append(c.messages, prompt.Message{Role: prompt.RoleAssistant, Content: text})
}

// note adds the untrusted text that the reply of a run may hold.
func (c *conversation) note(d event.ChatReply) {
	if d.Read == nil { // by an older replan, which noted none
		d.Read = []rule.Provenance{{Run: d.Run, Written: true}}
	}
	c.read = plan.Newest(append(c.read, d.Read...))
}

// undo appends that the user undid a run.
func (c *conversation) undo(d event.ChatUndone) {
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
	c.messages = append(c.messages, prompt.Message{
		Role:    prompt.RoleUser,
		Content: "(I undid the run " + d.Run + ": its changes are reverted in " + strings.Join(names, ", ") + ".)",
	})
}

// shorten replaces the oldest messages with a summary.
func (c *conversation) shorten(by compaction) {
	c.compactions, c.undone, c.messages = append(c.compactions, by), false, by.after
}

// putBack restores the messages from before the last summary and keeps the newer
// ones.
func (c *conversation) putBack() {
	last := c.compactions[len(c.compactions)-1]
	c.compactions, c.undone = c.compactions[:len(c.compactions)-1], true
	c.messages = slices.Concat(last.before, c.messages[len(last.after):])
}

// recompact applies a summary, or its undo, from the session's journal.
func (c *conversation) recompact(summary event.ChatCompacted) {
	switch {
	case !summary.Undone:
		c.shorten(compaction{summary: summary, before: c.messages, after: prompt.Compact(c.messages, string(summary.Summary), summary.Kept)})
	case len(c.compactions) > 0:
		c.putBack()
	}
}

// account tracks how much of its limits a session has used.
type account struct {
	limits event.SessionLimits
	used   event.Usage // by finished runs, except those that another run counts
	ms     int64       // duration of those runs
}

// spend charges the usage of a run to the session's budget.
func (a *account) spend(used event.Usage, ms int64) {
	a.used.PromptTokens += used.PromptTokens
	a.used.CompletionTokens += used.CompletionTokens
	a.used.ToolCalls += used.ToolCalls
	a.ms += ms
}

// spendOn charges the cost of a summary, as journaled.
func (a *account) spendOn(summary event.ChatCompacted) {
	if !summary.Undone {
		a.spend(event.Usage{PromptTokens: summary.Tokens}, 0)
	}
}

// lease bounds the limits of a new run by what is left of the session's.
func (a *account) lease(limits event.Limits) (leased event.Limits, spent string) {
	return a.limits.Lease(limits, a.used, event.Usage{}, a.ms, 0)
}

// modelUse records what a session has observed about its models.
type modelUse struct {
	bytesPerToken map[string]float64 // by model, as its server counts
	active        time.Time          // when the model last worked or was loaded
	warned        bool               // that the context window is too small
	wanted        map[string]int     // the most tokens of a request that its window cut, by model
	warming       map[string]bool    // models being warmed, by requested name
	stopReading   func()             // ends what a server reads ahead; never nil
}

// calibrate records how the server counted the prompts of a run, and the window
// that they wanted.
func (u *modelUse) calibrate(run *agent.Run) {
	wanted(u.wanted, run)
	for _, model := range append(run.Models().Names(), run.Model) {
		if measured := run.BytesPerToken(model); measured > 0 {
			u.bytesPerToken[model] = measured
		}
	}
}

// stays reports whether loading the model now would gain nothing. Once a fifth or
// less of its keep-alive time is left, loading does gain something.
func (u *modelUse) stays(loaded time.Duration, now time.Time) bool {
	switch {
	case loaded == 0:
		return true
	case u.active.IsZero():
		return false
	default:
		return loaded < 0 || now.Sub(u.active) < loaded-loaded/5
	}
}
