package chat

import (
	"slices"
	"strings"

	"replan/agent/event"
	"replan/tui/draw"
	"replan/tui/wording"
)

// turn is one reply that a model writes into the chat: the answer, or text
// before tool calls.
type turn struct {
	text    string
	done    bool
	inset   bool            // belongs to a run that a call in the chat started
	written strings.Builder // text, as received
	thought *thought        // thinking before the text, nil for none

	split  *splitter
	blocks []*Block // finished parts of the text, and the open part at the end
}

// flow shows the text of a turn received so far: one block per finished part,
// drawn once, and one for the open part. A completed turn has no open part.
func (c *Pane) flow(t *turn) {
	if t.split == nil {
		t.split = &splitter{}
	}
	before := len(t.split.pieces)
	t.split.feed(t.text)
	rest := t.split.rest(t.text)
	finished := t.split.pieces[before:]
	if t.done {
		finished, rest = append(slices.Clone(finished), rest...), nil
	}
	known := len(t.blocks) - before // the open one, if any
	var open *Block
	if known > 0 {
		open = t.blocks[len(t.blocks)-1]
		t.blocks = t.blocks[:len(t.blocks)-1]
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
		t.blocks = append(t.blocks, b)
	}
	switch {
	case open != nil:
		at := c.placeOf(open)
		for _, b := range fresh {
			b.inset = t.inset
		}
		c.insert(at, fresh...)
		if len(rest) > 0 {
			c.open(t, open, rest)
			return
		}
		c.remove(open)
	case len(rest) > 0:
		c.add(t.inset, fresh...)
		open = &Block{live: true, until: func() bool { return t.done }}
		c.open(t, open, rest)
		c.add(t.inset, open)
	default:
		c.add(t.inset, fresh...)
	}
}

// has reports whether that code starts in a block of the turn.
func (t *turn) has(c *draw.Code) bool {
	return slices.ContainsFunc(t.blocks, func(b *Block) bool { return slices.Contains(b.codes, c) })
}

// open adds a block for the open part of a turn.
func (c *Pane) open(t *turn, b *Block, rest []piece) {
	colors := &draw.OpenCode{}
	if b.opened != nil {
		colors = b.opened
	}
	b.opened = colors
	b.Gap = len(t.blocks) == 0 || rest[0].gap
	b.codes = nil
	for _, p := range rest {
		if p.code != nil && !t.has(p.code) && !slices.Contains(b.codes, p.code) {
			b.codes = append(b.codes, p.code)
		}
	}
	b.stale, c.drawn = true, false
	b.text = func() string { return t.text[t.split.begin:] }
	b.lay = func(width int) []draw.TextLine {
		var lines []draw.TextLine
		for i, p := range rest {
			if i > 0 && p.gap {
				lines = append(lines, draw.TextLine{})
			}
			if p.code != nil && p.text != "" && c.copying.marked != p.code {
				lines = append(lines, c.codeLabel(p, width)...)
				lines = append(lines, c.Markdown.CodeLines(colors.Spans(p.code, p.text), width, false)...)
				continue
			}
			lines = append(lines, c.layPiece(p, c.goalOf, width, false)...)
		}
		return lines
	}
	t.blocks = append(t.blocks, b)
	c.edition++
}

// removeTurn removes the text of a turn from the chat.
func (c *Pane) removeTurn(t *turn) {
	for _, b := range t.blocks {
		c.remove(b)
	}
	t.blocks, t.split = nil, &splitter{}
}

// steered returns a block with a message to a running run. If it was
// typed as a command, the block shows only what became of it.
func (c *Pane) steered(d event.RunSteered, typed bool) *Block {
	text := d.Text.Visible()
	return &Block{Gap: !typed, text: func() string { return text }, lay: func(width int) []draw.TextLine {
		l := c.Styles
		var lines []draw.TextLine
		if !typed {
			lines = c.userMessage(text, width)
		}
		return append(lines, draw.Led("  ", l.Faint, draw.Wrapped("sent to the current run"+wording.ByWords(d.By), width-2))...)
	}}
}
