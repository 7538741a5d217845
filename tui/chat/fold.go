package chat

import "replan/tui/draw"

// Kinds of blocks that collapse in the chat.
const (
	foldThinking = "thinking"
	foldCard     = "card"
)

// fold is what a click or a key expands and collapses in the chat.
type fold struct {
	kind string      // what it holds, in a word
	can  func() bool // reports whether there is something to expand
	open bool
}

// newFold returns a fold, expanded if open.
func newFold(kind string, open bool, can func() bool) *fold {
	return &fold{kind: kind, open: open, can: can}
}

// isOpen reports whether the fold is expanded.
func (f *fold) isOpen() bool { return f.open }

// turn expands or collapses the fold.
func (f *fold) turn() { f.open = !f.open }

// turns reports whether the fold is of that kind and has something to expand; "" means any
// kind.
func (f *fold) turns(kind string) bool { return (kind == "" || f.kind == kind) && f.can() }

// glyph returns the glyph of the expanded or collapsed fold.
func (f *fold) glyph(l *draw.Styles) string {
	if f.open {
		return l.Glyphs.Unfolded
	}
	return l.Glyphs.Folded
}

// sign returns the glyph as it follows a title.
func (f *fold) sign(l *draw.Styles) string { return " " + l.Faint.Render(f.glyph(l)) }
