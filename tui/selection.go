package tui

import (
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/tui/chat"
	"replan/tui/draw"
)

// selection is text selected with the mouse. In the chat it is tied to lines of
// the conversation and moves with them; elsewhere, to lines of the screen.
type selection struct {
	on       bool
	inChat   bool
	area     draw.Rect // the screen area that bounds it
	from, to mark
	dragging bool
	moved    bool
	clicks   int // quick clicks in one place: 1 selects characters, 2 a word, 3 a line

	last time.Time // time of the last click
	x, y int
}

// mark is one end of a selection: a cell of a line. Outside the chat, the line
// is a screen line of block 0.
type mark struct {
	chat.Spot
	column int
}

// before reports whether a precedes b.
func (a mark) before(b mark) bool {
	if a.Spot != b.Spot {
		return a.Before(b.Spot)
	}
	return a.column < b.column
}

// ends returns both ends of the selection in order.
func (s *selection) ends() (from, to mark) {
	if s.to.before(s.from) {
		return s.to, s.from
	}
	return s.from, s.to
}

// againWithin is the maximum time between clicks that count together.
const againWithin = 400 * time.Millisecond

// selector selects text with the mouse.
type selector struct {
	selection
	chat *chat.Pane
	look *draw.Look
	// screen returns every line of the screen.
	screen func() []string
}

// start begins a selection at the pressed cell within an area of the screen;
// inChat tells whether that is the chat.
func (s *selector) start(at tea.Mouse, now time.Time, area draw.Rect, inChat bool) {
	clicks := 1
	if s.x == at.X && s.y == at.Y && now.Sub(s.last) < againWithin {
		clicks = s.clicks%3 + 1
	}
	s.chat.Chosen = nil
	s.selection = selection{last: now, x: at.X, y: at.Y, clicks: clicks, area: area, inChat: inChat}
	if area.W == 0 {
		return
	}
	where, ok := s.markAt(at.X, at.Y)
	if !ok {
		return
	}
	s.on, s.dragging = true, true
	s.from, s.to = where, where
	if s.inChat {
		s.chat.Chosen = []*chat.Spot{&s.from.Spot, &s.to.Spot}
	}
	switch clicks {
	case 2:
		s.selectWord(where)
	case 3:
		s.selectLine(where)
	}
}

// framed returns the inside of the frame around a screen cell.
func (s *selector) framed(x, y int) draw.Rect {
	screen := s.screen()
	side := s.look.Glyphs.Border.Left
	edges := func(y int) (left, right int) {
		left, right = -1, -1
		line := ansi.Strip(screen[y])
		for at := 0; ; {
			i := strings.Index(line[at:], side)
			if i < 0 {
				return left, right
			}
			cell := ansi.StringWidth(line[:at+i])
			if cell < x && left < 0 {
				left = cell
			}
			if cell > x {
				right = cell
			}
			at += i + len(side)
		}
	}
	if y < 0 || y >= len(screen) {
		return draw.Rect{}
	}
	left, right := edges(y)
	if left < 0 || right < 0 {
		return draw.Rect{}
	}
	same := func(y int) bool {
		l, r := edges(y)
		return l == left && r == right
	}
	first, last := y, y
	for first > 0 && same(first-1) {
		first--
	}
	for last+1 < len(screen) && same(last+1) {
		last++
	}
	return draw.Rect{X: left + 2, Y: first, W: right - left - 3, H: last - first + 1}
}

// markAt returns the mark in the selection's area nearest to a screen cell.
func (s *selector) markAt(x, y int) (mark, bool) {
	a := s.area
	x, y = max(min(x, a.X+a.W-1), a.X), max(min(y, a.Y+a.H-1), a.Y)
	if !s.inChat {
		return mark{chat.Spot{Block: 0, Line: y}, x}, true
	}
	s.chat.Lines()
	shown := s.chat.Shown
	for i := min(y-a.Y, len(shown)-1); i >= 0; i-- {
		if shown[i].Block >= 0 {
			return mark{shown[i].Spot, x - a.X}, true
		}
	}
	return mark{}, false
}

// drag extends the selection to the pointer. Beyond the chat's edge it scrolls.
func (s *selector) drag(at tea.Mouse) {
	if !s.dragging || s.clicks > 1 {
		return
	}
	if s.inChat {
		switch {
		case at.Y < s.area.Y:
			s.chat.Scroll(1)
		case at.Y >= s.area.Y+s.area.H:
			s.chat.Scroll(-1)
		}
	}
	if where, ok := s.markAt(at.X, at.Y); ok && where != s.to {
		s.to, s.moved = where, true
	}
}

// release ends the selection and returns the selected text, "" for none. A
// click that selects nothing toggles the folded block under it.
func (s *selector) release() (text string) {
	if !s.dragging {
		return ""
	}
	s.dragging = false
	if !s.moved && s.clicks == 1 {
		s.unselect()
		if s.inChat && s.from.Block < len(s.chat.Blocks) {
			s.chat.TurnFold(s.from.Block)
		}
		return ""
	}
	text = s.selectedText()
	if strings.TrimSpace(text) == "" {
		s.unselect()
		return ""
	}
	return text
}

