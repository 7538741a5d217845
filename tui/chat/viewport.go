package chat

import (
	"slices"

	"replan/tui/draw"
)

// viewport is a scrollable list of blocks. It shows the end unless the user
// scrolled up.
//
// It draws only visible lines, however long the list is. A view is a position
// among the blocks; the viewport walks line by line from there.
type viewport struct {
	styles   *draw.Styles
	width    int
	height   int
	reserved int // lines at the bottom that show no blocks
	Blocks   []*Block
	live     []*Block // blocks that still change
	activity []string // lines below the last block
	welcome  []string // the greeting
	edition  int      // increases when the text of blocks changes

	scrolledUp bool      // the user scrolled up from the end
	top        draw.Spot // first visible line, if scrolledUp
	kept       int       // number of cached lines

	tracked []*draw.Spot    // see Track
	anchor  *draw.Spot      // see holdTo
	shown   []draw.SpotLine // lines in view
	drawn   bool            // shown is valid
	layouts int             // increases when shown changes
}

// setSize sets the size of the pane. Visible lines stay in view.
func (v *viewport) setSize(width, height int) {
	if width == v.width && height == v.height {
		return
	}
	if v.scrolledUp && width != v.width && v.width > 0 && v.top.Block < len(v.Blocks) {
		whole, _ := v.Blocks[v.top.Block].heightAt(v.width)
		if part := v.top.Line; part > 0 && whole > 0 {
			v.width = width
			v.top.Line = part * len(v.LinesOf(v.top.Block)) / whole
		}
	}
	v.width, v.height, v.drawn = width, height, false
}

// surround sets what stands around the blocks: the lines below them, and the greeting.
func (v *viewport) surround(activity, welcome []string) {
	if !slices.Equal(activity, v.activity) || !slices.Equal(welcome, v.welcome) {
		v.drawn = false
	}
	v.activity, v.welcome = activity, welcome
}

// Add appends blocks.
func (v *viewport) Add(blocks ...*Block) { v.add(false, blocks...) }

// add appends blocks. inset means that they belong to a run that a call in the
// chat started.
func (v *viewport) add(inset bool, blocks ...*Block) {
	if len(blocks) == 0 {
		return
	}
	for _, b := range blocks {
		if b.enter(inset) {
			v.live = append(v.live, b)
		}
	}
	v.Blocks = append(v.Blocks, blocks...)
	v.edition++
	v.drawn = false
}

// insert inserts finished blocks before block at, from which they were split off.
func (v *viewport) insert(at int, inset bool, blocks ...*Block) {
	if len(blocks) == 0 {
		return
	}
	for _, b := range blocks {
		b.enter(inset)
	}
	v.Blocks = slices.Insert(v.Blocks, at, blocks...)
	v.shift(at, len(blocks))
	v.edition++
	v.drawn = false
}

// shift moves the stored spots after a block by the number of blocks inserted
// or removed. If the block was split, spots in it stay with their text.
func (v *viewport) shift(at, blocks int) {
	for _, kept := range append([]*draw.Spot{&v.top, v.anchor}, v.tracked...) {
		switch {
		case kept.Block > at:
			kept.Block += blocks
		case kept.Block == at && blocks > 0:
			*kept = v.moved(*kept, 0)
		}
	}
}

// revive makes a block change again.
func (v *viewport) revive(b *Block) {
	if !slices.Contains(v.live, b) {
		b.revive()
		v.live = append(v.live, b)
	}
}

// redraw draws a settled block once more.
func (v *viewport) redraw(b *Block) {
	b.change()
	v.edition++
	v.drawn = false
}

// Invalidate marks live blocks and the activity as changed.
func (v *viewport) Invalidate() {
	kept := v.live[:0]
	for _, b := range v.live {
		if b.beat() {
			kept = append(kept, b)
		}
	}
	if len(v.live) > 0 {
		v.edition++
	}
	clear(v.live[len(kept):])
	v.live = kept
	v.drawn = false
}

// Settle draws the live blocks for the last time.
func (v *viewport) Settle() { v.settle(false) }

// settle draws the live blocks of a run for the last time.
func (v *viewport) settle(inset bool) {
	kept := v.live[:0]
	for _, b := range v.live {
		if b.settle(inset) {
			v.drawn = false
			continue
		}
		kept = append(kept, b)
	}
	clear(v.live[len(kept):])
	v.live = kept
}

// LinesOf returns the lines of block i, including its gap; none if there is no
// such block.
func (v *viewport) LinesOf(i int) []draw.TextLine {
	if i >= len(v.Blocks) {
		return nil
	}
	lines, more := v.Blocks[i].linesAt(v.styles, v.width, i == 0)
	v.kept += more
	return lines
}

// Scroll scrolls the view by lines, up if lines is positive.
func (v *viewport) Scroll(lines int) {
	if !v.scrolledUp {
		if lines <= 0 || v.Greets() {
			return
		}
		v.scrolledUp, v.top = true, v.first()
	}
	v.top = v.moved(v.top, -lines)
	v.drawn = false
}

