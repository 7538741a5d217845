package tui

import (
	"slices"
	"strings"
	"time"

	"replan/tui/untrusted"
)

// thought is what a model thought aloud before it wrote, folded to a line unless
// the user looks into it.
type thought struct {
	parts    []thinkingPart
	began    time.Time     // zero where nobody measured it
	took     time.Duration // 0 where nobody measured it
	live     bool          // it goes on
	unfolded bool
}

// thinkingPart is what was thought in one phase of planning, or for an answer.
type thinkingPart struct {
	of   string // the phase, "" for an answer
	text string
}

// addThought adds to what was thought in one phase.
func addThought(parts []thinkingPart, of, text string) []thinkingPart {
	if n := len(parts); n > 0 && parts[n-1].of == of {
		parts[n-1].text += text
		return parts
	}
	return append(parts, thinkingPart{of, text})
}

// end says that the model has begun to write, or else that no more comes.
func (t *thought) end(at time.Time) {
	if !t.live {
		return
	}
	t.live = false
	t.took += max(at.Sub(t.began), 0)
}

// thinks takes what a model thinks aloud in a phase of planning. Text says that
// it has begun to write.
func (m *Model) thinks(phase int, thinking, text string) {
	t := m.planning
	if thinking != "" {
		if t == nil {
			t = &thought{}
			m.planning, m.thoughts = t, m.chat.thinking(t)
			m.thoughts.gap = false
			m.chat.add(m.thoughts)
		}
		if !t.live {
			t.live, t.began = true, m.run.Now
			m.chat.revive(m.thoughts)
		}
		t.parts = addThought(t.parts, phaseLabels[min(max(phase, 1), len(phaseLabels))-1], thinking)
	}
	if text != "" && t != nil {
		t.end(m.run.Now)
	}
}

// thought takes what a model has thought in a phase that is over, where it did
// not come piece by piece.
func (m *Model) thoughtIn(phase int, thinking string) {
	if t := m.planning; t != nil {
		t.end(m.run.Now)
	}
	label := phaseLabels[min(max(phase, 1), len(phaseLabels))-1]
	if thinking == "" || m.planning != nil && m.planning.in(label) {
		return
	}
	m.thinks(phase, thinking, "")
	m.planning.live = false // nobody measured it
}

// in reports whether something was thought in that phase.
func (t *thought) in(phase string) bool {
	return slices.ContainsFunc(t.parts, func(p thinkingPart) bool { return p.of == phase })
}

// words is how many words were thought.
func (t *thought) words() int {
	n := 0
	for _, p := range t.parts {
		n += len(strings.Fields(p.text))
	}
	return n
}

// folding is what a click or a key folds and unfolds in the chat.
type folding struct {
	turn  func()      // folds or unfolds it
	thing string      // what it is, in a word
	can   func() bool // there is something to unfold
	open  func() bool // it is unfolded
}

// thinking draws what a model thinks: while it goes on its end, afterwards how
// long and how much it was, and unfolded the whole.
func (c *chatPane) thinking(t *thought) *block {
	b := &block{gap: true, live: t.live, until: func() bool { return !t.live }}
	count := -1
	var counted int
	words := func() int {
		size := 0
		for _, p := range t.parts {
			size += len(p.text)
		}
		if size != counted || count < 0 {
			count, counted = t.words(), size
		}
		return count
	}
	b.says = func() string {
		if !t.unfolded {
			return "thinking"
		}
		var all []string
		for _, p := range t.parts {
			all = append(all, strings.TrimSpace(p.text))
		}
		return untrusted.Visible(strings.Join(all, "\n"))
	}
	b.folds = &folding{thing: foldThinking, can: func() bool { return len(t.parts) > 0 }, open: func() bool { return t.unfolded }, turn: func() { t.unfolded = !t.unfolded }}
	b.lay = func(width int) []textLine {
		if len(t.parts) == 0 {
			return nil
		}
		if t.live && !t.unfolded {
			return []textLine{{text: c.thoughtTail(t.parts[len(t.parts)-1].text, width)}}
		}
		l, sign := c.look, c.look.glyphs.Folded
		if t.unfolded {
			sign = l.glyphs.Unfolded
		}
		between := " " + l.glyphs.Separator + " "
		head := sign + " thinking"
		if t.took > 0 {
			head += between + seconds(t.took)
		}
		head += between + plural(words(), "word")
		lines := []textLine{{text: l.Faint.Render(l.cut(head, width)), lead: 2}}
		if t.unfolded {
			lines = append(lines, c.thoughtText(t, width)...)
		}
		return lines
	}
	return b
}

