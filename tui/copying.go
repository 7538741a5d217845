package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
)

// copyLimit is from where on a text is more than some terminals take, in bytes:
// xterm's limit for what a program puts into the clipboard.
const copyLimit = 74_994

// copyText hands a text to the terminal's clipboard. Whether it has arrived there
// nobody tells: what is said of it is that it was sent.
func (m *Model) copyText(what, text string) tea.Cmd {
	m.toasts.clear() // a drag with the mouse is no key, which would have done it
	m.toast("info", what+", sent to the clipboard")
	if len(text)*4/3 > copyLimit {
		m.toast("warn", fmt.Sprint(len(text)>>10)+" KB: more than some terminals take")
	}
	return m.clipboard(text)
}

// allCode is every block of code in the chat, the oldest first.
func (c *chatPane) allCode() []*code {
	var out []*code
	for _, b := range c.blocks {
		for _, code := range b.codes {
			if code.text != "" {
				out = append(out, code)
			}
		}
	}
	return out
}

// copyCode copies the newest block of code that is in view, and pressed again
// the one before. It is marked until another key is pressed.
func (m *Model) copyCode() tea.Cmd {
	c := m.chat
	all := c.allCode()
	at := -1
	if m.copied != nil {
		for i, code := range all {
			if code == m.copied {
				at = (i + len(all) - 1) % len(all)
			}
		}
	}
	if at < 0 {
		at = c.codeInView(all)
	}
	m.copied = all[at]
	c.mark(all[at])
	return m.copyText(fmt.Sprintf("code block %d of %d, %s", at+1, len(all), plural(all[at].lines(), "line")), all[at].text)
}

// codeInView is the newest block of code of which something is in view, else the
// last one above it, else the first.
func (c *chatPane) codeInView(all []*code) int {
	c.lines()
	last := -1
	for _, line := range c.shown {
		last = max(last, line.block)
	}
	if last < 0 {
		return len(all) - 1
	}
	n := 0
	for _, b := range c.blocks[:last+1] {
		for _, code := range b.codes {
			if code.text != "" {
				n++
			}
		}
	}
	return max(n-1, 0)
}

// mark marks a block of code, and takes the mark from the one before; nil marks
// none. What is marked is brought into view.
func (c *chatPane) mark(marked *code) {
	if c.marked == marked {
		return
	}
	was := c.marked
	c.marked, c.drawn = marked, false
	at := -1
	for i, b := range c.blocks {
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
	c.lines()
	if !slices.ContainsFunc(c.shown, func(l shownLine) bool { return l.block >= 0 && (l.block == at || c.blocks[l.block].of == marked) }) {
		c.show(spot{at, 0})
	}
}

// begins reports whether code begins in the block.
func (b *block) begins(c *code) bool { return c != nil && slices.Contains(b.codes, c) }
