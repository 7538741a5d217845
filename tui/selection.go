package tui

import (
	"strings"
	"time"
	"unicode"

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
	area     rect // of the screen, that it keeps to
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
	spot
	column int
}

// before reports whether a stands before b.
func (a mark) before(b mark) bool {
	if a.spot != b.spot {
		return a.spot.before(b.spot)
	}
	return a.column < b.column
}

func (a spot) before(b spot) bool {
	return a.block < b.block || a.block == b.block && a.line < b.line
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
	m.chat.chosen = nil
	*s = selection{last: now, x: at.X, y: at.Y, clicks: clicks}
	if s.area, s.chat = m.selectable(at.X, at.Y); s.area.w == 0 {
		return
	}
	where, ok := m.markAt(at.X, at.Y)
	if !ok {
		return
	}
	s.on, s.dragging = true, true
	s.from, s.to = where, where
	if s.chat {
		m.chat.chosen = []*spot{&s.from.spot, &s.to.spot}
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
func (m *Model) selectable(x, y int) (area rect, chat bool) {
	l := m.layout
	switch {
	case m.over() != nil:
		return m.framed(x, y), false
	case l.sheet.h > 2 && l.sheet.contains(x, y):
		return rect{l.sheet.x + 2, l.sheet.y + 1, l.sheet.w - 4, l.sheet.h - 2}, false
	case l.chat.contains(x, y):
		return l.chat, true
	case l.plan.contains(x, y):
		return l.plan, false
	case l.step.contains(x, y):
		return l.step, false
	}
	return rect{}, false
}

// framed is the inside of the frame around a cell of the screen.
func (m *Model) framed(x, y int) rect {
	screen := m.screen()
	side := m.look.glyphs.Border.Left
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
		return rect{}
	}
	left, right := edges(y)
	if left < 0 || right < 0 {
		return rect{}
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
	return rect{left + 2, first, right - left - 3, last - first + 1}
}

// markAt is the cell of the selection's area that is nearest to one of the
// screen.
func (m *Model) markAt(x, y int) (mark, bool) {
	a := m.selected.area
	x, y = max(min(x, a.x+a.w-1), a.x), max(min(y, a.y+a.h-1), a.y)
	if !m.selected.chat {
		return mark{spot{0, y}, x}, true
	}
	m.chat.lines()
	shown := m.chat.shown
	for i := min(y-a.y, len(shown)-1); i >= 0; i-- {
		if shown[i].block >= 0 {
			return mark{shown[i].spot, x - a.x}, true
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
		case at.Y < s.area.y:
			m.chat.scroll(1)
		case at.Y >= s.area.y+s.area.h:
			m.chat.scroll(-1)
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
		if s.chat && s.from.block < len(m.chat.blocks) {
			m.chat.turnFold(s.from.block)
		}
		return nil
	}
	text := m.selectedText()
	if strings.TrimSpace(text) == "" {
		m.unselect()
		return nil
	}
	what := plural(len([]rune(text)), "character")
	if n := strings.Count(text, "\n"); n > 0 {
		what = plural(n+1, "line")
	}
	return m.copyText(what, text)
}

// unselect takes the selection away.
func (m *Model) unselect() { m.selected.on, m.selected.dragging, m.chat.chosen = false, false, nil }

// selectedLines are the lines with the selection, cut to it.
func (m *Model) selectedLines() []textLine {
	from, to := m.selected.ends()
	var lines []textLine
	if m.selected.chat {
		c := m.chat
		for p := from.spot; !to.spot.before(p) && p.block < len(c.blocks); p = (spot{p.block + 1, 0}) {
			all := c.linesOf(p.block)
			for ; p.line < len(all) && !to.spot.before(p); p.line++ {
				lines = append(lines, all[p.line])
			}
		}
	} else {
		a := m.selected.area
		screen := m.screen()
		guide := m.look.glyphs.Guide + " "
		for y := from.line; y <= to.line && y < len(screen); y++ {
			line := textLine{text: ansi.Truncate(screen[y], a.x+a.w, ""), lead: a.x}
			if strings.HasPrefix(ansi.Strip(ansi.TruncateLeft(line.text, a.x, "")), guide) {
				line.lead += 2
			}
			lines = append(lines, line)
		}
	}
	if n := len(lines); n > 0 {
		lines[n-1].text = ansi.Truncate(lines[n-1].text, to.column+1, "")
		lines[0].lead = max(lines[0].lead, from.column)
		lines[0].join = apart
	}
	return lines
}

// selectedText is the text of the selection, without borders and gutters and
// without the breaks that only the width made.
func (m *Model) selectedText() string { return unbroken(m.selectedLines()) }

// lineAt is the drawn line of a mark.
func (m *Model) lineAt(at mark) textLine {
	if m.selected.chat {
		if lines := m.chat.linesOf(at.block); at.line < len(lines) {
			return lines[at.line]
		}
		return textLine{}
	}
	a := m.selected.area
	if screen := m.screen(); at.line < len(screen) {
		return textLine{text: ansi.Truncate(screen[at.line], a.x+a.w, ""), lead: a.x}
	}
	return textLine{}
}

// selectWord selects the word at a mark: what has no blank or quotation in it.
func (m *Model) selectWord(at mark) {
	line := m.lineAt(at)
	column, from, to := 0, -1, -1
	for _, r := range ansi.Strip(line.text) {
		w := ansi.StringWidth(string(r))
		switch {
		case column < line.lead || !inWord(r):
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
		lines := m.chat.linesOf(at.block)
		for from.line > 0 && lines[from.line].join != apart {
			from.line--
		}
		for to.line+1 < len(lines) && lines[to.line+1].join != apart {
			to.line++
		}
	}
	from.column = m.lineAt(from).lead
	to.column = max(ansi.StringWidth(strings.TrimRight(ansi.Strip(m.lineAt(to).text), " "))-1, from.column)
	m.selected.from, m.selected.to = from, to
	if m.selected.chat {
		m.chat.chosen = []*spot{&m.selected.from.spot, &m.selected.to.spot}
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
	draw := func(y int, at spot, x, lead, end int) {
		if at.before(from.spot) || to.spot.before(at) || y >= len(screen) {
			return
		}
		if at == from.spot {
			lead = max(lead, from.column)
		}
		if at == to.spot {
			end = min(end, to.column+1)
		}
		screen[y] = relit(screen[y], x+lead, x+end, style)
	}
	if s.chat {
		for i, line := range m.chat.shown {
			if line.block >= 0 {
				draw(s.area.y+i, line.spot, s.area.x, line.lead, ansi.StringWidth(line.text))
			}
		}
		return
	}
	for y := from.line; y <= to.line && y < len(screen); y++ {
		text := ansi.Strip(ansi.Truncate(screen[y], s.area.x+s.area.w, ""))
		draw(y, spot{0, y}, 0, s.area.x, ansi.StringWidth(strings.TrimRight(text, " ")))
	}
}
