package chat

import (
	"strings"

	"charm.land/lipgloss/v2"

	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/story"
)

// remarkBlock returns a block for an event, with a glyph before its text.
func remarkBlock(l *draw.Styles, glyph func(*draw.Styles) string, style func(*draw.Styles) lipgloss.Style, text string) *Block {
	text = untrusted.Visible(strings.TrimSpace(text))
	return changingRemark(l, glyph, style, func() string { return text })
}

// changingRemark is like remarkBlock for a text that may change, if the block is revived.
func changingRemark(l *draw.Styles, glyph func(*draw.Styles) string, style func(*draw.Styles) lipgloss.Style, text func() string) *Block {
	return &Block{text: text, until: func() bool { return true }, lay: func(width int) []draw.TextLine {
		return draw.Led(style(l).Render(glyph(l))+" ", l.Muted, draw.Wrapped(text(), width-2))
	}}
}

// noteBlock returns a block with something the user should know.
func noteBlock(l *draw.Styles, level, text string) *Block {
	var b *Block
	switch level {
	case "error":
		b = remarkBlock(l, failedGlyph, dangerStyle, text)
	case "warn":
		b = remarkBlock(l, warningGlyph, warningStyle, text)
	default:
		b = remarkBlock(l, separatorGlyph, faintStyle, text)
	}
	return b.asNote()
}

// entryBlock returns a block with the words of an entry.
func entryBlock(l *draw.Styles, e story.Entry) *Block {
	switch {
	case e.Kind == story.Granted && e.Level == story.Warn:
		return remarkBlock(l, gateGlyph, warningStyle, e.Words+" "+l.Glyphs.Separator+" untrusted text")
	case e.Kind == story.Granted:
		return remarkBlock(l, gateGlyph, faintStyle, e.Words)
	case e.Kind == story.Accepted && e.Level != story.Done:
		return remarkBlock(l, func(l *draw.Styles) string { return l.Glyphs.Unchecked }, warningStyle, e.Words)
	}
	switch e.Level {
	case story.Done:
		return remarkBlock(l, doneGlyph, successStyle, e.Words)
	case story.Failed:
		return remarkBlock(l, failedGlyph, dangerStyle, e.Words)
	case story.Declined:
		return remarkBlock(l, declinedGlyph, textStyle, e.Words)
	case story.Asks:
		return remarkBlock(l, gateGlyph, warningStyle, e.Words)
	case story.Decision:
		return remarkBlock(l, separatorGlyph, faintStyle, e.Words)
	case story.Fatal:
		return noteBlock(l, "error", e.Words)
	case story.Trouble, story.Warn, story.Doubt:
		return noteBlock(l, "warn", e.Words)
	default:
		return noteBlock(l, "info", e.Words)
	}
}

// doneGlyph returns the glyph of success.
func doneGlyph(l *draw.Styles) string { return l.Glyphs.Done }

// failedGlyph returns the glyph of a failure.
func failedGlyph(l *draw.Styles) string   { return l.Glyphs.Failed }
func declinedGlyph(l *draw.Styles) string { return l.Glyphs.Declined }
func warningGlyph(l *draw.Styles) string  { return l.Glyphs.Warning }

// separatorGlyph returns the glyph between two parts of a line.
func separatorGlyph(l *draw.Styles) string { return l.Glyphs.Separator }

// gateGlyph returns the glyph of a gate.
func gateGlyph(l *draw.Styles) string { return l.Glyphs.Gate }

// successStyle returns the style of a success.
func successStyle(l *draw.Styles) lipgloss.Style { return l.Success }

// dangerStyle returns the style of a failure.
func dangerStyle(l *draw.Styles) lipgloss.Style { return l.Danger }

// textStyle returns the style of plain text.
func textStyle(l *draw.Styles) lipgloss.Style { return l.Text }

// warningStyle returns the style of a warning.
func warningStyle(l *draw.Styles) lipgloss.Style { return l.Warning }

// faintStyle returns the style of the least important text.
func faintStyle(l *draw.Styles) lipgloss.Style { return l.Faint }
