package chat

import (
	"slices"

	"replan/agent"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/plain"
)

// Pane is the conversation: messages and their outcomes, the newest at the
// bottom. It shows the end unless the user scrolled up.
//
// The pane draws only visible lines, however long the chat is. A view is a
// position among the blocks; the pane walks line by line from there.
type Pane struct {
	Look     *draw.Look
	Markdown *draw.Markdown
	width    int
	Height   int
	Blocks   []*Block
	live     []*Block // blocks that still change
	intro    string
	Problem  string                           // why there is no model, shown in full while the chat is empty
	Words    bool                             // the planner may plan a goal by its words
	Notes    string                           // file with the project's instructions, "" for none
	Inset    bool                             // new blocks belong to a run started by a call
	activity func(width int) []string         // draws current activity; no lines if there is none
	Welcome  func(width, height int) []string // draws the pane while the chat is empty

	away bool // the user scrolled up from the end
	top  Spot // first visible line, if away
	kept int  // number of cached lines

	Find   search
	marked *draw.Code // last copied code
	Chosen []*Spot    // ends of the mouse selection
	view   []string
	Shown  []shownLine // lines in view
	drawn  bool
}

// Spot is a line of a block.
type Spot struct{ Block, Line int }

// shownLine is a visible line; its block is -1 if it belongs to none.
type shownLine struct {
	Spot
	draw.TextLine
}

// New returns an empty conversation; activity draws the lines below it.
func New(l *draw.Look, intro string, activity func(width int) []string) *Pane {
	return &Pane{Look: l, Markdown: draw.NewMarkdown(l), intro: intro, activity: activity}
}

// SetSize sets the size of the pane. Visible lines stay in view.
func (c *Pane) SetSize(width, height int) {
	if width == c.width && height == c.Height {
		return
	}
	if c.away && width != c.width && c.width > 0 && c.top.Block < len(c.Blocks) {
		if b := c.Blocks[c.top.Block]; c.top.Line > 0 && b.height > 0 {
			part, whole := c.top.Line, b.height
			c.width = width
			c.top.Line = part * len(c.LinesOf(c.top.Block)) / whole
		}
	}
	c.width, c.Height, c.drawn = width, height, false
}

// Retheme redraws everything in a new theme.
func (c *Pane) Retheme() {
	c.Markdown.Retheme()
	for _, b := range c.Blocks {
		b.Forget()
		b.width = 0
	}
	c.kept, c.drawn = 0, false
}

// Add appends blocks.
func (c *Pane) Add(blocks ...*Block) {
	for _, b := range blocks {
		b.inset = c.Inset
		if b.live {
			c.live = append(c.live, b)
		}
	}
	c.Blocks = append(c.Blocks, blocks...)
	c.Find.changed()
	c.drawn = false
}

// insert inserts blocks before block at, from which they were split off.
func (c *Pane) insert(at int, blocks ...*Block) {
	if len(blocks) == 0 {
		return
	}
	c.Blocks = append(c.Blocks[:at:at], append(blocks, c.Blocks[at:]...)...)
	c.shift(at, len(blocks))
	c.Find.changed()
	c.drawn = false
}

// shift moves the stored spots after a block by the number of blocks inserted
// or removed. If the block was split, spots in it stay with their text.
func (c *Pane) shift(at, blocks int) {
	for _, kept := range append([]*Spot{&c.top, &c.Find.from}, c.Chosen...) {
		switch {
		case kept.Block > at:
			kept.Block += blocks
		case kept.Block == at && blocks > 0:
			*kept = c.moved(*kept, 0)
		}
	}
}

// Revive makes a block change again.
func (c *Pane) Revive(b *Block) {
	if !slices.Contains(c.live, b) {
		b.live, b.stale = true, true
		c.live = append(c.live, b)
	}
}

// Touch marks live blocks and the activity as changed.
func (c *Pane) Touch() {
	kept := c.live[:0]
	for _, b := range c.live {
		b.stale, b.looked = true, false
		b.live = b.until == nil || !b.until()
		if b.live {
			kept = append(kept, b)
		}
	}
	if len(c.live) > 0 {
		c.Find.changed()
	}
	clear(c.live[len(kept):])
	c.live = kept
	c.drawn = false
}

// Settle draws the live blocks of a run for the last time. The card of the call
// that started the run is not part of the run.
func (c *Pane) Settle() {
	kept := c.live[:0]
	for _, b := range c.live {
		if b.inset || !c.Inset {
			b.live, b.stale, b.looked, c.drawn = false, true, false, false
			continue
		}
		kept = append(kept, b)
	}
	clear(c.live[len(kept):])
	c.live = kept
}

