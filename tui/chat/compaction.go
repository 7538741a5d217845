package chat

import (
	"replan/agent/event"
	"replan/tui/telling"
)

// Compacted returns a note that old messages were summarized, or restored.
func (c *Pane) Compacted(d event.ChatCompacted) *Block {
	sizes := telling.Tokens(d.Before) + " → " + telling.Tokens(d.After) + " tokens"
	if c.Styles.Theme.Mode.ASCII {
		sizes = telling.Tokens(d.Before) + " to " + telling.Tokens(d.After) + " tokens"
	}
	if d.Undone {
		words := telling.CompactedWords(d) + ", word for word"
		if d.Before > 0 {
			words += ", " + sizes
		}
		b := c.Note("info", words)
		b.Gap = true
		return b
	}
	words := telling.CompactedWords(d) + ", " + sizes
	if d.Reason != "" {
		words += " (" + d.Reason.Visible() + ")"
	}
	b := c.Note("info", words+" "+c.Styles.Glyphs.Separator+" /compact undo restores them")
	b.Gap = true
	return b
}
