package tui

import (
	"slices"

	"replan/agent"
)

// chatPane is the conversation: what was said and what became of it, the newest
// at the bottom. It shows the end unless the user scrolled up.
//
// Only what is in view is drawn, whatever the length of the chat: a view is a
// place among the blocks, and the way from it is walked line by line.
type chatPane struct {
	look     *look
	markdown *markdown
	width    int
	height   int
	blocks   []*block
	live     []*block // of those, the ones that still change
	intro    string
	problem  string                           // why there is no model, shown in full while the chat is empty
	words    bool                             // goals may be planned by their words
	notes    string                           // the file with the project's instructions, "" for none
	inset    bool                             // what is added belongs to a run that a call has started
	activity func(width int) []string         // what goes on now; none where nothing does
	welcome  func(width, height int) []string // what stands in it before anything was said

	away bool // the user has scrolled up from the end
	top  spot // first in view, where away
	kept int  // lines that blocks hold

	find   search
	marked *code   // that was copied last
	chosen []*spot // ends of what is selected with the mouse
	view   []string
	shown  []shownLine // of the view
	drawn  bool
}

// spot is a line of a block.
type spot struct{ block, line int }

// shownLine is a line in view; its block is -1 where it belongs to none.
type shownLine struct {
	spot
	textLine
}

func newChatPane(l *look, intro string, activity func(width int) []string) *chatPane {
	return &chatPane{look: l, markdown: newMarkdown(l), intro: intro, activity: activity}
}

// setSize makes the pane that large. What was in view stays in view.
func (c *chatPane) setSize(width, height int) {
	if width == c.width && height == c.height {
		return
	}
	if c.away && width != c.width && c.width > 0 && c.top.block < len(c.blocks) {
		if b := c.blocks[c.top.block]; c.top.line > 0 && b.height > 0 {
			part, whole := c.top.line, b.height
			c.width = width
			c.top.line = part * len(c.linesOf(c.top.block)) / whole
		}
	}
	c.width, c.height, c.drawn = width, height, false
}

// retheme draws everything anew in another theme.
func (c *chatPane) retheme() {
	c.markdown.retheme()
	for _, b := range c.blocks {
		b.forget()
		b.width = 0
	}
	c.kept, c.drawn = 0, false
}

// add puts blocks at the end.
func (c *chatPane) add(blocks ...*block) {
	for _, b := range blocks {
		b.inset = c.inset
		if b.live {
			c.live = append(c.live, b)
		}
	}
	c.blocks = append(c.blocks, blocks...)
	c.find.changed()
	c.drawn = false
}

// insert puts blocks before the one at a place, of which they are the beginning.
func (c *chatPane) insert(at int, blocks ...*block) {
	if len(blocks) == 0 {
		return
	}
	c.blocks = append(c.blocks[:at:at], append(blocks, c.blocks[at:]...)...)
	c.shift(at, len(blocks))
	c.find.changed()
	c.drawn = false
}

// shift moves the places that are kept behind a block by as many blocks as have
// come before it, or have gone. Where it is parted they stay in what they are in.
func (c *chatPane) shift(at, blocks int) {
	for _, kept := range append([]*spot{&c.top, &c.find.from}, c.chosen...) {
		switch {
		case kept.block > at:
			kept.block += blocks
		case kept.block == at && blocks > 0:
			*kept = c.moved(*kept, 0)
		}
	}
}

// revive says that a block changes again.
func (c *chatPane) revive(b *block) {
	if !slices.Contains(c.live, b) {
		b.live, b.stale = true, true
		c.live = append(c.live, b)
	}
}

// touch says that what live blocks and the activity show has changed.
func (c *chatPane) touch() {
	kept := c.live[:0]
	for _, b := range c.live {
		b.stale, b.looked = true, false
		b.live = b.until == nil || !b.until()
		if b.live {
			kept = append(kept, b)
		}
	}
	if len(c.live) > 0 {
		c.find.changed()
	}
	clear(c.live[len(kept):])
	c.live = kept
	c.drawn = false
}

