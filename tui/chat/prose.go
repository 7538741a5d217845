package chat

import (
	"github.com/charmbracelet/x/ansi"

	"replan/internal/untrusted"
	"replan/tui/draw"
)

// prose makes the blocks of texts in Markdown: one for each part of a text, so that what
// follows does not draw it again.
type prose struct {
	styles   *draw.Styles
	markdown *draw.Markdown
	copying  *codeCopier
	run      string // whose steps the texts name: the one whose goal the chat has shown last
}

func newProse(l *draw.Styles, markdown *draw.Markdown, copying *codeCopier) *prose {
	return &prose{styles: l, markdown: markdown, copying: copying}
}

// isAbout reports whether the chat has shown the goal of a run last.
func (p *prose) isAbout(run string) bool { return p.run == run }

// turnTo makes the texts from now on name the steps of a run.
func (p *prose) turnTo(run string) { p.run = run }

// blocks returns finished Markdown as blocks, one for each part.
func (p *prose) blocks(text untrusted.Text) []*Block { return p.passage(text, false) }

// listing returns Markdown whose code blocks are tables: it cuts their lines
// instead of wrapping them.
func (p *prose) listing(text untrusted.Text) []*Block { return p.passage(text, true) }

// notice is like listing, for what the user should know: the greeting stays above it.
func (p *prose) notice(text untrusted.Text) []*Block {
	blocks := p.listing(text)
	for _, b := range blocks {
		b.asNote()
	}
	return blocks
}

// pieces splits text that is not cleaned before it is drawn, so that its code is
// copied as it came.
func pieces(text untrusted.Text) []piece { return split(string(text)) }

// passage returns the blocks of a text. Code that is cut is not meant to be
// copied.
func (p *prose) passage(text untrusted.Text, cut bool) []*Block {
	var out []*Block
	var code *draw.Code // of the piece before
	for i, part := range pieces(text) {
		begins := !cut && part.code != nil && part.code != code
		out = append(out, p.block(part, begins, cut).withGap(part.gap || i == 0))
		code = part.code
	}
	return out
}

// block returns a block for a finished piece of Markdown. begins means that code that
// can be copied starts in it.
func (p *prose) block(part piece, begins, cut bool) *Block {
	run := p.run
	var codes []*draw.Code
	if begins {
		codes = []*draw.Code{part.code}
	}
	return &Block{Gap: part.gap, of: part.code, codes: codes, text: func() string { return part.text }, lay: func(width int) []draw.TextLine {
		return p.lines(part, run, width, cut)
	}}
}

// lines draws a piece of Markdown, with a mark at the left of the last
// copied code.
func (p *prose) lines(part piece, run string, width int, cut bool) []draw.TextLine {
	if part.code == nil {
		return markCitations(p.styles, p.markdown.Lines(part.text, width), run)
	}
	if part.text == "" {
		return nil
	}
	lines := p.markdown.Code(part.code.Language, part.text, width, cut)
	if p.copying.isMarked(part.code) {
		sign := p.styles.Accent.Render(p.styles.Glyphs.Cursor) + " "
		for i, line := range lines {
			lines[i].Text = sign + ansi.TruncateLeft(line.Text, draw.CodeMargin, "")
		}
	}
	return append(p.label(part, width), lines...)
}

// open draws the pieces of a text that is still being written. colors keeps those of its
// code.
func (p *prose) open(parts []piece, colors *draw.OpenCode, width int) []draw.TextLine {
	var lines []draw.TextLine
	for i, part := range parts {
		if i > 0 && part.gap {
			lines = append(lines, draw.TextLine{})
		}
		if part.code != nil && part.text != "" && !p.copying.isMarked(part.code) {
			lines = append(lines, p.label(part, width)...)
			lines = append(lines, p.markdown.CodeLines(colors.Spans(part.code, part.text), width, false)...)
			continue
		}
		lines = append(lines, p.lines(part, p.run, width, false)...)
	}
	return lines
}

// label draws the language above the first piece of code.
func (p *prose) label(part piece, width int) []draw.TextLine {
	if !part.gap {
		return nil
	}
	return p.markdown.CodeLabel(part.code.Language, width)
}
