package draw

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Button is where a key stands on the screen with what it does: a click there does
// that.
type Button struct {
	Rect
	id string // of the action
}

// Buttons is where parts, which flow has put into lines, stand in them: one for
// each action, in their order.
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

// Pressed is the action of the button at a cell.
func Pressed(all []Button, x, y int) (id string, found bool) {
	for _, b := range all {
		if b.Contains(x, y) {
			return b.id, true
		}
	}
	return "", false
}

// Answerable is a dialog with keys inside it that can be clicked on.
type Answerable interface {
	// ButtonAt is the action at a cell of the dialog's area.
	ButtonAt(x, y int) (id string, found bool)
}

// Listed is a dialog whose rows can be chosen.
type Listed interface {
	Again() bool
	Unpick()
}
