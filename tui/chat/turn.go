package chat

import (
	"slices"
	"strings"

	"replan/internal/untrusted"
	"replan/tui/draw"
)

// Turn is one reply that a model writes into the chat: the answer, or text
// before tool calls.
type Turn struct {
	Text    string
	Written strings.Builder // the same, as received
	Thought *Thought        // thinking before the text, nil for none
	Done    bool

	Split  *Splitter
	Blocks []*Block // finished parts of the text, and the open part at the end
}

// Flow shows the text of a turn received so far: one block per finished part,
// drawn once, and one for the open part. A completed turn has no open part.
func (c *Pane) Flow(t *Turn) {
	if t.Split == nil {
		t.Split = &Splitter{}
	}
	before := len(t.Split.pieces)
	t.Split.feed(t.Text)
	rest := t.Split.rest(t.Text)
	finished := t.Split.pieces[before:]
	if t.Done {
		finished, rest = append(slices.Clone(finished), rest...), nil
	}
	known := len(t.Blocks) - before // the open one, if any
	var open *Block
	if known > 0 {
		open = t.Blocks[len(t.Blocks)-1]
		t.Blocks = t.Blocks[:len(t.Blocks)-1]
	}
	var fresh []*Block
	for i, p := range finished {
		b := c.pieceBlock(p, false)
		if before+i == 0 {
			b.Gap = true
		}
		if p.code != nil && !t.has(p.code) {
			b.codes = []*draw.Code{p.code}
		}
		fresh = append(fresh, b)
		t.Blocks = append(t.Blocks, b)
	}
	switch {
	case open != nil:
		at := c.placeOf(open)
		c.insert(at, c.insetLike(open, fresh)...)
		if len(rest) > 0 {
			c.open(t, open, rest)
			return
		}
		c.remove(open)
	case len(rest) > 0:
		c.Add(fresh...)
		open = &Block{live: true, until: func() bool { return t.Done }}
		c.open(t, open, rest)
		c.Add(open)
	default:
		c.Add(fresh...)
	}
}

// insetLike gives blocks the depth of another.
func (c *Pane) insetLike(as *Block, blocks []*Block) []*Block {
	for _, b := range blocks {
		b.inset = as.inset
	}
	return blocks
}

// has reports whether that code starts in a block of the turn.
func (t *Turn) has(c *draw.Code) bool {
	return slices.ContainsFunc(t.Blocks, func(b *Block) bool { return slices.Contains(b.codes, c) })
}

// open adds a block for the open part of a turn.
func (c *Pane) open(t *Turn, b *Block, rest []piece) {
	colours := &draw.OpenCode{}
	if b.opened != nil {
		colours = b.opened
	}
	b.opened = colours
	b.Gap = len(t.Blocks) == 0 || rest[0].gap
	b.codes = nil
	for _, p := range rest {
		if p.code != nil && !t.has(p.code) && !slices.Contains(b.codes, p.code) {
			b.codes = append(b.codes, p.code)
		}
	}
	b.stale, c.drawn = true, false
	b.says = func() string { return t.Text[t.Split.begin:] }
	b.lay = func(width int) []draw.TextLine {
		var lines []draw.TextLine
		for i, p := range rest {
			if i > 0 && p.gap {
				lines = append(lines, draw.TextLine{})
			}
			if p.code != nil && p.text != "" && c.marked != p.code {
				lines = append(lines, c.Markdown.CodeLines(colours.Spans(p.code, p.text), width, false)...)
				continue
			}
			lines = append(lines, c.layPiece(p, width, false)...)
		}
		return lines
	}
	t.Blocks = append(t.Blocks, b)
	c.Find.changed()
}

// Unsay removes the text of a turn from the chat.
func (c *Pane) Unsay(t *Turn) {
	for _, b := range t.Blocks {
		c.remove(b)
	}
	t.Blocks, t.Split = nil, &Splitter{}
}

// placeOf returns the index of a block, which is one of the newest.
func (c *Pane) placeOf(b *Block) int {
	for i := len(c.Blocks) - 1; i >= 0; i-- {
		if c.Blocks[i] == b {
			return i
		}
	}
	return len(c.Blocks)
}

// remove removes a block from the chat.
func (c *Pane) remove(b *Block) {
	at := c.placeOf(b)
	if at == len(c.Blocks) {
		return
	}
	c.kept -= len(b.lines)
	c.Blocks = slices.Delete(c.Blocks, at, at+1)
	c.live = slices.DeleteFunc(c.live, func(l *Block) bool { return l == b })
	c.shift(at, -1)
	c.Find.changed()
	c.drawn = false
}

// Steered returns a block with the user's message to a running run. If it was
// typed as a command, the block shows only what became of it.
func (c *Pane) Steered(text string, typed bool) *Block {
	text = untrusted.Visible(text)
	return &Block{Gap: !typed, says: func() string { return text }, lay: func(width int) []draw.TextLine {
		l := c.Look
		var lines []draw.TextLine
		if !typed {
			lines = draw.Led(l.Accent.Render(l.Glyphs.Prompt)+" ", l.Strong, draw.Wrapped(text, width-2))
		}
		return append(lines, draw.Led("  ", l.Faint, draw.Wrapped("said to the run that goes on", width-2))...)
	}}
}