// thoughtText draws the whole of what was thought behind a guide.
func (c *chatPane) thoughtText(t *thought, width int) []textLine {
	l := c.look
	guide := l.Border.Render(l.glyphs.Guide) + " "
	var lines []textLine
	for _, p := range t.parts {
		if p.of != "" && len(t.parts) > 1 {
			lines = append(lines, textLine{text: guide + l.Muted.Render(p.of), lead: 2})
		}
		for _, line := range wrapped(untrusted.Visible(strings.TrimSpace(p.text)), max(width-2, 1)) {
			lines = append(lines, textLine{text: guide + l.Faint.Render(line.text), lead: 2, join: line.join})
		}
	}
	return lines
}

// thoughtTail is the end of what the model thinks aloud, on one line.
func (c *chatPane) thoughtTail(text string, width int) string {
	const lead = "  thinking: "
	const tail = 400 // bytes; more than fits on any line
	if len(text) > tail {
		text = strings.ToValidUTF8(text[len(text)-tail:], "")
	}
	return c.look.Faint.Render(lead + c.look.cutLeft(untrusted.Line(text), width-len(lead)))
}

// foldNewest folds or unfolds the newest thing of a kind that is in view, else
// the newest of all; "" is any kind. It reports whether there is one.
func (c *chatPane) foldNewest(thing string) bool {
	c.lines()
	for i := len(c.shown) - 1; i >= 0; i-- {
		if at := c.shown[i].block; at >= 0 && c.blocks[at].foldable(thing) {
			c.turnFold(at)
			return true
		}
	}
	for at := len(c.blocks) - 1; at >= 0; at-- {
		if c.blocks[at].foldable(thing) {
			c.turnFold(at)
			c.show(spot{at, 0})
			return true
		}
	}
	return false
}

// turnFold folds or unfolds a block. What stands above it stays where it is.
func (c *chatPane) turnFold(at int) {
	b := c.blocks[at]
	if !b.foldable("") {
		return
	}
	top := c.first()
	b.folds.turn()
	b.stale, b.looked = true, false
	c.find.changed()
	if top.block <= at {
		c.away, c.top = true, top
		if top.block == at {
			c.top.line = min(top.line, len(c.linesOf(at))-1)
		}
	}
	c.drawn = false
}

// foldThinking folds or unfolds what a model thought aloud.
func (m *Model) foldThinking() { m.chat.foldNewest(foldThinking) }

// hasFold reports whether there is something of a kind to fold or unfold.
func (c *chatPane) hasFold(thing string) bool {
	return slices.ContainsFunc(c.blocks, func(b *block) bool { return b.foldable(thing) })
}

// foldAll unfolds everything of a kind, or where all of it is unfolded folds it.
func (c *chatPane) foldAll(thing string) {
	folded := slices.ContainsFunc(c.blocks, func(b *block) bool { return b.foldable(thing) && !b.folds.open() })
	for i, b := range c.blocks {
		if b.foldable(thing) && b.folds.open() != folded {
			c.turnFold(i)
		}
	}
}

// foldable reports whether a block is of a kind that can be folded and unfolded;
// "" is any.
func (b *block) foldable(thing string) bool {
	return b.folds != nil && (thing == "" || b.folds.thing == thing) && b.folds.can()
}
