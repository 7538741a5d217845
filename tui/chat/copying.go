package chat

import (
	"fmt"
	"slices"

	"replan/internal/english"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// codeCopier copies blocks of code from the chat.
type codeCopier struct {
	chat   *viewport
	marked *draw.Code // last copied code
}

// all returns every code block in the chat, oldest first.
func (c *codeCopier) all() []*draw.Code {
	var out []*draw.Code
	for _, b := range c.chat.Blocks {
		for _, code := range b.codes {
			if code.Text != "" {
				out = append(out, code)
			}
		}
	}
	return out
}

// inView returns the index of the newest code block that is partly visible,
// else the last one above the view, else the first.
func (c *codeCopier) inView(all []*draw.Code) int {
	c.chat.layOut()
	last := -1
	for _, line := range c.chat.shown {
		last = max(last, line.Block)
	}
	if last < 0 {
		return len(all) - 1
	}
	n := 0
	for _, b := range c.chat.Blocks[:last+1] {
		for _, code := range b.codes {
			if code.Text != "" {
				n++
			}
		}
	}
	return max(n-1, 0)
}

// mark moves the mark to a code block and scrolls it into view; nil removes the
// mark.
func (c *codeCopier) mark(marked *draw.Code) {
	if c.marked == marked {
		return
	}
	was := c.marked
	c.marked, c.chat.drawn = marked, false
	at := -1
	for i, b := range c.chat.Blocks {
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
	c.chat.layOut()
	if !slices.ContainsFunc(c.chat.shown, func(l draw.SpotLine) bool {
		return l.Block >= 0 && (l.Block == at || c.chat.Blocks[l.Block].of == marked)
	}) {
		c.chat.show(draw.Spot{Block: at})
	}
}

// begins reports whether code starts in the block.
func (b *Block) begins(c *draw.Code) bool { return c != nil && slices.Contains(b.codes, c) }

// refusal explains why there is nothing to copy.
func (c *codeCopier) refusal() string {
	if len(c.all()) == 0 {
		return "The chat has no code block."
	}
	return ""
}

// next copies the newest visible block of code; repeated, the one before.
// The block stays marked until [Pane.Unmark].
func (c *codeCopier) next() keymap.Requests {
	all := c.all()
	at := slices.Index(all, c.marked)
	if c.marked == nil || at < 0 {
		at = c.inView(all)
	} else {
		at = (at + len(all) - 1) % len(all)
	}
	code := all[at]
	c.mark(code)
	what := fmt.Sprintf("code block %d of %d, %s", at+1, len(all), english.Count(code.Lines(), "line"))
	return keymap.Requests{keymap.Copy{What: what, Text: code.Text}}
}
