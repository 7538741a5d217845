package chat

import (
	"strings"

	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/wording"
)

// linesOfMessage is the number of lines of a long message that its collapsed block shows.
const linesOfMessage = 10

// userBlock returns a block with the user's message. A long one is collapsed.
func userBlock(l *draw.Styles, message untrusted.Text) *Block {
	text := strings.TrimSpace(message.Visible())
	fold := messageFold(text)
	return &Block{Gap: true, fold: fold, text: func() string { return text }, lay: func(width int) []draw.TextLine {
		return foldedMessage(l, text, fold, width)
	}}
}

// messageFold returns what collapses a message that is longer than its beginning, by more than
// the line that counts the rest.
func messageFold(text string) *fold {
	long := strings.Count(text, "\n") > linesOfMessage
	return newFold(foldCard, false, func() bool { return long })
}

// foldedMessage draws what the user said, of a collapsed message only the beginning.
func foldedMessage(l *draw.Styles, text string, fold *fold, width int) []draw.TextLine {
	if !fold.turns("") {
		return userMessage(l, text, width)
	}
	shown, rest := text, "all lines"
	if !fold.isOpen() {
		lines := strings.Split(text, "\n")
		shown, rest = strings.Join(lines[:linesOfMessage], "\n"), english.Count(len(lines)-linesOfMessage, "more line")
	}
	return append(userMessage(l, shown, width), draw.TextLine{Text: "  " + l.Faint.Render(l.Cut(rest, width-4)) + fold.sign(l), Lead: 2})
}

// userMessage draws what the user said: on a band of its own, or without colors
// beside a bar.
func userMessage(l *draw.Styles, text string, width int) []draw.TextLine {
	sign, strong, band := l.Accent, l.Strong, l.Theme.Palette.Selection
	if band != nil {
		sign, strong = sign.Background(band), strong.Background(band)
	}
	mark := l.Glyphs.Prompt
	if intent.IsCommandLine(text) {
		mark, text = intent.CommandMark, strings.TrimSpace(strings.TrimPrefix(text, intent.CommandMark))
	}
	lines := draw.Wrapped(text, width-2)
	for i := range lines {
		lead := "  "
		switch {
		case i == 0 && mark == intent.CommandMark:
			lead = mark + " "
		case band == nil:
			lead = l.Glyphs.Cursor + " "
		case i == 0:
			lead = mark + " "
		}
		line := lines[i].Text
		if band != nil {
			line = l.Fit(line, width-2)
		}
		lines[i].Text, lines[i].Lead = sign.Render(lead)+strong.Render(line), 2
	}
	return lines
}

// mentionsBlock returns a block with the attachments of a message, one per line.
func mentionsBlock(l *draw.Styles, mentions []prompt.Mention) *Block {
	return &Block{Draw: func(width int) []string {
		lines := make([]string, len(mentions))
		for i, m := range mentions {
			lines[i] = "  " + l.Accent.Render("@") + " " + l.Muted.Render(l.Cut(wording.MentionWords(m, l.Glyphs.Separator), max(width-4, 1)))
		}
		return lines
	}}
}

// steerBlock returns a block with a message to a running run. If it was
// typed as a command, the block shows only what became of it.
func steerBlock(l *draw.Styles, d event.RunSteered, typed bool) *Block {
	text := d.Text.Visible()
	fold := messageFold(text)
	if typed {
		fold = nil
	}
	return &Block{Gap: !typed, fold: fold, text: func() string { return text }, lay: func(width int) []draw.TextLine {
		var lines []draw.TextLine
		if !typed {
			lines = foldedMessage(l, text, fold, width)
		}
		return append(lines, draw.Led("  ", l.Faint, draw.Wrapped("sent to the current run"+wording.ByWords(d.By), width-2))...)
	}}
}
