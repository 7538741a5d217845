package step

import (
	"strings"

	"replan/tui/draw"
)

// sheetView is the visible part of a sheet.
type sheetView struct {
	sheet *draw.Sheet
	top   draw.SheetSpot
	rows  int  // visible
	atEnd bool // it follows new output
}

// toTop shows the start, and follows new output from there on.
func (v *sheetView) toTop() { v.top, v.atEnd = draw.SheetSpot{}, true }

// reset shows the start.
func (v *sheetView) reset() { v.top = draw.SheetSpot{} }

// move scrolls by rows, down if rows is positive.
func (v *sheetView) move(rows int) {
	const far = 1 << 16 // rows; scrolls to the start or the end
	if v.sheet == nil {
		return
	}
	switch {
	case rows <= -far:
		v.top = draw.SheetSpot{}
	case rows >= far:
		v.top = v.sheet.Last(v.rows)
	default:
		v.top = v.sheet.Move(v.top, rows)
	}
	v.atEnd = rows > 0 && v.ended()
}

// ended reports whether the end is in view.
func (v *sheetView) ended() bool { return !v.top.Before(v.sheet.Last(v.rows)) }

// show draws the visible rows of a sheet. One that grows is followed, unless the user
// scrolled up.
func (v *sheetView) show(sheet *draw.Sheet, rows int, grows bool) []string {
	v.sheet, v.rows = sheet, rows
	if grows && v.atEnd {
		v.top = sheet.Last(rows)
	}
	return sheet.View(&v.top, rows)
}

// place returns which part of the sheet is in view.
func (v *sheetView) place() string {
	if v.sheet == nil {
		return ""
	}
	return v.sheet.Place(v.top, v.rows)
}

// plain returns every line of the sheet without colors.
func (v *sheetView) plain() string {
	if v.sheet == nil {
		return ""
	}
	var b strings.Builder
	for line := range v.sheet.Total {
		for _, row := range v.sheet.Rows(line) {
			b.WriteString(draw.Unstyled(row))
			b.WriteByte('\n')
		}
	}
	return b.String()
}