// settle draws the live blocks of a run a last time; they change no more. The
// card of the call that has started the run is not of it.
func (c *chatPane) settle() {
	kept := c.live[:0]
	for _, b := range c.live {
		if b.inset || !c.inset {
			b.live, b.stale, b.looked, c.drawn = false, true, false, false
			continue
		}
		kept = append(kept, b)
	}
	clear(c.live[len(kept):])
	c.live = kept
}

// linesOf is the lines of block i, its gap among them.
func (c *chatPane) linesOf(i int) []textLine {
	b := c.blocks[i]
	if b.fresh && !b.stale && b.width == c.width {
		return b.lines
	}
	var lines []textLine
	if b.inset {
		lines = c.guided(b.typeset(c.width - 2))
	} else {
		lines = b.typeset(c.width)
	}
	if b.gap && !b.inset && i > 0 && len(lines) > 0 {
		lines = append([]textLine{{}}, lines...)
	}
	if b.stale || b.width != c.width {
		b.found = nil
	}
	c.kept += len(lines) - len(b.lines)
	b.lines, b.height, b.width, b.fresh, b.stale = lines, len(lines), c.width, true, false
	return lines
}

// heightOf is how many lines block i has, and whether it was drawn to know it.
func (c *chatPane) heightOf(i int) (lines int, known bool) {
	b := c.blocks[i]
	if b.width == c.width && !b.stale {
		return b.height, true
	}
	return b.guess(c.width), false
}

// guided draws lines under the card of the call that they belong to.
func (c *chatPane) guided(lines []textLine) []textLine {
	guide := c.look.Border.Render(c.look.glyphs.Guide) + " "
	out := make([]textLine, len(lines))
	for i, line := range lines {
		out[i] = textLine{text: guide + line.text, lead: line.lead + 2, join: line.join}
	}
	return out
}

// scroll moves the view by lines, up where they are positive.
func (c *chatPane) scroll(lines int) {
	if !c.away {
		if lines <= 0 || c.greets() {
			return
		}
		c.away, c.top = true, c.first()
	}
	c.top = c.moved(c.top, -lines)
	c.drawn = false
}

// first is the first line in view that belongs to a block.
func (c *chatPane) first() spot {
	c.lines()
	for _, line := range c.shown {
		if line.block >= 0 {
			return line.spot
		}
	}
	return spot{len(c.blocks), 0}
}

// moved is the place that many lines further down, or up where they are less
// than none.
func (c *chatPane) moved(p spot, lines int) spot {
	p.line += lines
	for p.line < 0 {
		if p.block == 0 {
			return spot{}
		}
		p.block--
		p.line += len(c.linesOf(p.block))
	}
	for p.block < len(c.blocks) {
		n := len(c.linesOf(p.block))
		if p.line < n {
			break
		}
		p.block++
		p.line -= n
	}
	return p
}

// toEnd shows the end again.
func (c *chatPane) toEnd() { c.away, c.drawn = false, false }

// show brings a line into view, a third from the top where it was not.
func (c *chatPane) show(p spot) {
	c.lines()
	for _, line := range c.shown {
		if line.spot == p {
			return
		}
	}
	c.away, c.drawn = true, false
	c.top = c.moved(p, -c.height/3)
}

// lines is the pane's content: height lines of at most width cells.
func (c *chatPane) lines() []string {
	if c.drawn {
		return c.view
	}
	c.drawn = true
	height := max(c.height-c.find.height(), 0)
	if c.greets() {
		c.away, c.shown = false, nil
		c.view = c.look.block(c.welcome(c.width, height), c.width, height)
	} else {
		c.window(height)
		c.view = c.look.block(c.litLines(), c.width, height)
		c.bound()
	}
	if c.find.open {
		c.view = append(c.view, c.searchLine(c.width))
	}
	return c.view
}

// notesWords names the file with the project's instructions.
const notesWords = "notes of this project: "

// greets reports whether the greeting is in view.
func (c *chatPane) greets() bool { return len(c.blocks) == 0 && len(c.activity(c.width)) == 0 }

