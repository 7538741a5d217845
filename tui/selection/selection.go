package selection

import (
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/tui/draw"
)

// Conversation is the text of the chat: blocks of lines, some of them in view.
// Blocks change and move while text is selected.
type Conversation interface {
	// Visible returns the lines in view from the top.
	Visible() []draw.SpotLine
	// LinesOf returns the lines of a block; none if there is no such block.
	LinesOf(block int) []draw.TextLine
	// Track keeps the spots at their text while blocks come and go. It replaces
	// the spots tracked before.
	Track(spots ...*draw.Spot)
	// Scroll scrolls back by a number of lines.
	Scroll(lines int)
	// TurnFold collapses or expands a block, if it can be collapsed.
	TurnFold(block int)
}

// multiClickTime is the maximum time between clicks that count together.
const multiClickTime = 400 * time.Millisecond

// mark is one end of a selection: a cell of a line. Outside the chat, the line
// is a line of the screen, in block 0.
type mark struct {
	draw.Spot
	column int
}

// before reports whether a precedes b.
func (a mark) before(b mark) bool {
	if a.Spot != b.Spot {
		return a.Before(b.Spot)
	}
	return a.column < b.column
}

// Selection is text selected with the mouse. In the chat it is tied to lines of
// the conversation and moves with them; elsewhere, to lines of the screen.
type Selection struct {
	chat   Conversation
	styles *draw.Styles
	state
}

// state is the state of a selection since the last click.
type state struct {
	on       bool
	inChat   bool
	area     draw.Rect // the area of the screen that bounds it
	from, to mark
	dragging bool
	moved    bool
	clicks   int // quick clicks in one place: 1 selects characters, 2 a word, 3 a line

	lastClick time.Time
	x, y      int // cell of the last click
}

// New returns an empty selection on a screen with this chat.
func New(l *draw.Styles, chat Conversation) *Selection { return &Selection{styles: l, chat: chat} }

// Start begins a selection at the clicked cell. The selection stays within an
// area of the screen; inChat tells whether that is the chat. Screen holds every
// line of the screen; the chat needs none.
func (s *Selection) Start(at tea.Mouse, now time.Time, area draw.Rect, inChat bool, screen []string) {
	clicks := 1
	if s.x == at.X && s.y == at.Y && now.Sub(s.lastClick) < multiClickTime {
		clicks = s.clicks%3 + 1
	}
	s.chat.Track()
	s.state = state{lastClick: now, x: at.X, y: at.Y, clicks: clicks, area: area, inChat: inChat}
	if area.W == 0 {
		return
	}
	start, ok := s.markAt(at.X, at.Y)
	if !ok {
		return
	}
	s.on, s.dragging = true, true
	s.from, s.to = start, start
	if inChat {
		s.chat.Track(&s.from.Spot, &s.to.Spot)
	}
	switch clicks {
	case 2:
		s.selectWord(start, screen)
	case 3:
		s.selectLine(start, screen)
	}
}

// SeveralClicks reports whether the last click was one of several quick clicks
// in one place.
func (s *Selection) SeveralClicks() bool { return s.clicks > 1 }

// Dragging reports whether the mouse button is down since the selection began.
func (s *Selection) Dragging() bool { return s.dragging }

// Drag extends the selection to the pointer. Beyond the chat's edge it scrolls.
func (s *Selection) Drag(at tea.Mouse) {
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
	if end, ok := s.markAt(at.X, at.Y); ok && end != s.to {
		s.to, s.moved = end, true
	}
}

// Clicked returns the line of the chat and the cell of a click that selects nothing.
func (s *Selection) Clicked() (line draw.TextLine, column int, ok bool) {
	if !s.dragging || s.moved || s.clicks != 1 || !s.inChat {
		return draw.TextLine{}, 0, false
	}
	return s.lineOf(s.from, nil), s.from.column, true
}

// Release ends the selection and returns the selected text without borders,
// gutters and the line breaks added by wrapping; "" if nothing is selected. A
// click that selects nothing collapses or expands the block under it.
func (s *Selection) Release(screen []string) (text string) {
	if !s.dragging {
		return ""
	}
	s.dragging = false
	if !s.moved && s.clicks == 1 {
		s.Clear()
		if s.inChat {
			s.chat.TurnFold(s.from.Block)
		}
		return ""
	}
	text = draw.Unbroken(s.lines(screen))
	if strings.TrimSpace(text) == "" {
		s.Clear()
		return ""
	}
	return text
}

// Clear clears the selection.
func (s *Selection) Clear() {
	s.on, s.dragging = false, false
	s.chat.Track()
}

// ScreenScrolled clears a selection of lines of the screen, because they moved.
func (s *Selection) ScreenScrolled() {
	if !s.inChat {
		s.Clear()
	}
}

