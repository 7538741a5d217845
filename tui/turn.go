package tui

import (
	"slices"
	"strings"

	"replan/tui/untrusted"
)

// turn is one reply that a model writes into the chat: the answer, or what it
// says before it calls tools.
type turn struct {
	text    string
	written strings.Builder // the same, as it came
	thought *thought        // what it thought before, nil where it said nothing of that
	done    bool

	split  *splitter
	blocks []*block // the finished parts of the text, and at the end what is open
}

// openTurn is the turn that is being written. One that is done is followed by
// another, which begins in the chat where the first of it arrives.
func (m *Model) openTurn() *turn {
	if m.turn == nil || m.turn.done {
		m.turn = &turn{split: &splitter{}}
	}
	return m.turn
}

// writes takes what a model has written of a turn, and what it has thought.
func (m *Model) writes(text, thinking string) {
	t := m.openTurn()
	if thinking != "" {
		if t.thought == nil {
			t.thought = &thought{began: m.run.Now, live: true}
			m.chat.add(m.chat.thinking(t.thought))
		}
		t.thought.parts = addThought(t.thought.parts, "", thinking)
	}
	if text != "" {
		if t.thought != nil && t.thought.live {
			t.thought.end(m.run.Now)
		}
		t.written.WriteString(text)
		t.text = t.written.String()
		m.chat.flow(t)
	}
	m.chat.touch()
}

// closeTurn ends a turn with all that was written in it.
func (m *Model) closeTurn(text, thinking string) {
	if text == "" && thinking == "" && (m.turn == nil || m.turn.done) {
		return
	}
	t := m.openTurn()
	if thinking != "" && t.thought == nil && len(t.blocks) == 0 {
		t.thought = &thought{parts: addThought(nil, "", thinking)}
		m.chat.add(m.chat.thinking(t.thought))
	}
	if t.thought != nil {
		t.thought.end(m.run.Now)
	}
	if text != "" && text != t.text {
		if !strings.HasPrefix(text, t.text) {
			m.chat.unsay(t)
		}
		t.text = text
	}
	t.done = true
	m.chat.flow(t)
	m.chat.touch()
}

// flow puts into the chat what has come of a turn: a block for each part that is
// finished, which is drawn once, and one for what is open. Of a turn that is done
// nothing is open.
func (c *chatPane) flow(t *turn) {
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
	var open *block
	if known > 0 {
		open = t.blocks[len(t.blocks)-1]
		t.blocks = t.blocks[:len(t.blocks)-1]
	}
	var fresh []*block
	for i, p := range finished {
		b := c.pieceBlock(p, false)
		if before+i == 0 {
			b.gap = true
		}
		if p.code != nil && !t.has(p.code) {
			b.codes = []*code{p.code}
		}
		fresh = append(fresh, b)
		t.blocks = append(t.blocks, b)
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
		c.add(fresh...)
		open = &block{live: true, until: func() bool { return t.done }}
		c.open(t, open, rest)
		c.add(open)
	default:
		c.add(fresh...)
	}
}

// insetLike makes blocks stand as deep as another.
func (c *chatPane) insetLike(as *block, blocks []*block) []*block {
	for _, b := range blocks {
		b.inset = as.inset
	}
	return blocks
}

// has reports whether a block of the turn begins that code.
func (t *turn) has(c *code) bool {
	return slices.ContainsFunc(t.blocks, func(b *block) bool { return slices.Contains(b.codes, c) })
}

// open makes a block draw what is open of a turn.
func (c *chatPane) open(t *turn, b *block, rest []piece) {
	colours := &openCode{}
	if b.opened != nil {
		colours = b.opened
	}
	b.opened = colours
	b.gap = len(t.blocks) == 0 || rest[0].gap
	b.codes = nil
	for _, p := range rest {
		if p.code != nil && !t.has(p.code) && !slices.Contains(b.codes, p.code) {
			b.codes = append(b.codes, p.code)
		}
	}
	b.stale, c.drawn = true, false
	b.says = func() string { return t.text[t.split.begin:] }
	b.lay = func(width int) []textLine {
		var lines []textLine
		for i, p := range rest {
			if i > 0 && p.gap {
				lines = append(lines, textLine{})
			}
			if p.code != nil && p.text != "" && c.marked != p.code {
				lines = append(lines, c.markdown.codeLines(colours.spans(p.code, p.text), width, false)...)
				continue
			}
			lines = append(lines, c.layPiece(p, width, false)...)
		}
		return lines
	}
	t.blocks = append(t.blocks, b)
	c.find.changed()
}

// unsay takes what was written of a turn out of the chat.
func (c *chatPane) unsay(t *turn) {
	for _, b := range t.blocks {
		c.remove(b)
	}
	t.blocks, t.split = nil, &splitter{}
}

// placeOf is where a block stands. It is one of the newest.
func (c *chatPane) placeOf(b *block) int {
	for i := len(c.blocks) - 1; i >= 0; i-- {
		if c.blocks[i] == b {
			return i
		}
	}
	return len(c.blocks)
}

// remove takes a block out of the chat.
func (c *chatPane) remove(b *block) {
	at := c.placeOf(b)
	if at == len(c.blocks) {
		return
	}
	c.kept -= len(b.lines)
	c.blocks = slices.Delete(c.blocks, at, at+1)
	c.live = slices.DeleteFunc(c.live, func(l *block) bool { return l == b })
	c.shift(at, -1)
	c.find.changed()
	c.drawn = false
}

// steered draws what the user said to a run that goes on, or where that was typed
// as a command, what became of it.
func (c *chatPane) steered(text string, typed bool) *block {
	text = untrusted.Visible(text)
	return &block{gap: !typed, says: func() string { return text }, lay: func(width int) []textLine {
		l := c.look
		var lines []textLine
		if !typed {
			lines = led(l.Accent.Render(l.glyphs.Prompt)+" ", l.Strong, wrapped(text, width-2))
		}
		return append(lines, led("  ", l.Faint, wrapped("said to the run that goes on", width-2))...)
	}}
}
