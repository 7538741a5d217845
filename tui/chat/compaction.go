package chat

import (
	"replan/agent/event"
	"replan/tui/wording"
)

// Compacted returns a note that old messages were summarized, or restored.
func (c *Pane) Compacted(d event.ChatCompacted) *Block {
	sizes := wording.Tokens(d.Before) + " → " + wording.Tokens(d.After) + " tokens"
	if c.Styles.Theme.Mode.ASCII {
		sizes = wording.Tokens(d.Before) + " to " + wording.Tokens(d.After) + " tokens"
	}
	if d.Undone {
		words := wording.CompactedWords(d) + ", word for word"
		if d.Before > 0 {
			words += ", " + sizes
		}
		b := c.Note("info", words)
		b.Gap = true
		return b
	}
	words := wording.CompactedWords(d) + ", " + sizes
	if d.Reason != "" {
		words += " (" + d.Reason.Visible() + ")"
	}
	b := c.Note("info", words+" "+c.Styles.Glyphs.Separator+" /compact undo restores them")
	b.Gap = true
	return b
}