// window picks the lines in view: from the place that the user has scrolled to,
// else from the end backwards, so that only what is seen is drawn.
func (c *chatPane) window(height int) {
	tail := c.activity(c.width)
	if len(tail) > 0 && len(c.blocks) > 0 {
		tail = append([]string{""}, tail...)
	}
	c.shown = c.shown[:0]
	if c.away {
		for p := c.top; p.block < len(c.blocks) && len(c.shown) < height; p = (spot{p.block + 1, 0}) {
			lines := c.linesOf(p.block)
			for ; p.line < len(lines) && len(c.shown) < height; p.line++ {
				c.shown = append(c.shown, shownLine{p, lines[p.line]})
			}
		}
		for _, line := range tail[:min(len(tail), height-len(c.shown))] {
			c.shown = append(c.shown, shownLine{spot{-1, 0}, textLine{text: line}})
		}
		if len(c.shown) == height && c.belowIt(len(tail)) {
			return
		}
		c.away, c.shown = false, c.shown[:0]
	}
	var back []shownLine
	for i := len(tail) - 1; i >= 0 && len(back) < height; i-- {
		back = append(back, shownLine{spot{-1, 0}, textLine{text: tail[i]}})
	}
	for b := len(c.blocks) - 1; b >= 0 && len(back) < height; b-- {
		lines := c.linesOf(b)
		for i := len(lines) - 1; i >= 0 && len(back) < height; i-- {
			back = append(back, shownLine{spot{b, i}, lines[i]})
		}
	}
	for i := len(back) - 1; i >= 0; i-- {
		c.shown = append(c.shown, back[i])
	}
}

// belowIt reports whether there is something below the view. Before it are n
// lines that belong to no block.
func (c *chatPane) belowIt(tail int) bool {
	last := c.shown[len(c.shown)-1]
	if last.block < 0 {
		n := 0
		for _, line := range c.shown {
			if line.block < 0 {
				n++
			}
		}
		return n < tail
	}
	if tail > 0 || last.line+1 < len(c.linesOf(last.block)) {
		return true
	}
	for i := last.block + 1; i < len(c.blocks); i++ {
		if len(c.linesOf(i)) > 0 {
			return true
		}
	}
	return false
}

// mostKept is how many drawn lines are held besides those in view; nearBy how
// many blocks around the view keep theirs.
const (
	mostKept = 4000
	nearBy   = 100
)

// bound lets go of the lines of blocks far away, which are drawn anew where the
// user comes back to them.
func (c *chatPane) bound() {
	if c.kept <= mostKept {
		return
	}
	first, last := len(c.blocks), 0
	for _, line := range c.shown {
		if line.block >= 0 {
			first, last = min(first, line.block), max(last, line.block)
		}
	}
	c.kept = 0
	for i, b := range c.blocks {
		if i < first-nearBy || i > last+nearBy {
			b.forget()
		}
		c.kept += len(b.lines)
	}
}

// moreBelow is how many lines lie below the view, and whether that is exact:
// what was not drawn yet is guessed.
func (c *chatPane) moreBelow() (n int, exact bool) {
	if !c.away || len(c.shown) == 0 {
		return 0, true
	}
	tail := len(c.activity(c.width))
	if tail > 0 {
		tail++ // the blank line before it
	}
	exact, n = true, tail
	last := c.shown[len(c.shown)-1]
	if last.block < 0 {
		for _, line := range c.shown {
			if line.block < 0 {
				n--
			}
		}
		return n, true
	}
	n += len(c.linesOf(last.block)) - last.line - 1
	for i := last.block + 1; i < len(c.blocks); i++ {
		lines, known := c.heightOf(i)
		n, exact = n+lines, exact && known
	}
	return n, exact
}

// started says that a run has begun. The phases of planning come only where
// there is no plan yet.
func (c *chatPane) started(run *agent.Run, given bool) {
	c.settle()
	if !given {
		c.add(c.phases(run))
	}
}
