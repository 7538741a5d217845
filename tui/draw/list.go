package draw

import (
	"fmt"
	"strings"

	"replan/tui/keymap"

	"charm.land/lipgloss/v2"
)

// List is a list in a dialog: which of it is chosen, and what is in view.
type List struct {
	At    int // chosen
	Top   int // First in view
	fits  int // how many are in view
	Each  int // lines of one
	First int // line of the first, from the top of the dialog's area; of the screen, where it stands over the input
	Count int // of one over the input: how many there are

	picked bool // the chosen one was clicked on, and no key has come since
	twice  bool // the last click was on it again
}

// Move moves the cursor by n among count items.
func (l *List) Move(n, count int) { l.At = max(min(l.At+n, count-1), 0) }

// Unpick forgets that the chosen one was clicked on.
func (l *List) Unpick() { l.picked, l.twice = false, false }

// Again reports once whether the last click was on what a click had chosen.
func (l *List) Again() bool {
	twice := l.twice
	l.twice = false
	if twice {
		l.picked = false
	}
	return twice
}

// Moving moves the choice among count. Where letters are typed into the dialog,
// none of them moves it.
func (l *List) Moving(typing bool, count int) keymap.Handlers {
	by := func(n int) keymap.Handler { return keymap.Handler{Do: keymap.Just(func() { l.Move(n, count) })} }
	page := max(l.fits-1, 1)
	hs := keymap.Handlers{"move.page_up": by(-page), "move.half_up": by(-page), "move.page_down": by(page), "move.half_down": by(page)}
	if typing {
		return hs.With(keymap.Handlers{"list.up": by(-1), "list.down": by(1)})
	}
	return hs.With(keymap.Handlers{"move.up": by(-1), "move.down": by(1), "move.first": by(-count), "move.last": by(count), "move.onward": by(page)})
}

// Clicked chooses what is drawn at that line of the dialog's area, and reports
// whether something is.
func (l *List) Clicked(y, count int) bool {
	if y < l.First || l.Each == 0 {
		return false
	}
	i := (y - l.First) / l.Each
	if i >= l.fits || l.Top+i >= count {
		return false
	}
	l.twice = l.picked && l.At == l.Top+i
	l.At, l.picked = l.Top+i, true
	return true
}

// Window brings the chosen one of count into a view of room lines, each lines
// for one, and returns the end of what is in view.
func (l *List) Window(count, room, each int) (end int) {
	l.Each, l.fits = each, max(room/each, 1)
	l.Move(0, count)
	l.Top = max(min(l.Top, l.At, count-l.fits), l.At-l.fits+1, 0)
	return min(l.Top+l.fits, count)
}

// Span says which of count are in view, where they are not all.
func (l *Look) Span(top, end, count int) string {
	if end-top >= count {
		return ""
	}
	return l.Faint.Render(fmt.Sprintf("%d-%d of %d", top+1, end, count))
}

// LitLine draws the parts of a line that can be chosen.
type LitLine struct {
	look   *Look
	Lit    func(lipgloss.Style) lipgloss.Style
	Cursor string // the first cell
}

// Line begins a line with the cursor where it is chosen, and lights it where
// keys act on it.
func (l *Look) Line(chosen, acts bool) LitLine {
	line := LitLine{look: l, Lit: func(s lipgloss.Style) lipgloss.Style { return s }, Cursor: " "}
	if chosen && acts {
		line.Lit = l.Selected
	}
	if chosen {
		line.Cursor = line.Lit(l.Accent).Render(l.Glyphs.Cursor)
	}
	return line
}

// Draw draws text in a style.
func (r LitLine) Draw(style lipgloss.Style, text string) string { return r.Lit(style).Render(text) }

// Fill makes what is drawn exactly width cells wide.
func (r LitLine) Fill(drawn string, width int) string {
	drawn = r.look.Cut(drawn, width)
	return drawn + r.Blank(width-VisibleWidth(drawn))
}

// Blank is that many cells with nothing in them.
func (r LitLine) Blank(cells int) string {
	return r.Lit(r.look.Text).Render(strings.Repeat(" ", max(cells, 0)))
}

// WheelStep is how many lines a turn of the wheel is.
const WheelStep = 3
