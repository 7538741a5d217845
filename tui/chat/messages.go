package chat

import (
	"strings"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/story"
	"replan/tui/wording"
)

// Message shows what the user sent. preparing means that the session is about to
// reply to it.
func (c *Pane) Message(d event.ChatUser, preparing bool) {
	c.sent = d.Text.Visible()
	c.Introduce(preparing)
	c.addMessage(d.Text, d.Mentions)
}

// Reply shows the session's reply to the user, unless the chat has shown the
// outcome of that run already.
func (c *Pane) Reply(d event.ChatReply) {
	if c.state.Problem != "" && strings.Contains(d.Text.Line(), c.state.Problem) { // the reply names it too
		c.shownProblem = c.state.Problem
	}
	if d.Run != "" && d.Usage != nil && d.Usage.PromptTokens == 0 {
		c.byWords = true // the run needed no model
	}
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
		c.Add(append(c.prose(d.Text), c.outcome(&story.Ending{Result: result, Word: "failed"}, ""))...)
	case d.Status == event.StatusFailed && d.Asks:
		c.Add(c.Note("error", d.Text.Visible()+wording.UndoHint))
	case d.Status == event.StatusFailed:
		c.Add(c.Note("error", d.Text.Visible()))
	case d.Status == event.StatusCancelled:
		c.Add(c.Note("info", d.Text.Visible()))
	default:
		answer := c.prose
		if c.CommandSent() {
			answer = c.Listing
		}
		c.Add(answer(d.Text)...)
		if d.Results != "" {
			c.Add(c.resultsBlock(d.Results))
		}
	}
}

// Introduce shows what the welcome page shows while the chat is empty: once the
// project's notes, and why no run can start, unless a reply is about to say so.
func (c *Pane) Introduce(preparing bool) {
	if c.state.Notes != "" && !c.notesShown {
		c.notesShown = true
		c.Add(c.Note("info", wording.NotesWords+c.state.Notes))
	}
	if c.byWords {
		c.byWords, c.shownProblem = c.state.Problem != "", c.state.Problem
	}
	if c.state.Problem != c.shownProblem && (c.state.Problem == "" || c.CommandSent() || !preparing) {
		if c.shownProblem = c.state.Problem; c.state.Problem != "" {
			c.Add(c.Note("warn", c.state.Problem))
		}
	}
}

// CommandSent reports whether the user's last message is a command to the
// session.
func (c *Pane) CommandSent() bool { return strings.HasPrefix(c.sent, "/") }

// addMessage appends a message of the user with its attachments.
func (c *Pane) addMessage(message untrusted.Text, mentions []prompt.Mention) {
	c.Add(c.user(message))
	if len(mentions) > 0 {
		c.Add(c.mentioned(mentions))
	}
}

// user returns a block with the user's message.
func (c *Pane) user(message untrusted.Text) *Block {
	text := strings.TrimSpace(message.Visible())
	return &Block{Gap: true, text: func() string { return text }, lay: func(width int) []draw.TextLine {
		return c.userMessage(text, width)
	}}
}

// userMessage draws what the user said: on a band of its own, or without colors
// beside a bar.
func (c *Pane) userMessage(text string, width int) []draw.TextLine {
	l := c.Styles
	sign, strong, band := l.Accent, l.Strong, l.Theme.Palette.Selection
	if band != nil {
		sign, strong = sign.Background(band), strong.Background(band)
	}
	lines := draw.Wrapped(text, width-2)
	for i := range lines {
		lead := "  "
		switch {
		case band == nil:
			lead = l.Glyphs.Cursor + " "
		case i == 0:
			lead = l.Glyphs.Prompt + " "
		}
		line := lines[i].Text
		if band != nil {
			line = l.Fit(line, width-2)
		}
		lines[i].Text, lines[i].Lead = sign.Render(lead)+strong.Render(line), 2
	}
	return lines
}

// mentioned returns a block with the attachments of a message, one per line.
func (c *Pane) mentioned(mentions []prompt.Mention) *Block {
	return &Block{Draw: func(width int) []string {
		l := c.Styles
		lines := make([]string, len(mentions))
		for i, m := range mentions {
			lines[i] = "  " + l.Accent.Render("@") + " " + l.Muted.Render(l.Cut(wording.MentionWords(m, l.Glyphs.Separator), max(width-4, 1)))
		}
		return lines
	}}
}
