package chat

import (
	"slices"
	"strings"

	"replan/tui/draw"
)

// Block is one entry of the chat. It keeps its lines until it or the width
// changes.
type Block struct {
	Draw  func(width int) []string        // returns its lines
	lay   func(width int) []draw.TextLine // like Draw, for blocks that know which part is text; Draw is nil then
	text  func() string                   // its text for the search; nil searches the drawn lines
	codes []*draw.Code                    // code blocks that start in it
	of    *draw.Code                      // code it is a part of, nil for none
	fold  *fold                           // what a click or a key expands and collapses; nil for nothing
	Gap   bool                            // blank line before it
	inset bool                            // belongs to a run started by a call in the chat
	card  bool                            // shows a call
	note  bool                            // what the user should know; the greeting stays above it
	live  bool                            // still changing: drawn again on every beat and event
	until func() bool                     // for a live block: reports whether it is final; nil if it changes until the run ends

	lines  []draw.TextLine // valid if fresh
	height int             // number of lines, now or at the last width
	width  int
	fresh  bool
	stale  bool
	found  findings
}

// Typeset draws the block.
func (b *Block) Typeset(width int) []draw.TextLine {
	if b.lay != nil {
		return b.lay(width)
	}
	return draw.Set(b.Draw(width))
}

// linesAt returns the lines of the block in a chat of that width, including its gap unless
// it is the first one. It also returns how many more lines the block keeps than before.
func (b *Block) linesAt(l *draw.Styles, width int, first bool) (lines []draw.TextLine, more int) {
	if b.fresh && !b.stale && b.width == width {
		return b.lines, 0
	}
	if b.inset {
		lines = guided(l, b.Typeset(width-2))
	} else {
		lines = b.Typeset(width)
	}
	if b.Gap && !b.inset && !first && len(lines) > 0 {
		lines = append([]draw.TextLine{{}}, lines...)
	}
	if b.stale || b.width != width {
		b.found.forgetPlaces()
	}
	more = len(lines) - len(b.lines)
	b.lines, b.height, b.width, b.fresh, b.stale = lines, len(lines), width, true, false
	return lines, more
}

// guided draws lines below the card of the call they belong to.
func guided(l *draw.Styles, lines []draw.TextLine) []draw.TextLine {
	guide := l.Border.Render(l.Glyphs.Guide) + " "
	out := make([]draw.TextLine, len(lines))
	for i, line := range lines {
		out[i] = draw.TextLine{Text: guide + line.Text, Lead: line.Lead + 2, Join: line.Join}
	}
	return out
}

// heightAt returns the number of lines at a width, and whether it is exact.
func (b *Block) heightAt(width int) (lines int, known bool) {
	if b.width == width && !b.stale {
		return b.height, true
	}
	return b.guess(width), false
}

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

// kept returns the number of lines that the block keeps.
func (b *Block) kept() int { return len(b.lines) }

// Forget drops the kept lines.
func (b *Block) Forget() {
	b.lines, b.fresh = nil, false
	b.found.forgetPlaces()
}

// forgetSize drops the kept lines and their width, for a new theme.
func (b *Block) forgetSize() {
	b.Forget()
	b.width = 0
}

// repaint draws the same text again when the block is next in view.
func (b *Block) repaint() { b.fresh = false }

// enter tells the block whether it belongs to a run that a call in the chat started. It
// reports whether the block still changes.
func (b *Block) enter(inset bool) (live bool) {
	b.inset = inset
	return b.live
}

// change marks what the block shows as changed.
func (b *Block) change() {
	b.stale = true
	b.found.forgetText()
}

// beat marks a live block as changed. It reports whether the block may change again.
func (b *Block) beat() (live bool) {
	b.change()
	b.live = b.until == nil || !b.until()
	return b.live
}

// revive makes the block change again.
func (b *Block) revive() { b.live, b.stale = true, true }

// settle draws the block of a run for the last time. It reports whether it is settled: with
// an inset run, the card of the call that started it stays live.
func (b *Block) settle(inset bool) bool {
	if inset && !b.inset {
		return false
	}
	b.live = false
	b.change()
	return true
}

// rewrite replaces what an open block shows.
func (b *Block) rewrite(gap bool, codes []*draw.Code, lay func(width int) []draw.TextLine) {
	b.Gap, b.codes, b.lay, b.stale = gap, codes, lay, true
}

// withGap puts a blank line before the block, or none, and returns the block.
func (b *Block) withGap(is bool) *Block {
	b.Gap = is
	return b
}

// asNote marks the block as what the user should know, and returns it.
func (b *Block) asNote() *Block {
	b.note = true
	return b
}

// isNote reports whether the block shows what the user should know.
func (b *Block) isNote() bool { return b.note }

// isCard reports whether the block shows a call.
func (b *Block) isCard() bool { return b.card }

// written returns the code blocks that start in the block and have text.
func (b *Block) written() []*draw.Code {
	var out []*draw.Code
	for _, code := range b.codes {
		if code.Text != "" {
			out = append(out, code)
		}
	}
	return out
}

// begins reports whether code starts in the block.
func (b *Block) begins(c *draw.Code) bool { return c != nil && slices.Contains(b.codes, c) }

// continues reports whether the block is a part of code.
func (b *Block) continues(c *draw.Code) bool { return c != nil && b.of == c }

// folds reports whether the block is of that kind and can expand or collapse; "" means any
// kind.
func (b *Block) folds(kind string) bool { return b.fold != nil && b.fold.turns(kind) }

// isOpen reports whether the block is expanded.
func (b *Block) isOpen() bool { return b.fold != nil && b.fold.isOpen() }

// turn expands or collapses the block.
func (b *Block) turn() {
	b.fold.turn()
	b.change()
}
