package draw

import (
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Spot is the position of a line: the line of a block of text. Both count from
// 0; lines outside any block have block -1.
type Spot struct{ Block, Line int }

// Before reports whether a comes before b.
func (a Spot) Before(b Spot) bool {
	return a.Block < b.Block || a.Block == b.Block && a.Line < b.Line
}

// SpotLine is a drawn line and its position.
type SpotLine struct {
	Spot
	TextLine
}

// Restyle draws the cells of a drawn line between from and to in another style.
func Restyle(line string, from, to int, style lipgloss.Style) string {
	w := ansi.StringWidth(line)
	if from = max(from, 0); from >= min(to, w) {
		return line
	}
	middle := ansi.Strip(ansi.Cut(line, from, to))
	return ansi.Truncate(line, from, "") + style.Render(middle) + ansi.TruncateLeft(line, to, "")
}
