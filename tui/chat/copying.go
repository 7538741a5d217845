package chat

import (
	"slices"

	"replan/tui/draw"
)

// CopyLimit is from where on a text is more than some terminals take, in bytes:
// xterm's limit for what a program puts into the clipboard.
const CopyLimit = 74_994

// AllCode is every block of code in the chat, the oldest first.
func (c *Pane) AllCode() []*draw.Code {
	var out []*draw.Code
	for _, b := range c.Blocks {
		for _, code := range b.codes {
			if code.Text != "" {
				out = append(out, code)
			}
		}
	}
	return out
}

// CodeInView is the newest block of code of which something is in view, else the
// last one above it, else the first.
func (c *Pane) CodeInView(all []*draw.Code) int {
	c.Lines()
	last := -1
	for _, line := range c.Shown {
		last = max(last, line.Block)
	}
	if last < 0 {
		return len(all) - 1
	}
	n := 0
	for _, b := range c.Blocks[:last+1] {
		for _, code := range b.codes {
			if code.Text != "" {
				n++
			}
		}
	}
	return max(n-1, 0)
}

// Mark marks a block of code, and takes the mark from the one before; nil marks
// none. What is marked is brought into view.
func (c *Pane) Mark(marked *draw.Code) {
	if c.marked == marked {
		return
	}
	was := c.marked
	c.marked, c.drawn = marked, false
	at := -1
	for i, b := range c.Blocks {
		if b.of != nil && (b.of == was || b.of == marked) || b.begins(was) || b.begins(marked) {
			b.fresh = false
		}
		if b.begins(marked) {
			at = i
		}
	}
	if at < 0 {
		return
	}
	c.Lines()
	if !slices.ContainsFunc(c.Shown, func(l shownLine) bool { return l.Block >= 0 && (l.Block == at || c.Blocks[l.Block].of == marked) }) {
		c.show(Spot{at, 0})
	}
}

// begins reports whether code begins in the block.
func (b *Block) begins(c *draw.Code) bool { return c != nil && slices.Contains(b.codes, c) }

// NoCode is why there is nothing to copy.
func (c *Pane) NoCode() string {
	if len(c.AllCode()) == 0 {
		return "There is no block of code in the chat."
	}
	return ""
}
