package tui

import (
	"fmt"

	"replan/agent/event"
)

// compacted says that the oldest of the conversation was summed up, or is back.
func (c *chatPane) compacted(d event.ChatCompacted) *block {
	sizes := tokens(d.Before) + " → " + tokens(d.After) + " tokens"
	if c.look.theme.Mode.ASCII {
		sizes = tokens(d.Before) + " to " + tokens(d.After) + " tokens"
	}
	if d.Undone {
		words := plural(d.Turns, "message") + " stand in the conversation again, word for word"
		if d.Before > 0 {
			words += ", " + sizes
		}
		b := c.note("info", words)
		b.gap = true
		return b
	}
	how := "summed up"
	if d.ByRule {
		how = "shortened"
	}
	words := fmt.Sprintf("%s %s, %s", plural(d.Turns, "message"), how, sizes)
	if d.Reason != "" {
		words += " (" + d.Reason + ")"
	}
	b := c.note("info", words+" "+c.look.glyphs.Separator+" /compact undo brings them back")
	b.gap = true
	return b
}
