package tui

import (
	"strings"
	"time"
	"unicode"

	"replan/internal/english"
	"replan/tui/chat"
	"replan/tui/draw"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// selection is text that was drawn over with the mouse. In the chat it belongs to
// the lines of the conversation and moves with them, elsewhere to those of the
// screen.
type selection struct {
	on       bool
	chat     bool
	area     draw.Rect // of the screen, that it keeps to
	from, to mark
	dragging bool
	moved    bool
	clicks   int // in one place, one soon after the other: letters, a word, a line

	last time.Time // of the last click
	x, y int
}

// mark is an end of a selection: a cell of a line. Outside of the chat the line
// is one of the screen, of block 0.
type mark struct {
	chat.Spot
	column int
}

// Before reports whether a stands before b.
func (a mark) before(b mark) bool {
	if a.Spot != b.Spot {
		return a.Spot.Before(b.Spot)
	}
	return a.column < b.column
}

// ends are the ends of the selection, the first one first.
func (s *selection) ends() (from, to mark) {
	if s.to.before(s.from) {
		return s.to, s.from
	}
	return s.from, s.to
}

// againWithin is how soon a click must follow another to count with it.
const againWithin = 400 * time.Millisecond

// startSelection begins a selection where the left button was pressed.
func (m *Model) startSelection(at tea.Mouse) {
	now, s := m.options.Now(), &m.selected
	clicks := 1
	if s.x == at.X && s.y == at.Y && now.Sub(s.last) < againWithin {
		clicks = s.clicks%3 + 1
	}
	m.chat.Chosen = nil
	*s = selection{last: now, x: at.X, y: at.Y, clicks: clicks}
	if s.area, s.chat = m.selectable(at.X, at.Y); s.area.W == 0 {
		return
	}
	where, ok := m.markAt(at.X, at.Y)
	if !ok {
		return
	}
	s.on, s.dragging = true, true
	s.from, s.to = where, where
	if s.chat {
		m.chat.Chosen = []*chat.Spot{&s.from.Spot, &s.to.Spot}
	}
	switch clicks {
	case 2:
		m.selectWord(where)
	case 3:
		m.selectLine(where)
	}
}

// selectable is the part of the screen that a selection from there keeps to, and
// whether that is the chat.
func (m *Model) selectable(x, y int) (area draw.Rect, chat bool) {
	l := m.layout
	switch {
	case m.over() != nil:
		return m.framed(x, y), false
	case l.sheet.H > 2 && l.sheet.Contains(x, y):
		return draw.Rect{X: l.sheet.X + 2, Y: l.sheet.Y + 1, W: l.sheet.W - 4, H: l.sheet.H - 2}, false
	case l.chat.Contains(x, y):
		return l.chat, true
	case l.plan.Contains(x, y):
		return l.plan, false
	case l.step.Contains(x, y):
		return l.step, false
	}
	return draw.Rect{}, false
}

// framed is the inside of the frame around a cell of the screen.
func (m *Model) framed(x, y int) draw.Rect {
	screen := m.screen()
	side := m.look.Glyphs.Border.Left
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

// markAt is the cell of the selection's area that is nearest to one of the
// screen.
func (m *Model) markAt(x, y int) (mark, bool) {
	a := m.selected.area
	x, y = max(min(x, a.X+a.W-1), a.X), max(min(y, a.Y+a.H-1), a.Y)
	if !m.selected.chat {
		return mark{chat.Spot{Block: 0, Line: y}, x}, true
	}
	m.chat.Lines()
	shown := m.chat.Shown
	for i := min(y-a.Y, len(shown)-1); i >= 0; i-- {
		if shown[i].Block >= 0 {
			return mark{shown[i].Spot, x - a.X}, true
		}
	}
	return mark{}, false
}

// drag draws the selection as far as the pointer. At the edge of the chat it
// scrolls.
func (m *Model) drag(at tea.Mouse) {
	s := &m.selected
	if !s.dragging || s.clicks > 1 {
		return
	}
	if s.chat {
		switch {
		case at.Y < s.area.Y:
			m.chat.Scroll(1)
		case at.Y >= s.area.Y+s.area.H:
			m.chat.Scroll(-1)
		}
	}
	if where, ok := m.markAt(at.X, at.Y); ok && where != s.to {
		s.to, s.moved = where, true
	}
}

// release ends the selection and copies what was selected. A click that selected
// nothing unfolds what is under it.
func (m *Model) release() tea.Cmd {
	s := &m.selected
	if !s.dragging {
		return nil
	}
	s.dragging = false
	if !s.moved && s.clicks == 1 {
		m.unselect()
		if s.chat && s.from.Block < len(m.chat.Blocks) {
			m.chat.TurnFold(s.from.Block)
		}
		return nil
	}
	text := m.selectedText()
	if strings.TrimSpace(text) == "" {
		m.unselect()
		return nil
	}
	what := english.Count(len([]rune(text)), "character")
	if n := strings.Count(text, "\n"); n > 0 {
		what = english.Count(n+1, "line")
	}
	return m.copyText(what, text)
}

// unselect takes the selection away.
func (m *Model) unselect() { m.selected.on, m.selected.dragging, m.chat.Chosen = false, false, nil }

// selectedLines are the lines with the selection, cut to it.
func (m *Model) selectedLines() []draw.TextLine {
	from, to := m.selected.ends()
	var lines []draw.TextLine
	if m.selected.chat {
		c := m.chat
		for p := from.Spot; !to.Before(p) && p.Block < len(c.Blocks); p = (chat.Spot{Block: p.Block + 1, Line: 0}) {
			all := c.LinesOf(p.Block)
			for ; p.Line < len(all) && !to.Before(p); p.Line++ {
				lines = append(lines, all[p.Line])
			}
		}
	} else {
		a := m.selected.area
		screen := m.screen()
		guide := m.look.Glyphs.Guide + " "
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

// selectedText is the text of the selection, without borders and gutters and
// without the breaks that only the width made.
func (m *Model) selectedText() string { return draw.Unbroken(m.selectedLines()) }

// lineAt is the drawn line of a mark.
func (m *Model) lineAt(at mark) draw.TextLine {
	if m.selected.chat {
		if lines := m.chat.LinesOf(at.Block); at.Line < len(lines) {
			return lines[at.Line]
		}
		return draw.TextLine{}
	}
	a := m.selected.area
	if screen := m.screen(); at.Line < len(screen) {
		return draw.TextLine{Text: ansi.Truncate(screen[at.Line], a.X+a.W, ""), Lead: a.X}
	}
	return draw.TextLine{}
}

// selectWord selects the word at a mark: what has no blank or quotation in it.
func (m *Model) selectWord(at mark) {
	line := m.lineAt(at)
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
		m.unselect()
		return
	}
	if to < 0 {
		to = column
	}
	m.selected.from.column, m.selected.to.column = from, to-1
}

// inWord reports whether a letter belongs to a word: paths and names of all
// kinds are one.
func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("_-./:@~+%#&=?\\$", r)
}

// selectLine selects the line at a mark, as it is without the breaks of the
// width.
func (m *Model) selectLine(at mark) {
	from, to := at, at
	if m.selected.chat {
		lines := m.chat.LinesOf(at.Block)
		for from.Line > 0 && lines[from.Line].Join != draw.Apart {
			from.Line--
		}
		for to.Line+1 < len(lines) && lines[to.Line+1].Join != draw.Apart {
			to.Line++
		}
	}
	from.column = m.lineAt(from).Lead
	to.column = max(ansi.StringWidth(strings.TrimRight(ansi.Strip(m.lineAt(to).Text), " "))-1, from.column)
	m.selected.from, m.selected.to = from, to
	if m.selected.chat {
		m.chat.Chosen = []*chat.Spot{&m.selected.from.Spot, &m.selected.to.Spot}
	}
}

// light draws the selection over the lines of the screen.
func (m *Model) light(screen []string) {
	s := &m.selected
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
	if s.chat {
		for i, line := range m.chat.Shown {
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