// first returns the first visible line of a block.
func (v *viewport) first() draw.Spot {
	v.layOut()
	for _, line := range v.shown {
		if line.Block >= 0 {
			return line.Spot
		}
	}
	return draw.Spot{Block: len(v.Blocks)}
}

// moved returns the spot that many lines further down, or up if lines is
// negative.
func (v *viewport) moved(p draw.Spot, lines int) draw.Spot {
	p.Line += lines
	for p.Line < 0 {
		if p.Block == 0 {
			return draw.Spot{}
		}
		p.Block--
		p.Line += len(v.LinesOf(p.Block))
	}
	for p.Block < len(v.Blocks) {
		n := len(v.LinesOf(p.Block))
		if p.Line < n {
			break
		}
		p.Block++
		p.Line -= n
	}
	return p
}

// isScrolledUp reports whether the user scrolled up from the end.
func (v *viewport) isScrolledUp() bool { return v.scrolledUp }

// scrollTo makes a spot the first visible line.
func (v *viewport) scrollTo(top draw.Spot) { v.scrolledUp, v.top, v.drawn = true, top, false }

// reserve keeps lines at the bottom free of blocks.
func (v *viewport) reserve(lines int) { v.reserved, v.drawn = lines, false }

// refresh picks the visible lines again.
func (v *viewport) refresh() { v.drawn = false }

// size returns the size of the pane in cells.
func (v *viewport) size() draw.Rect { return draw.Rect{W: v.width, H: v.height} }

// editionOfText returns a number that increases when the text of blocks changes.
func (v *viewport) editionOfText() int { return v.edition }

// ToEnd shows the end again.
func (v *viewport) ToEnd() { v.scrolledUp, v.drawn = false, false }

// show scrolls a line into view, to a third from the top if it was not visible.
func (v *viewport) show(p draw.Spot) {
	v.layOut()
	for _, line := range v.shown {
		if line.Spot == p {
			return
		}
	}
	v.scrolledUp, v.drawn = true, false
	v.top = v.moved(p, -v.height/3)
}

// Greets reports whether there is nothing to show but the greeting, with a few notes
// below it, such as that a server cannot be started. Notes that take more than half
// of the height are shown without it.
func (v *viewport) Greets() bool {
	if len(v.activity) > 0 || !v.OnlyNotes() {
		return false
	}
	lines := 0
	for i := range v.Blocks {
		lines += len(v.LinesOf(i))
	}
	return lines <= v.height/2
}

// OnlyNotes reports whether nothing but a few notes of the session was shown.
func (v *viewport) OnlyNotes() bool {
	const few = 3
	return len(v.Blocks) <= few && !slices.ContainsFunc(v.Blocks, func(b *Block) bool { return !b.isNote() })
}

// greet shows the greeting with the notes below it, to which it gives way.
func (v *viewport) greet(height int) {
	var notes []draw.SpotLine
	for i := range v.Blocks {
		for n, line := range v.LinesOf(i) {
			notes = append(notes, draw.SpotLine{Spot: draw.Spot{Block: i, Line: n}, TextLine: line})
		}
	}
	welcome := v.welcome
	if len(notes) > 0 {
		most := max(height-len(notes)-1, 0)
		for len(welcome) > most && welcome[0] == "" {
			welcome = welcome[1:]
		}
		welcome = append(slices.Clip(welcome[:min(len(welcome), most)]), "")
	}
	v.scrolledUp, v.shown = false, v.shown[:0]
	for _, line := range welcome {
		v.shown = append(v.shown, draw.SpotLine{Spot: draw.Spot{Block: -1}, TextLine: draw.TextLine{Text: line}})
	}
	v.shown = append(v.shown, notes...)
}

// room returns the number of lines for blocks.
func (v *viewport) room() int { return max(v.height-v.reserved, 0) }

// forgetLines drops every cached line and height.
func (v *viewport) forgetLines() {
	for _, b := range v.Blocks {
		b.forgetSize()
	}
	v.kept, v.drawn = 0, false
}

// layOut picks the visible lines, unless that is done. It returns the number of the layout,
// which tells whether the lines are those of the last call.
func (v *viewport) layOut() int {
	if v.drawn {
		return v.layouts
	}
	v.drawn = true
	v.layouts++
	if v.Greets() {
		v.greet(v.room())
		return v.layouts
	}
	v.window(v.room())
	v.bound()
	return v.layouts
}

