package chat

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/story"
	"replan/tui/wording"
)

// Block is one entry of the chat. The pane caches its lines until the block or
// the width changes.
type Block struct {
	Draw  func(width int) []string        // returns its lines
	lay   func(width int) []draw.TextLine // like Draw, for blocks that know which part is text; Draw is nil then
	text  func() string                   // its text for the search; nil searches the drawn lines
	codes []*draw.Code                    // code blocks that start in it
	of    *draw.Code                      // code it is a part of, nil for none
	folds *folding                        // what a click or a key expands and collapses; nil for nothing
	Gap   bool                            // blank line before it
	inset bool                            // belongs to a run started by a call in the chat
	card  bool                            // shows a call
	note  bool                            // what the user should know; the greeting stays above it
	live  bool                            // still changing: drawn again on every beat and event
	until func() bool                     // for a live block: reports whether it is final; nil if it changes until the run ends

	opened  *draw.OpenCode  // for a block that is still being written
	lines   []draw.TextLine // valid if fresh
	height  int             // number of lines, now or at the last width
	width   int
	fresh   bool
	stale   bool
	plain   string // its text, normalized for the search
	looked  bool   // plain is valid
	counted int    // query that hits belongs to
	hits    int    // matches in its text
	found   []lit  // matches in its lines
	foundBy int    // query that found belongs to
}

// Typeset draws the block.
func (b *Block) Typeset(width int) []draw.TextLine {
	if b.lay != nil {
		return b.lay(width)
	}
	return draw.Set(b.Draw(width))
}

// Forget drops the cached lines.
func (b *Block) Forget() { b.lines, b.found, b.fresh = nil, nil, false }

// guess estimates the block's number of lines at a width it was not drawn at
// yet.
func (b *Block) guess(width int) int {
	n := b.height
	if n > 0 && b.width > 0 && width > 0 {
		n = max(n*b.width/width, 1)
	}
	if n == 0 && b.text != nil && width > 0 {
		text := b.text()
		n = 1 + strings.Count(text, "\n") + len(text)/width
	}
	return max(n, 1)
}

// prose returns finished Markdown as blocks, one for each part.
func (c *Pane) prose(text untrusted.Text) []*Block { return c.passageBlocks(pieces(text), false) }

// Listing returns Markdown whose code blocks are tables: it cuts their lines
// instead of wrapping them.
func (c *Pane) Listing(text untrusted.Text) []*Block { return c.passageBlocks(pieces(text), true) }

// Notice is like Listing, for what the user should know: the greeting stays above it.
func (c *Pane) Notice(text untrusted.Text) []*Block {
	blocks := c.Listing(text)
	for _, b := range blocks {
		b.note = true
	}
	return blocks
}

// pieces splits text that is not cleaned before it is drawn, so that its code is
// copied as it came.
func pieces(text untrusted.Text) []piece { return split(string(text)) }

// passageBlocks returns the blocks of a text. Code that is cut is not meant to
// be copied.
func (c *Pane) passageBlocks(passage []piece, cut bool) []*Block {
	var out []*Block
	for i, p := range passage {
		b := c.pieceBlock(p, cut)
		if i == 0 {
			b.Gap = true
		}
		if !cut && p.code != nil && (i == 0 || passage[i-1].code != p.code) {
			b.codes = []*draw.Code{p.code}
		}
		out = append(out, b)
	}
	return out
}

// pieceBlock returns a block for a finished piece of Markdown.
func (c *Pane) pieceBlock(p piece, cut bool) *Block {
	run := c.goalOf
	return &Block{Gap: p.gap, of: p.code, text: func() string { return p.text }, lay: func(width int) []draw.TextLine {
		return c.layPiece(p, run, width, cut)
	}}
}

