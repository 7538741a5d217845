package runner

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/prompt"
)

// conversation is what the user and the session have said, as later turns are
// sent it.
type conversation struct {
	messages    []prompt.Message
	compactions []compaction // that can be undone, oldest first
	undone      bool         // the last one was undone: the next comes only when there is no room left
}

// ask adds what the user asked for, with what it mentions.
func (c *conversation) ask(goal string, mentions []prompt.Mention) {
	c.messages = append(append(c.messages, prompt.Attached(mentions, 0)...), prompt.Message{Role: prompt.RoleUser, Content: goal})
}

// reply adds what the session replied.
func (c *conversation) reply(text string) {
	c.messages = append(c.messages, prompt.Message{Role: prompt.RoleAssistant, Content: text})
}

// undo adds that the user undid a run.
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
		Content: "(I undid the run " + d.Run + ": what it changed is put back as it was before, in " + strings.Join(names, ", ") + ".)",
	})
}

// shorten puts a summary in the place of the oldest messages.
func (c *conversation) shorten(by compaction) {
	c.compactions, c.undone, c.messages = append(c.compactions, by), false, by.after
}

// putBack restores the messages as they were before the last summary, with what
// was said since.
func (c *conversation) putBack() {
	last := c.compactions[len(c.compactions)-1]
	c.compactions, c.undone = c.compactions[:len(c.compactions)-1], true
	c.messages = slices.Concat(last.before, c.messages[len(last.after):])
}

// recompact folds a summary, or its undoing, from the session's journal.
func (c *conversation) recompact(told event.ChatCompacted) {
	switch {
	case !told.Undone:
		c.shorten(compaction{told: told, before: c.messages, after: prompt.Compact(c.messages, told.Summary, told.Kept)})
	case len(c.compactions) > 0:
		c.putBack()
	}
}

// account is what a session has used of its limits.
type account struct {
	limits event.SessionLimits
	used   event.Usage // by the runs that are over, but for those that another run counts
	ms     int64       // that the same took
}

// spend takes the usage of a run from the session's budget.
func (a *account) spend(used event.Usage, ms int64) {
	a.used.PromptTokens += used.PromptTokens
	a.used.CompletionTokens += used.CompletionTokens
	a.used.ToolCalls += used.ToolCalls
	a.ms += ms
}

// spendOn takes what a summary cost, as the journal has it.
func (a *account) spendOn(told event.ChatCompacted) {
	if !told.Undone {
		a.spend(event.Usage{PromptTokens: told.Tokens}, 0)
	}
}

// lease bounds the limits of a new run by what is left of the session's.
func (a *account) lease(limits event.Limits) (leased event.Limits, spent string) {
	return a.limits.Lease(limits, a.used, event.Usage{}, a.ms, 0)
}

// modelUse is what a session has seen of its models.
type modelUse struct {
	bytesPerToken map[string]float64 // as the server of each model counts
	active        time.Time          // when the model was at work last, or loaded
	warming       map[string]bool    // models that are being loaded, by the name that was asked for
}

// calibrate keeps how the server counted the prompts of a run.
func (u *modelUse) calibrate(run *agent.Run) {
	if measured := run.BytesPerToken(); measured > 0 && run.Model != "" {
		u.bytesPerToken[run.Model] = measured
	}
}

// stays reports whether nothing is gained by loading the model now, where it
// stays loaded for a time: in the last fifth of that something is.
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