// Highlight highlights the selection on the lines of the screen.
func (s *Selection) Highlight(screen []string) {
	if !s.on || !s.moved && s.clicks == 1 {
		return
	}
	from, to := s.ends()
	style := lipgloss.NewStyle().Reverse(true)
	highlight := func(y int, at draw.Spot, x, lead, end int) {
		if at.Before(from.Spot) || to.Before(at) || y >= len(screen) {
			return
		}
		if at == from.Spot {
			lead = max(lead, from.column)
		}
		if at == to.Spot {
			end = min(end, to.column+1)
		}
		screen[y] = draw.Restyle(screen[y], draw.Mark{From: x + lead, To: x + end, Style: style})
	}
	if s.inChat {
		for i, line := range s.chat.Visible() {
			if line.Block >= 0 {
				highlight(s.area.Y+i, line.Spot, s.area.X, line.Lead, ansi.StringWidth(line.Text))
			}
		}
		return
	}
	for y := from.Line; y <= to.Line && y < len(screen); y++ {
		text := ansi.Strip(ansi.Truncate(screen[y], s.area.X+s.area.W, ""))
		highlight(y, draw.Spot{Line: y}, 0, s.area.X, ansi.StringWidth(strings.TrimRight(text, " ")))
	}
}

// ends returns both ends of the selection in order.
func (s *state) ends() (from, to mark) {
	if s.to.before(s.from) {
		return s.to, s.from
	}
	return s.from, s.to
}

// markAt returns the mark in the selection's area nearest to a screen cell.
func (s *Selection) markAt(x, y int) (mark, bool) {
	a := s.area
	x, y = max(min(x, a.X+a.W-1), a.X), max(min(y, a.Y+a.H-1), a.Y)
	if !s.inChat {
		return mark{draw.Spot{Line: y}, x}, true
	}
	visible := s.chat.Visible()
	for i := min(y-a.Y, len(visible)-1); i >= 0; i-- {
		if visible[i].Block >= 0 {
			return mark{visible[i].Spot, x - a.X}, true
		}
	}
	return mark{}, false
}

// lines returns the selected lines, cut to the selection.
func (s *Selection) lines(screen []string) []draw.TextLine {
	from, to := s.ends()
	var lines []draw.TextLine
	if s.inChat {
		for spot := from.Spot; !to.Before(spot); spot = (draw.Spot{Block: spot.Block + 1}) {
			block := s.chat.LinesOf(spot.Block)
			for ; spot.Line < len(block) && !to.Before(spot); spot.Line++ {
				lines = append(lines, block[spot.Line])
			}
		}
	} else {
		guide := s.styles.Glyphs.Guide + " "
		for y := from.Line; y <= to.Line && y < len(screen); y++ {
			line := s.screenLine(screen, y)
			if strings.HasPrefix(ansi.Strip(ansi.TruncateLeft(line.Text, s.area.X, "")), guide) {
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

// lineOf returns the drawn line of a mark.
func (s *Selection) lineOf(at mark, screen []string) draw.TextLine {
	if s.inChat {
		if lines := s.chat.LinesOf(at.Block); at.Line < len(lines) {
			return lines[at.Line]
		}
		return draw.TextLine{}
	}
	if at.Line < len(screen) {
		return s.screenLine(screen, at.Line)
	}
	return draw.TextLine{}
}

// screenLine returns a line of the screen, cut to the selection's area.
func (s *Selection) screenLine(screen []string, y int) draw.TextLine {
	return draw.TextLine{Text: ansi.Truncate(screen[y], s.area.X+s.area.W, ""), Lead: s.area.X}
}

// selectWord selects the word at a mark.
func (s *Selection) selectWord(at mark, screen []string) {
	line := s.lineOf(at, screen)
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
		s.Clear()
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
func (s *Selection) selectLine(at mark, screen []string) {
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
	from.column = s.lineOf(from, screen).Lead
	end := strings.TrimRight(ansi.Strip(s.lineOf(to, screen).Text), " ")
	to.column = max(ansi.StringWidth(end)-1, from.column)
	s.from, s.to = from, to
}

// Framed returns the inside of the outermost frame around a cell of the screen,
// the zero rectangle if there is none. Side is the sign of its sides.
func Framed(screen []string, side string, x, y int) draw.Rect {
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
	framed := func(y int) bool {
		l, r := edges(y)
		return l == left && r == right
	}
	first, last := y, y
	for first > 0 && framed(first-1) {
		first--
	}
	for last+1 < len(screen) && framed(last+1) {
		last++
	}
	return draw.Rect{X: left + 2, Y: first, W: right - left - 3, H: last - first + 1}
}