// window picks the visible lines. It starts at the position the user scrolled
// to, or walks backward from the end, so that it draws only what is visible.
func (v *viewport) window(height int) {
	if height == 0 {
		v.shown = v.shown[:0] // where the user scrolled to stays
		return
	}
	tail := v.activity
	if len(tail) > 0 && len(v.Blocks) > 0 {
		tail = append([]string{""}, tail...)
	}
	v.shown = v.shown[:0]
	if v.scrolledUp {
		for p := v.top; p.Block < len(v.Blocks) && len(v.shown) < height; p = (draw.Spot{Block: p.Block + 1}) {
			lines := v.LinesOf(p.Block)
			for ; p.Line < len(lines) && len(v.shown) < height; p.Line++ {
				v.shown = append(v.shown, draw.SpotLine{Spot: p, TextLine: lines[p.Line]})
			}
		}
		for _, line := range tail[:min(len(tail), height-len(v.shown))] {
			v.shown = append(v.shown, draw.SpotLine{Spot: draw.Spot{Block: -1}, TextLine: draw.TextLine{Text: line}})
		}
		if len(v.shown) == height && v.belowIt(len(tail)) {
			return
		}
		v.scrolledUp, v.shown = false, v.shown[:0]
	}
	var back []draw.SpotLine
	for i := len(tail) - 1; i >= 0 && len(back) < height; i-- {
		back = append(back, draw.SpotLine{Spot: draw.Spot{Block: -1}, TextLine: draw.TextLine{Text: tail[i]}})
	}
	for b := len(v.Blocks) - 1; b >= 0 && len(back) < height; b-- {
		lines := v.LinesOf(b)
		for i := len(lines) - 1; i >= 0 && len(back) < height; i-- {
			back = append(back, draw.SpotLine{Spot: draw.Spot{Block: b, Line: i}, TextLine: lines[i]})
		}
	}
	for i := len(back) - 1; i >= 0; i-- {
		v.shown = append(v.shown, back[i])
	}
}

// belowIt reports whether there is something below the view. The chat ends with
// tail lines outside any block.
func (v *viewport) belowIt(tail int) bool {
	last := v.shown[len(v.shown)-1]
	if last.Block < 0 {
		n := 0
		for _, line := range v.shown {
			if line.Block < 0 {
				n++
			}
		}
		return n < tail
	}
	if tail > 0 || last.Line+1 < len(v.LinesOf(last.Block)) {
		return true
	}
	for i := last.Block + 1; i < len(v.Blocks); i++ {
		if len(v.LinesOf(i)) > 0 {
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
func (v *viewport) bound() {
	if v.kept <= mostKept {
		return
	}
	first, last := len(v.Blocks), 0
	for _, line := range v.shown {
		if line.Block >= 0 {
			first, last = min(first, line.Block), max(last, line.Block)
		}
	}
	v.kept = 0
	for i, b := range v.Blocks {
		if i < first-nearBy || i > last+nearBy {
			b.Forget()
		}
		v.kept += b.kept()
	}
}

// moreBelow returns the number of lines below the view, and whether it is
// exact: blocks not drawn yet are estimated.
func (v *viewport) moreBelow() (n int, exact bool) {
	if !v.scrolledUp || len(v.shown) == 0 {
		return 0, true
	}
	tail := len(v.activity)
	if tail > 0 {
		tail++ // the blank line before it
	}
	exact, n = true, tail
	last := v.shown[len(v.shown)-1]
	if last.Block < 0 {
		for _, line := range v.shown {
			if line.Block < 0 {
				n--
			}
		}
		return n, true
	}
	n += len(v.LinesOf(last.Block)) - last.Line - 1
	for i := last.Block + 1; i < len(v.Blocks); i++ {
		lines, known := v.Blocks[i].heightAt(v.width)
		n, exact = n+lines, exact && known
	}
	return n, exact
}

// Visible returns the lines of the conversation in view.
func (v *viewport) Visible() []draw.SpotLine {
	v.layOut()
	return v.shown
}

// Track keeps the spots at their text while blocks come and go. It replaces the
// spots tracked before.
func (v *viewport) Track(spots ...*draw.Spot) { v.tracked = spots }

// holdTo keeps another spot at its text.
func (v *viewport) holdTo(spot *draw.Spot) { v.anchor = spot }

// rewrite replaces what an open block shows.
func (v *viewport) rewrite(b *Block, gap bool, codes []*draw.Code, lay func(width int) []draw.TextLine) {
	b.rewrite(gap, codes, lay)
	v.edition++
	v.drawn = false
}

// endsInCard reports whether the newest block is a card.
func (v *viewport) endsInCard() bool {
	return len(v.Blocks) > 0 && v.Blocks[len(v.Blocks)-1].isCard()
}

// endsIn reports whether a block is the newest one.
func (v *viewport) endsIn(b *Block) bool {
	return len(v.Blocks) > 0 && v.Blocks[len(v.Blocks)-1] == b
}

// placeOf returns the index of a block, which is one of the newest.
func (v *viewport) placeOf(b *Block) int {
	for i := len(v.Blocks) - 1; i >= 0; i-- {
		if v.Blocks[i] == b {
			return i
		}
	}
	return len(v.Blocks)
}

// remove removes a block from the chat.
func (v *viewport) remove(b *Block) {
	at := v.placeOf(b)
	if at == len(v.Blocks) {
		return
	}
	v.kept -= b.kept()
	v.Blocks = slices.Delete(v.Blocks, at, at+1)
	v.live = slices.DeleteFunc(v.live, func(l *Block) bool { return l == b })
	v.shift(at, -1)
	v.edition++
	v.drawn = false
}