// LinesOf returns the lines of block i, including its gap.
func (c *Pane) LinesOf(i int) []draw.TextLine {
	b := c.Blocks[i]
	if b.fresh && !b.stale && b.width == c.width {
		return b.lines
	}
	var lines []draw.TextLine
	if b.inset {
		lines = c.guided(b.Typeset(c.width - 2))
	} else {
		lines = b.Typeset(c.width)
	}
	if b.Gap && !b.inset && i > 0 && len(lines) > 0 {
		lines = append([]draw.TextLine{{}}, lines...)
	}
	if b.stale || b.width != c.width {
		b.found = nil
	}
	c.kept += len(lines) - len(b.lines)
	b.lines, b.height, b.width, b.fresh, b.stale = lines, len(lines), c.width, true, false
	return lines
}

// heightOf returns the number of lines of block i, and whether it is exact.
func (c *Pane) heightOf(i int) (lines int, known bool) {
	b := c.Blocks[i]
	if b.width == c.width && !b.stale {
		return b.height, true
	}
	return b.guess(c.width), false
}

// guided draws lines below the card of the call they belong to.
func (c *Pane) guided(lines []draw.TextLine) []draw.TextLine {
	guide := c.Look.Border.Render(c.Look.Glyphs.Guide) + " "
	out := make([]draw.TextLine, len(lines))
	for i, line := range lines {
		out[i] = draw.TextLine{Text: guide + line.Text, Lead: line.Lead + 2, Join: line.Join}
	}
	return out
}

// Scroll scrolls the view by lines, up if lines is positive.
func (c *Pane) Scroll(lines int) {
	if !c.away {
		if lines <= 0 || c.Greets() {
			return
		}
		c.away, c.top = true, c.first()
	}
	c.top = c.moved(c.top, -lines)
	c.drawn = false
}

// first returns the first visible line of a block.
func (c *Pane) first() Spot {
	c.Lines()
	for _, line := range c.Shown {
		if line.Block >= 0 {
			return line.Spot
		}
	}
	return Spot{len(c.Blocks), 0}
}

// moved returns the spot that many lines further down, or up if lines is
// negative.
func (c *Pane) moved(p Spot, lines int) Spot {
	p.Line += lines
	for p.Line < 0 {
		if p.Block == 0 {
			return Spot{}
		}
		p.Block--
		p.Line += len(c.LinesOf(p.Block))
	}
	for p.Block < len(c.Blocks) {
		n := len(c.LinesOf(p.Block))
		if p.Line < n {
			break
		}
		p.Block++
		p.Line -= n
	}
	return p
}

// ToEnd shows the end again.
func (c *Pane) ToEnd() { c.away, c.drawn = false, false }

// show scrolls a line into view, to a third from the top if it was not visible.
func (c *Pane) show(p Spot) {
	c.Lines()
	for _, line := range c.Shown {
		if line.Spot == p {
			return
		}
	}
	c.away, c.drawn = true, false
	c.top = c.moved(p, -c.Height/3)
}

// Lines returns the pane's content: Height lines of at most width cells.
func (c *Pane) Lines() []string {
	if c.drawn {
		return c.view
	}
	c.drawn = true
	height := max(c.Height-c.Find.height(), 0)
	if c.Greets() {
		c.away, c.Shown = false, nil
		c.view = c.Look.Block(c.Welcome(c.width, height), c.width, height)
	} else {
		c.window(height)
		c.view = c.Look.Block(c.litLines(), c.width, height)
		c.bound()
	}
	if c.Find.Open {
		c.view = append(c.view, c.searchLine(c.width))
	}
	return c.view
}

// NotesWords precedes the name of the file with the project's instructions.
const NotesWords = "notes of this project: "

// Greets reports whether the greeting is in view.
func (c *Pane) Greets() bool { return len(c.Blocks) == 0 && len(c.activity(c.width)) == 0 }