// layPiece draws a piece of Markdown, with a mark at the left of the last
// copied code.
func (c *Pane) layPiece(p piece, run string, width int, cut bool) []draw.TextLine {
	if p.code == nil {
		return c.markCitations(c.Markdown.Lines(p.text, width), run)
	}
	if p.text == "" {
		return nil
	}
	lines := c.Markdown.Code(p.code.Language, p.text, width, cut)
	if c.copying.marked == p.code {
		sign := c.Styles.Accent.Render(c.Styles.Glyphs.Cursor) + " "
		for i, line := range lines {
			lines[i].Text = sign + ansi.TruncateLeft(line.Text, draw.CodeMargin, "")
		}
	}
	return append(c.codeLabel(p, width), lines...)
}

// codeLabel draws the language above the first piece of code.
func (c *Pane) codeLabel(p piece, width int) []draw.TextLine {
	if !p.gap {
		return nil
	}
	return c.Markdown.CodeLabel(p.code.Language, width)
}

// remark returns a block for an event, with a glyph before its text.
func (c *Pane) remark(glyph func(*draw.Styles) string, style func(*draw.Styles) lipgloss.Style, text string) *Block {
	text = untrusted.Visible(strings.TrimSpace(text))
	return c.remarkOf(glyph, style, func() string { return text })
}

// remarkOf is like remark for a text that may change.
func (c *Pane) remarkOf(glyph func(*draw.Styles) string, style func(*draw.Styles) lipgloss.Style, text func() string) *Block {
	return &Block{text: text, lay: func(width int) []draw.TextLine {
		return draw.Led(style(c.Styles).Render(glyph(c.Styles))+" ", c.Styles.Muted, draw.Wrapped(text(), width-2))
	}}
}

// Note returns a block with something the user should know.
func (c *Pane) Note(level, text string) *Block {
	var b *Block
	switch level {
	case "error":
		b = c.remark(failedGlyph, dangerStyle, text)
	case "warn":
		b = c.remark(warningGlyph, warningStyle, text)
	default:
		b = c.remark(separatorGlyph, faintStyle, text)
	}
	b.note = true
	return b
}

// revision returns a block with the changes of a replan. If failureShown, the
// chat already shows the failure that caused it.
func (c *Pane) revision(d event.PlanDiff, failureShown bool) *Block {
	l := c.Styles
	reason := wording.Cause(d.Reason)
	return &Block{Gap: !failureShown, Draw: func(width int) []string {
		parts := []string{l.Accent.Render(fmt.Sprintf("%s rev %d", l.Glyphs.Revised, d.Revision))}
		if n := len(d.Removed); n > 0 {
			parts = append(parts, l.Removed.Render(fmt.Sprintf("%s%d removed", l.Glyphs.Removed, n)))
		}
		if n := len(d.Added); n > 0 {
			parts = append(parts, l.Added.Render(fmt.Sprintf("%s%d added", l.Glyphs.Added, n)))
		}
		if n := len(d.Revised); n > 0 {
			parts = append(parts, l.Warning.Render(fmt.Sprintf("%s%d revised", l.Glyphs.Revised, n)))
		}
		lines := draw.Flow(parts, "  ", width)
		if reason != "" && !failureShown {
			lines = append(lines, draw.Aside(l.Muted, "because "+reason, width)...)
		}
		return lines
	}}
}

// told returns a block with the words of an entry.
func (c *Pane) told(e story.Entry) *Block {
	switch {
	case e.Kind == story.Granted && e.Level == story.Warn:
		return c.remark(gateGlyph, warningStyle, e.Words+" "+c.Styles.Glyphs.Separator+" untrusted text")
	case e.Kind == story.Granted:
		return c.remark(gateGlyph, faintStyle, e.Words)
	case e.Kind == story.Accepted && e.Level != story.Done:
		return c.remark(func(l *draw.Styles) string { return l.Glyphs.Unchecked }, warningStyle, e.Words)
	}
	switch e.Level {
	case story.Done:
		return c.remark(doneGlyph, successStyle, e.Words)
	case story.Failed:
		return c.remark(failedGlyph, dangerStyle, e.Words)
	case story.Asks:
		return c.remark(gateGlyph, warningStyle, e.Words)
	case story.Decision:
		return c.remark(separatorGlyph, faintStyle, e.Words)
	case story.Fatal:
		return c.Note("error", e.Words)
	case story.Trouble, story.Warn, story.Doubt:
		return c.Note("warn", e.Words)
	default:
		return c.Note("info", e.Words)
	}
}

