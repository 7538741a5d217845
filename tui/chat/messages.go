package chat

import (
	"strings"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/prompt"
	"replan/tui/story"
	"replan/tui/wording"
)

// Message shows what the user sent. preparing means that the session is about to
// reply to it.
func (c *Pane) Message(d event.ChatUser, preparing bool) {
	c.sent = d.Text.Visible()
	c.ForgetAgain()
	c.Introduce(preparing)
	c.addMessage(d.Text, d.Mentions)
}

// Reply shows the session's reply to the user, unless the chat has shown the
// outcome of that run already.
func (c *Pane) Reply(d event.ChatReply) {
	c.intro.hear(d, c.state.Problem)
	if n := c.narrators[d.Run]; n != nil && n.outcomeReply(d) {
		return
	}
	switch {
	case d.Text == "":
	case d.Run != "" && d.Status != event.StatusCompleted && strings.ContainsAny(d.Text.Visible(), "`\n"): // the answer of a run in an earlier session
		result := event.Result{Status: d.Status, Reason: d.Reason, DurationMS: d.MS}
		if d.Usage != nil {
			result.Usage = *d.Usage
		}
		c.Add(append(c.prose.blocks(d.Text), outcomeBlock(c.Styles, &story.Ending{Result: result, Word: "failed"}, "", func() bool { return false }))...)
	case d.Status == event.StatusFailed && d.Reason == event.ReasonNoModel:
		words := d.Text.Visible()
		if d.Asks {
			words += wording.UndoHint
		}
		c.refuse(words, d.Near)
	case d.Status == event.StatusFailed:
		c.Add(c.Note("error", d.Text.Visible()+c.commandHint(d)))
	case d.Status == event.StatusCanceled:
		c.Add(c.Note("info", d.Text.Visible()))
	default:
		answer := c.prose.blocks
		if c.CommandSent() {
			answer = c.prose.listing
		}
		c.Add(answer(d.Text)...)
		if d.Results != "" {
			c.Add(repliedResults(c.Styles, c.size, c.prose, d.Results))
		}
	}
}

// Introduce shows what the welcome page shows while the chat is empty. That is once the
// project's notes, and why no run can start, unless a reply is about to say so.
func (c *Pane) Introduce(preparing bool) {
	c.Add(c.intro.blocks(c.Styles, c.state.Notes, c.state.Problem, preparing && !c.CommandSent())...)
}

// CommandSent reports whether the user's last message is a command to the
// session.
func (c *Pane) CommandSent() bool { return strings.HasPrefix(c.sent, "/") }

// showsSent reports whether the user's last message says a text, after a command if that is
// what it begins with.
func (c *Pane) showsSent(command string, text untrusted.Text) bool {
	return strings.TrimSpace(strings.TrimPrefix(c.sent, command)) == strings.TrimSpace(text.Visible())
}

// Note returns a block with something the user should know.
func (c *Pane) Note(level, text string) *Block { return noteBlock(c.Styles, level, text) }

// Notice returns Markdown that the user should know: the greeting stays above it, and its
// code blocks are tables, whose lines are cut.
func (c *Pane) Notice(text untrusted.Text) []*Block { return c.prose.notice(text) }

// addMessage appends a message of the user with its attachments.
func (c *Pane) addMessage(message untrusted.Text, mentions []prompt.Mention) {
	c.Add(userBlock(c.Styles, message))
	if len(mentions) > 0 {
		c.Add(mentionsBlock(c.Styles, mentions))
	}
}

// Compacted returns a note that old messages were summarized, or restored.
func (c *Pane) Compacted(d event.ChatCompacted) *Block {
	sizes := wording.Tokens(d.Before) + " → " + wording.Tokens(d.After) + " tokens"
	if c.Styles.Theme.Mode.ASCII {
		sizes = wording.Tokens(d.Before) + " to " + wording.Tokens(d.After) + " tokens"
	}
	if d.Undone {
		words := wording.CompactedWords(d) + ", word for word"
		if d.Before > 0 {
			words += ", " + sizes
		}
		return c.Note("info", words).withGap(true)
	}
	words := wording.CompactedWords(d) + ", " + sizes
	if d.Reason != "" {
		words += " (" + d.Reason.Visible() + ")"
	}
	return c.Note("info", words+" "+c.Styles.Glyphs.Separator+" /compact undo restores them").withGap(true)
}

// commandHint says on the screen where a program can run that wants the terminal; "" for other
// refusals.
func (c *Pane) commandHint(d event.ChatReply) string {
	if d.Reason != event.ReasonInvalidGoal || !intent.IsCommandLine(c.sent) || !d.Text.Contains("your own shell") {
		return ""
	}
	return " (" + c.state.SuspendKey + " suspends replan, and fg brings it back)"
}
