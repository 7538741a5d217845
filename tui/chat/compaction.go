package chat

import (
	"fmt"

	"replan/agent/event"
	"replan/internal/english"
	"replan/tui/telling"
)

// Compacted returns a note that old messages were summarized, or restored.
func (c *Pane) Compacted(d event.ChatCompacted) *Block {
	sizes := telling.Tokens(d.Before) + " → " + telling.Tokens(d.After) + " tokens"
	if c.Look.Theme.Mode.ASCII {
		sizes = telling.Tokens(d.Before) + " to " + telling.Tokens(d.After) + " tokens"
	}
	if d.Undone {
		words := english.Count(d.Turns, "message") + " stand in the conversation again, word for word"
		if d.Before > 0 {
			words += ", " + sizes
		}
		b := c.Note("info", words)
		b.Gap = true
		return b
	}
	how := "summed up"
	if d.ByRule {
		how = "shortened"
	}
	words := fmt.Sprintf("%s %s, %s", english.Count(d.Turns, "message"), how, sizes)
	if d.Reason != "" {
		words += " (" + d.Reason + ")"
	}
	b := c.Note("info", words+" "+c.Look.Glyphs.Separator+" /compact undo brings them back")
	b.Gap = true
	return b
}
