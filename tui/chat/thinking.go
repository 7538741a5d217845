package chat

import (
	"slices"
	"strings"
	"time"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/telling"
)

// Thought is what a model thought before it wrote, collapsed to a line unless
// the user expands it.
type Thought struct {
	Parts    []ThinkingPart
	Began    time.Time     // zero if not measured
	took     time.Duration // 0 if not measured
	Live     bool          // still in progress
	unfolded bool
}

// ThinkingPart is the thinking of one planning phase, or before an answer.
type ThinkingPart struct {
	of   string // the phase, "" for an answer
	text string
}

// AddThought appends text to the thinking of a phase.
func AddThought(parts []ThinkingPart, of, text string) []ThinkingPart {
	if n := len(parts); n > 0 && parts[n-1].of == of {
		parts[n-1].text += text
		return parts
	}
	return append(parts, ThinkingPart{of, text})
}

// End records that the model started to write, or that no more thinking
// follows.
func (t *Thought) End(at time.Time) {
	if !t.Live {
		return
	}
	t.Live = false
	t.took += max(at.Sub(t.Began), 0)
}

// In reports whether the model thought in that phase.
func (t *Thought) In(phase string) bool {
	return slices.ContainsFunc(t.Parts, func(p ThinkingPart) bool { return p.of == phase })
}

// words returns the number of words of the thinking.
func (t *Thought) words() int {
	n := 0
	for _, p := range t.Parts {
		n += len(strings.Fields(p.text))
	}
	return n
}

// folding is what a click or a key expands and collapses in the chat.
type folding struct {
	turn  func()      // expands or collapses it
	thing string      // its kind, in a word
	can   func() bool // reports whether there is something to expand
	open  func() bool // reports whether it is expanded
}

// Thinking returns a block with a model's thinking: its end while in progress,
// then its duration and length. Expanded, it shows all of it.
func (c *Pane) Thinking(t *Thought) *Block {
	b := &Block{Gap: true, live: t.Live, until: func() bool { return !t.Live }}
	count := -1
	var counted int
	words := func() int {
		size := 0
		for _, p := range t.Parts {
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
		for _, p := range t.Parts {
			all = append(all, strings.TrimSpace(p.text))
		}
		return untrusted.Visible(strings.Join(all, "\n"))
	}
	b.folds = &folding{thing: FoldThinking, can: func() bool { return len(t.Parts) > 0 }, open: func() bool { return t.unfolded }, turn: func() { t.unfolded = !t.unfolded }}
	b.lay = func(width int) []draw.TextLine {
		if len(t.Parts) == 0 {
			return nil
		}
		if t.Live && !t.unfolded {
			return []draw.TextLine{{Text: c.thoughtTail(t.Parts[len(t.Parts)-1].text, width)}}
		}
		l, sign := c.Look, c.Look.Glyphs.Folded
		if t.unfolded {
			sign = l.Glyphs.Unfolded
		}
		between := " " + l.Glyphs.Separator + " "
		head := sign + " thinking"
		if t.took > 0 {
			head += between + telling.Seconds(t.took)
		}
		head += between + english.Count(words(), "word")
		lines := []draw.TextLine{{Text: l.Faint.Render(l.Cut(head, width)), Lead: 2}}
		if t.unfolded {
			lines = append(lines, c.thoughtText(t, width)...)
		}
		return lines
	}
	return b
}

// thoughtText draws the complete thinking behind a guide.
func (c *Pane) thoughtText(t *Thought, width int) []draw.TextLine {
	l := c.Look
	guide := l.Border.Render(l.Glyphs.Guide) + " "
	var lines []draw.TextLine
	for _, p := range t.Parts {
		if p.of != "" && len(t.Parts) > 1 {
			lines = append(lines, draw.TextLine{Text: guide + l.Muted.Render(p.of), Lead: 2})
		}
		for _, line := range draw.Wrapped(untrusted.Visible(strings.TrimSpace(p.text)), max(width-2, 1)) {
			lines = append(lines, draw.TextLine{Text: guide + l.Faint.Render(line.Text), Lead: 2, Join: line.Join})
		}
	}
	return lines
}

// thoughtTail draws the end of the current thinking on one line.
func (c *Pane) thoughtTail(text string, width int) string {
	const lead = "  thinking: "
	const tail = 400 // bytes; more than fits on any line
	if len(text) > tail {
		text = strings.ToValidUTF8(text[len(text)-tail:], "")
	}
	return c.Look.Faint.Render(lead + c.Look.CutLeft(untrusted.Line(text), width-len(lead)))
}

// FoldNewest expands or collapses the newest visible block of a kind, else the
// newest of all; "" means any kind. It reports whether there is one.
func (c *Pane) FoldNewest(thing string) bool {
	c.Lines()
	for i := len(c.Shown) - 1; i >= 0; i-- {
		if at := c.Shown[i].Block; at >= 0 && c.Blocks[at].foldable(thing) {
			c.TurnFold(at)
			return true
		}
	}
	for at := len(c.Blocks) - 1; at >= 0; at-- {
		if c.Blocks[at].foldable(thing) {
			c.TurnFold(at)
			c.show(Spot{at, 0})
			return true
		}
	}
	return false
}

// TurnFold expands or collapses a block. Lines above it stay in place.
func (c *Pane) TurnFold(at int) {
	b := c.Blocks[at]
	if !b.foldable("") {
		return
	}
	top := c.first()
	b.folds.turn()
	b.stale, b.looked = true, false
	c.Find.changed()
	if top.Block <= at {
		c.away, c.top = true, top
		if top.Block == at {
			c.top.Line = min(top.Line, len(c.LinesOf(at))-1)
		}
	}
	c.drawn = false
}

// HasFold reports whether a block of that kind can expand or collapse.
func (c *Pane) HasFold(thing string) bool {
	return slices.ContainsFunc(c.Blocks, func(b *Block) bool { return b.foldable(thing) })
}

// FoldAll expands every block of a kind, or collapses them if all are expanded.
func (c *Pane) FoldAll(thing string) {
	folded := slices.ContainsFunc(c.Blocks, func(b *Block) bool { return b.foldable(thing) && !b.folds.open() })
	for i, b := range c.Blocks {
		if b.foldable(thing) && b.folds.open() != folded {
			c.TurnFold(i)
		}
	}
}

// foldable reports whether a block is of that kind and can expand or collapse;
// "" means any kind.
func (b *Block) foldable(thing string) bool {
	return b.folds != nil && (thing == "" || b.folds.thing == thing) && b.folds.can()
}

// NoThinking explains why there is no thinking to inspect.
func (c *Pane) NoThinking() string {
	if !c.HasFold(FoldThinking) {
		return "No model has thought aloud here."
	}
	return ""
}

// NothingFolded explains why nothing can be expanded.
func (c *Pane) NothingFolded() string {
	if !c.HasFold("") {
		return "Nothing in the chat can be unfolded."
	}
	return ""
}
