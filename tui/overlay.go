package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"replan/tui/draw"
)

// The minimum screen size on which a dialog lies over the panes, in cells. On a
// smaller one it has the screen to itself.
const (
	overlayWidth  = 60
	overlayHeight = 20
)

// underlaid returns the lines of a dialog with the panes around it, dimmed.
func (m *Model) underlaid(dialog []string) []string {
	l := m.look
	if m.panes.Layout().Width < overlayWidth || m.panes.Layout().Height < overlayHeight {
		return dialog
	}
	box := boxOf(dialog)
	if box.H == 0 || box.W >= m.panes.Layout().Width-2 && box.H >= len(dialog)-2 {
		return dialog
	}
	below := m.body()
	for i := range min(len(dialog), len(below)) {
		plain := ansi.Strip(below[i])
		if i < box.Y || i >= box.Y+box.H {
			dialog[i] = l.Faint.Render(plain)
			continue
		}
		left := ansi.Truncate(plain, box.X, "")
		left += strings.Repeat(" ", max(box.X-draw.VisibleWidth(left), 0))
		right := ansi.TruncateLeft(plain, box.X+box.W, "")
		within := l.Exactly(ansi.TruncateLeft(dialog[i], box.X, ""), box.W)
		dialog[i] = l.Faint.Render(left) + within + l.Faint.Render(right)
	}
	return dialog
}

// boxOf returns the rectangle that the lines of a dialog fill.
func boxOf(lines []string) draw.Rect {
	first, last, left, right := -1, -1, 0, 0
	for i, line := range lines {
		plain := strings.TrimRight(ansi.Strip(line), " ")
		if plain == "" {
			continue
		}
		at := len(plain) - len(strings.TrimLeft(plain, " "))
		if first < 0 {
			first, left = i, at
		}
		last, left, right = i, min(left, at), max(right, draw.VisibleWidth(plain))
	}
	return draw.Rect{X: left, Y: max(first, 0), W: right - left, H: last - first + min(first+1, 1)}
}
