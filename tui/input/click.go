package input

import (
	"strings"

	"replan/tui/draw"
)

// PointAt moves the cursor to a cell of the input.
func (i *Input) PointAt(x, y int) {
	c := i.Cursor()
	if c == nil || i.closed != nil || y < 0 || y >= i.Area.Height() {
		return
	}
	was, _ := i.Split()
	for n := c.Y; n < y; n++ {
		i.Area.CursorDown()
	}
	for n := c.Y; n > y; n-- {
		i.Area.CursorUp()
	}
	const prompt = 2 // cells
	row := i.Area.LineInfo()
	lines := strings.Split(i.Area.Value(), "\n")
	text := []rune(lines[min(i.Area.Line(), len(lines)-1)])
	column, end := row.StartColumn, min(row.StartColumn+row.Width, len(text))
	for cells := prompt; column < end; column++ {
		if cells += draw.VisibleWidth(string(text[column])); cells > x {
			break
		}
	}
	if column == end && end < len(text) && end > row.StartColumn {
		column-- // past the last cell of a wrapped row, the position belongs to the next row
	}
	i.Area.SetCursorColumn(column)
	i.stepOver(was)
}
