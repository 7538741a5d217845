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

func newCodeCopier(chat *viewport) *codeCopier { return &codeCopier{chat: chat} }

// isMarked reports whether code was copied last.
func (c *codeCopier) isMarked(code *draw.Code) bool { return c.marked == code }

// all returns every code block in the chat, oldest first.
func (c *codeCopier) all() []*draw.Code {
	var out []*draw.Code
	for _, b := range c.chat.Blocks {
		out = append(out, b.written()...)
	}
	return out
}

// inView returns the index of the newest code block that is partly visible,
// else the last one above the view, else the first.
func (c *codeCopier) inView(all []*draw.Code) int {
	last := -1
	for _, line := range c.chat.Visible() {
		last = max(last, line.Block)
	}
	if last < 0 {
		return len(all) - 1
	}
	n := 0
	for _, b := range c.chat.Blocks[:last+1] {
		n += len(b.written())
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
	c.marked = marked
	c.chat.refresh()
	at := -1
	for i, b := range c.chat.Blocks {
		if b.continues(was) || b.continues(marked) || b.begins(was) || b.begins(marked) {
			b.repaint()
		}
		if b.begins(marked) {
			at = i
		}
	}
	if at < 0 {
		return
	}
	if !slices.ContainsFunc(c.chat.Visible(), func(l draw.SpotLine) bool {
		return l.Block >= 0 && (l.Block == at || c.chat.Blocks[l.Block].continues(marked))
	}) {
		c.chat.show(draw.Spot{Block: at})
	}
}

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
