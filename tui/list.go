package tui

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
)

// list is a list in a dialog: which of it is chosen, and what is in view.
type list struct {
	at    int // chosen
	top   int // first in view
	fits  int // how many are in view
	each  int // lines of one
	first int // line of the first, from the top of the dialog's area; of the screen, where it stands over the input
	count int // of one over the input: how many there are

	picked bool // the chosen one was clicked on, and no key has come since
	twice  bool // the last click was on it again
}

func (l *list) move(n, count int) { l.at = max(min(l.at+n, count-1), 0) }

// unpick forgets that the chosen one was clicked on.
func (l *list) unpick() { l.picked, l.twice = false, false }

// again reports once whether the last click was on what a click had chosen.
func (l *list) again() bool {
	twice := l.twice
	l.twice = false
	if twice {
		l.picked = false
	}
	return twice
}

// moving moves the choice among count. Where letters are typed into the dialog,
// none of them moves it.
func (l *list) moving(typing bool, count int) handlers {
	by := func(n int) handler { return handler{do: just(func() { l.move(n, count) })} }
	page := max(l.fits-1, 1)
	hs := handlers{"move.page_up": by(-page), "move.half_up": by(-page), "move.page_down": by(page), "move.half_down": by(page)}
	if typing {
		return hs.with(handlers{"list.up": by(-1), "list.down": by(1)})
	}
	return hs.with(handlers{"move.up": by(-1), "move.down": by(1), "move.first": by(-count), "move.last": by(count), "move.onward": by(page)})
}

// clicked chooses what is drawn at that line of the dialog's area, and reports
// whether something is.
func (l *list) clicked(y, count int) bool {
	if y < l.first || l.each == 0 {
		return false
	}
	i := (y - l.first) / l.each
	if i >= l.fits || l.top+i >= count {
		return false
	}
	l.twice = l.picked && l.at == l.top+i
	l.at, l.picked = l.top+i, true
	return true
}

// window brings the chosen one of count into a view of room lines, each lines
// for one, and returns the end of what is in view.
func (l *list) window(count, room, each int) (end int) {
	l.each, l.fits = each, max(room/each, 1)
	l.move(0, count)
	l.top = max(min(l.top, l.at, count-l.fits), l.at-l.fits+1, 0)
	return min(l.top+l.fits, count)
}

// span says which of count are in view, where they are not all.
func (l *look) span(top, end, count int) string {
	if end-top >= count {
		return ""
	}
	return l.Faint.Render(fmt.Sprintf("%d-%d of %d", top+1, end, count))
}

// litLine draws the parts of a line that can be chosen.
type litLine struct {
	look   *look
	lit    func(lipgloss.Style) lipgloss.Style
	cursor string // the first cell
}

// line begins a line with the cursor where it is chosen, and lights it where
// keys act on it.
func (l *look) line(chosen, acts bool) litLine {
	line := litLine{look: l, lit: func(s lipgloss.Style) lipgloss.Style { return s }, cursor: " "}
	if chosen && acts {
		line.lit = l.Selected
	}
	if chosen {
		line.cursor = line.lit(l.Accent).Render(l.glyphs.Cursor)
	}
	return line
}

// draw draws text in a style.
func (r litLine) draw(style lipgloss.Style, text string) string { return r.lit(style).Render(text) }

// fill makes what is drawn exactly width cells wide.
func (r litLine) fill(drawn string, width int) string {
	drawn = r.look.cut(drawn, width)
	return drawn + r.blank(width-visibleWidth(drawn))
}

// blank is that many cells with nothing in them.
func (r litLine) blank(cells int) string {
	return r.lit(r.look.Text).Render(strings.Repeat(" ", max(cells, 0)))
}

// wheelStep is how many lines a turn of the wheel is.
const wheelStep = 3
