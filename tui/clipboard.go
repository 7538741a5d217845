package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"replan/tui/frame"
	"replan/tui/replay"
)

// copyLimit is the size, in bytes, above which some terminals reject text:
// xterm's limit for what a program writes to the clipboard.
const copyLimit = 74_994

// clipboard is the terminal's clipboard.
type clipboard struct {
	send   func(text string) tea.Cmd
	toasts *frame.Toasts
}

// copy sends a text to the clipboard. Terminals do not confirm the copy, so the notice
// only says that the text was sent; what names it.
func (c *clipboard) copy(what, text string) tea.Cmd {
	c.toasts.Clear() // a mouse drag, unlike a key, has not cleared them
	c.toasts.Show("info", what+", sent to the clipboard")
	if len(text)*4/3 > copyLimit {
		c.toasts.Show("warn", fmt.Sprint(len(text)>>10)+" KB: too large for some terminals")
	}
	return c.send(text)
}

// write sends a text to the clipboard without a notice.
func (c *clipboard) write(text string) tea.Cmd { return c.send(text) }

// outward has what is copied leave the screen that a replay plays on.
func (c *clipboard) outward() {
	send := c.send
	c.send = func(text string) tea.Cmd { return replay.Outward(send(text)) }
}