// outcome returns a block with how a run ended. again says what a resume of the run does; it
// is "" if the run cannot be resumed, or only together with the run that started it.
func (c *Pane) outcome(e *story.Ending, again string) *Block {
	l, r := c.Styles, &e.Result
	return &Block{Gap: r.Status != event.StatusCompleted || r.Answer != "", Draw: func(width int) []string {
		duration := wording.ClockTime(time.Duration(r.DurationMS) * time.Millisecond)
		facts := []string{duration}
		if e.Steps != "" {
			facts = append(facts, e.Steps)
		}
		if r.Usage.Replans > 0 {
			facts = append(facts, english.Count(r.Usage.Replans, "replan"))
		}
		if n := r.Usage.PromptTokens + r.Usage.CompletionTokens; n > 0 {
			facts = append(facts, wording.Tokens(n)+" tok")
		}
		if e.Evidence != "" {
			facts = append(facts, e.Evidence)
		}
		tail := l.Faint.Render(strings.Join(facts, " "+l.Glyphs.Separator+" "))
		switch r.Status {
		case event.StatusCompleted:
			sign := l.Success.Render(l.Glyphs.Done)
			if r.Reason == event.ReasonPartial {
				sign = l.Warning.Render(l.Glyphs.Partial)
			}
			if r.Reason.Nothing() {
				sign = l.Muted.Render(l.Glyphs.Separator)
			}
			lines := draw.Flow([]string{sign + " " + e.Word, tail}, "  ", width)
			if r.Unanswered == "" {
				return lines
			}
			why := strings.TrimSpace("The answer is missing: " + r.Unanswered.Line() + ". " + again)
			return append(lines, draw.Aside(l.Muted, why, width)...)
		case event.StatusCancelled:
			words := "stopped"
			if why := r.Error.Line(); strings.HasPrefix(why, words) && why != "stopped by the user" { // by another, or with its worker
				words = why
			}
			lines := draw.Flow([]string{l.Warning.Render(l.Glyphs.Stopped) + " " + words, tail}, "  ", width)
			if again == "" {
				return lines
			}
			return append(lines, draw.Aside(l.Muted, again, width)...)
		default:
			lines := draw.Wrap(e.Word, width-2)
			last := len(lines) - 1
			lines = append(lines[:last], draw.Flow([]string{lines[last], tail}, "  ", width-2)...)
			lines = draw.Hang(l.Danger.Render(l.Glyphs.Failed)+" ", lines)
			if r.Error != "" {
				lines = append(lines, draw.Aside(l.Muted, r.Error.Visible(), width)...)
			}
			return lines
		}
	}}
}

// doneGlyph returns the glyph of success.
func doneGlyph(l *draw.Styles) string { return l.Glyphs.Done }

// failedGlyph returns the glyph of a failure.
func failedGlyph(l *draw.Styles) string  { return l.Glyphs.Failed }
func warningGlyph(l *draw.Styles) string { return l.Glyphs.Warning }

// separatorGlyph returns the glyph between two parts of a line.
func separatorGlyph(l *draw.Styles) string { return l.Glyphs.Separator }

// gateGlyph returns the glyph of a gate.
func gateGlyph(l *draw.Styles) string { return l.Glyphs.Gate }

// successStyle returns the style of a success.
func successStyle(l *draw.Styles) lipgloss.Style { return l.Success }

// dangerStyle returns the style of a failure.
func dangerStyle(l *draw.Styles) lipgloss.Style { return l.Danger }

// warningStyle returns the style of a warning.
func warningStyle(l *draw.Styles) lipgloss.Style { return l.Warning }

// faintStyle returns the style of the least important text.
func faintStyle(l *draw.Styles) lipgloss.Style { return l.Faint }
