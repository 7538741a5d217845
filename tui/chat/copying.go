package chat

import (
	"slices"

	"replan/tui/draw"
)

// CopyLimit is the size, in bytes, above which some terminals reject text:
// xterm's limit for what a program writes to the clipboard.
const CopyLimit = 74_994

// AllCode returns every code block in the chat, oldest first.
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

// CodeInView returns the index of the newest code block that is partly visible,
// else the last one above the view, else the first.
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

// Mark moves the mark to a code block and scrolls it into view; nil removes the
// mark.
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

// begins reports whether code starts in the block.
func (b *Block) begins(c *draw.Code) bool { return c != nil && slices.Contains(b.codes, c) }

// NoCode explains why there is nothing to copy.
func (c *Pane) NoCode() string {
	if len(c.AllCode()) == 0 {
		return "There is no block of code in the chat."
	}
	return ""
}