// unselect clears the selection.
func (s *selector) unselect() { s.on, s.dragging, s.chat.Chosen = false, false, nil }

// selectedLines returns the selected lines, cut to the selection.
func (s *selector) selectedLines() []draw.TextLine {
	from, to := s.ends()
	var lines []draw.TextLine
	if s.inChat {
		c := s.chat
		for p := from.Spot; !to.Before(p) && p.Block < len(c.Blocks); p = (chat.Spot{Block: p.Block + 1, Line: 0}) {
			all := c.LinesOf(p.Block)
			for ; p.Line < len(all) && !to.Before(p); p.Line++ {
				lines = append(lines, all[p.Line])
			}
		}
	} else {
		a := s.area
		screen := s.screen()
		guide := s.look.Glyphs.Guide + " "
		for y := from.Line; y <= to.Line && y < len(screen); y++ {
			line := draw.TextLine{Text: ansi.Truncate(screen[y], a.X+a.W, ""), Lead: a.X}
			if strings.HasPrefix(ansi.Strip(ansi.TruncateLeft(line.Text, a.X, "")), guide) {
				line.Lead += 2
			}
			lines = append(lines, line)
		}
	}
	if n := len(lines); n > 0 {
		lines[n-1].Text = ansi.Truncate(lines[n-1].Text, to.column+1, "")
		lines[0].Lead = max(lines[0].Lead, from.column)
		lines[0].Join = draw.Apart
	}
	return lines
}

// selectedText returns the selected text without borders, gutters and the line
// breaks added by wrapping.
func (s *selector) selectedText() string { return draw.Unbroken(s.selectedLines()) }

// lineAt returns the drawn line of a mark.
func (s *selector) lineAt(at mark) draw.TextLine {
	if s.inChat {
		if lines := s.chat.LinesOf(at.Block); at.Line < len(lines) {
			return lines[at.Line]
		}
		return draw.TextLine{}
	}
	a := s.area
	if screen := s.screen(); at.Line < len(screen) {
		return draw.TextLine{Text: ansi.Truncate(screen[at.Line], a.X+a.W, ""), Lead: a.X}
	}
	return draw.TextLine{}
}

// selectWord selects the word at a mark, bounded by characters that [inWord]
// rejects.
func (s *selector) selectWord(at mark) {
	line := s.lineAt(at)
	column, from, to := 0, -1, -1
	for _, r := range ansi.Strip(line.Text) {
		w := ansi.StringWidth(string(r))
		switch {
		case column < line.Lead || !inWord(r):
			if column <= at.column {
				from = -1
			} else if to < 0 {
				to = column
			}
		case from < 0 && to < 0 && column <= at.column:
			from = column
		}
		column += w
	}
	if from < 0 {
		s.unselect()
		return
	}
	if to < 0 {
		to = column
	}
	s.from.column, s.to.column = from, to-1
}

// inWord reports whether r belongs to a word. Paths and names of all kinds are
// one word.
func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("_-./:@~+%#&=?\\$", r)
}

// selectLine selects the whole line at a mark, across wrapped lines.
func (s *selector) selectLine(at mark) {
	from, to := at, at
	if s.inChat {
		lines := s.chat.LinesOf(at.Block)
		for from.Line > 0 && lines[from.Line].Join != draw.Apart {
			from.Line--
		}
		for to.Line+1 < len(lines) && lines[to.Line+1].Join != draw.Apart {
			to.Line++
		}
	}
	from.column = s.lineAt(from).Lead
	to.column = max(ansi.StringWidth(strings.TrimRight(ansi.Strip(s.lineAt(to).Text), " "))-1, from.column)
	s.from, s.to = from, to
	if s.inChat {
		s.chat.Chosen = []*chat.Spot{&s.from.Spot, &s.to.Spot}
	}
}

// light highlights the selection on the lines of the screen.
func (s *selector) light(screen []string) {
	if !s.on || !s.moved && s.clicks == 1 {
		return
	}
	from, to := s.ends()
	style := lipgloss.NewStyle().Reverse(true)
	draw := func(y int, at chat.Spot, x, lead, end int) {
		if at.Before(from.Spot) || to.Before(at) || y >= len(screen) {
			return
		}
		if at == from.Spot {
			lead = max(lead, from.column)
		}
		if at == to.Spot {
			end = min(end, to.column+1)
		}
		screen[y] = chat.Relit(screen[y], x+lead, x+end, style)
	}
	if s.inChat {
		for i, line := range s.chat.Shown {
			if line.Block >= 0 {
				draw(s.area.Y+i, line.Spot, s.area.X, line.Lead, ansi.StringWidth(line.Text))
			}
		}
		return
	}
	for y := from.Line; y <= to.Line && y < len(screen); y++ {
		text := ansi.Strip(ansi.Truncate(screen[y], s.area.X+s.area.W, ""))
		draw(y, chat.Spot{Block: 0, Line: y}, 0, s.area.X, ansi.StringWidth(strings.TrimRight(text, " ")))
	}
}
