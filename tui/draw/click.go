package draw

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Button is the area of a key hint on the screen; a click there triggers its
// action.
type Button struct {
	Rect
	id string // of the action
}

// Buttons returns the positions of parts in the lines that Flow made of them,
// one button per action, in order.
func Buttons(lines, parts, ids []string) []Button {
	var out []Button
	y, from := 0, 0
	for i, part := range parts {
		text := ansi.Strip(part)
		for y < len(lines) {
			line := ansi.Strip(lines[y])
			at := strings.Index(line[from:], text)
			if at < 0 {
				y, from = y+1, 0
				continue
			}
			out = append(out, Button{Rect{VisibleWidth(line[:from+at]), y, VisibleWidth(text), 1}, ids[i]})
			from += at + len(text)
			break
		}
	}
	return out
}

// Pressed returns the action of the button at a cell.
func Pressed(all []Button, x, y int) (id string, found bool) {
	for _, b := range all {
		if b.Contains(x, y) {
			return b.id, true
		}
	}
	return "", false
}