// window picks the visible lines. It starts at the position the user scrolled
// to, or walks backward from the end, so that it draws only what is visible.
func (c *Pane) window(height int) {
	tail := c.activity(c.width)
	if len(tail) > 0 && len(c.Blocks) > 0 {
		tail = append([]string{""}, tail...)
	}
	c.Shown = c.Shown[:0]
	if c.away {
		for p := c.top; p.Block < len(c.Blocks) && len(c.Shown) < height; p = (Spot{p.Block + 1, 0}) {
			lines := c.LinesOf(p.Block)
			for ; p.Line < len(lines) && len(c.Shown) < height; p.Line++ {
				c.Shown = append(c.Shown, shownLine{p, lines[p.Line]})
			}
		}
		for _, line := range tail[:min(len(tail), height-len(c.Shown))] {
			c.Shown = append(c.Shown, shownLine{Spot{-1, 0}, draw.TextLine{Text: line}})
		}
		if len(c.Shown) == height && c.belowIt(len(tail)) {
			return
		}
		c.away, c.Shown = false, c.Shown[:0]
	}
	var back []shownLine
	for i := len(tail) - 1; i >= 0 && len(back) < height; i-- {
		back = append(back, shownLine{Spot{-1, 0}, draw.TextLine{Text: tail[i]}})
	}
	for b := len(c.Blocks) - 1; b >= 0 && len(back) < height; b-- {
		lines := c.LinesOf(b)
		for i := len(lines) - 1; i >= 0 && len(back) < height; i-- {
			back = append(back, shownLine{Spot{b, i}, lines[i]})
		}
	}
	for i := len(back) - 1; i >= 0; i-- {
		c.Shown = append(c.Shown, back[i])
	}
}

// belowIt reports whether there is something below the view. The chat ends with
// tail lines outside any block.
func (c *Pane) belowIt(tail int) bool {
	last := c.Shown[len(c.Shown)-1]
	if last.Block < 0 {
		n := 0
		for _, line := range c.Shown {
			if line.Block < 0 {
				n++
			}
		}
		return n < tail
	}
	if tail > 0 || last.Line+1 < len(c.LinesOf(last.Block)) {
		return true
	}
	for i := last.Block + 1; i < len(c.Blocks); i++ {
		if len(c.LinesOf(i)) > 0 {
			return true
		}
	}
	return false
}

// mostKept is the number of cached lines besides the visible ones; nearBy is
// the number of blocks around the view that keep their lines.
const (
	mostKept = 4000
	nearBy   = 100
)

// bound drops the lines of distant blocks. They are drawn again when the user
// returns to them.
func (c *Pane) bound() {
	if c.kept <= mostKept {
		return
	}
	first, last := len(c.Blocks), 0
	for _, line := range c.Shown {
		if line.Block >= 0 {
			first, last = min(first, line.Block), max(last, line.Block)
		}
	}
	c.kept = 0
	for i, b := range c.Blocks {
		if i < first-nearBy || i > last+nearBy {
			b.Forget()
		}
		c.kept += len(b.lines)
	}
}

// MoreBelow returns the number of lines below the view, and whether it is
// exact: blocks not drawn yet are estimated.
func (c *Pane) MoreBelow() (n int, exact bool) {
	if !c.away || len(c.Shown) == 0 {
		return 0, true
	}
	tail := len(c.activity(c.width))
	if tail > 0 {
		tail++ // the blank line before it
	}
	exact, n = true, tail
	last := c.Shown[len(c.Shown)-1]
	if last.Block < 0 {
		for _, line := range c.Shown {
			if line.Block < 0 {
				n--
			}
		}
		return n, true
	}
	n += len(c.LinesOf(last.Block)) - last.Line - 1
	for i := last.Block + 1; i < len(c.Blocks); i++ {
		lines, known := c.heightOf(i)
		n, exact = n+lines, exact && known
	}
	return n, exact
}

// Started records the start of a run. It adds the planning phases unless a plan
// is given.
func (c *Pane) Started(run *agent.Run, given bool) {
	c.Settle()
	if !given {
		c.Add(c.Phases(run))
	}
}

// EndsInCard reports whether the newest block is a card.
func (c *Pane) EndsInCard() bool {
	return len(c.Blocks) > 0 && c.Blocks[len(c.Blocks)-1].card
}

// Before reports whether a comes before b.
func (a Spot) Before(b Spot) bool {
	return a.Block < b.Block || a.Block == b.Block && a.Line < b.Line
}

// Mentioned returns a block with the attachments of a message, one per line.
func (c *Pane) Mentioned(mentions []prompt.Mention) *Block {
	return &Block{Draw: func(width int) []string {
		l := c.Look
		lines := make([]string, len(mentions))
		for i, m := range mentions {
			lines[i] = "  " + l.Accent.Render("@") + " " + l.Muted.Render(l.Cut(plain.Mentioned(m, l.Glyphs.Separator), max(width-4, 1)))
		}
		return lines
	}}
}
