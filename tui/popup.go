package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// popupRows is how many rows a list over the input shows at most.
const popupRows = 8

// popupRow is one row of such a list.
type popupRow struct {
	text   string
	detail string
	lit    []int // bytes of the text that the search has found
	path   bool  // its end says most
	folder bool
}

// popup draws a list over the input: an edge that says what it is of, and as many
// rows as there is room for in most lines of width cells.
func (l *list) popup(look *look, title, note string, rows []popupRow, width, most int) []string {
	room := min(popupRows, most-1, max(len(rows), 1))
	if room < 1 || width < 8 {
		return nil
	}
	end := l.window(len(rows), room, 1)
	l.count = len(rows)
	if note == "" {
		note = look.span(l.top, end, len(rows))
	}
	b := look.glyphs.Border
	out := []string{look.edge(b.TopLeft, b.Top, b.TopRight, title, note, width, look.Focus)}
	side, inner := look.Focus.Render(b.Left), width-2
	names := 0 // cells of the longest name in view
	for _, row := range rows[l.top:end] {
		names = max(names, visibleWidth(row.text))
	}
	for i := l.top; i < end; i++ {
		out = append(out, side+look.suggestion(rows[i], i == l.at, min(names, inner*3/5), inner)+side)
	}
	return out
}

// suggestion draws one row: the name, lit where it was found, and a few words.
func (l *look) suggestion(row popupRow, chosen bool, names, width int) string {
	line := l.line(chosen, true)
	style := l.Text
	if row.folder {
		style = l.Accent
	}
	room := width - 2
	if row.detail != "" {
		room = names
	}
	drawn := line.cursor
	switch {
	case visibleWidth(row.text) <= room:
		drawn += litText(line, style, l.Accent.Underline(true), row.text, row.lit)
	case row.path:
		drawn += line.draw(style, l.cutLeft(row.text, room))
	default:
		drawn += l.cut(litText(line, style, l.Accent.Underline(true), row.text, row.lit), room)
	}
	if row.detail == "" {
		return line.fill(drawn, width)
	}
	drawn = line.fill(drawn, names+1)
	return line.fill(drawn+line.draw(l.Faint, "  "+l.cut(row.detail, width-names-4)), width)
}

// litText draws a text of which some bytes are lit, in as few pieces as that takes.
func litText(line litLine, plain, lit lipgloss.Style, text string, at []int) string {
	var b, part strings.Builder
	was := false
	flush := func() {
		style := plain
		if was {
			style = lit
		}
		if part.Len() > 0 {
			b.WriteString(line.draw(style, part.String()))
		}
		part.Reset()
	}
	for i, r := range text {
		if is := slices.Contains(at, i); is != was {
			flush()
			was = is
		}
		part.WriteRune(r)
	}
	flush()
	return b.String()
}

// overInput draws the list that stands over the input, if any, over the last lines
// of the chat, which are width cells wide.
func (m *Model) overInput(lines []string, width int) []string {
	if m.covered() || m.layout.input.h == 0 {
		return lines
	}
	var drawn []string
	switch {
	case m.recalls():
		drawn = m.recall.draw(width, len(lines))
	case m.completes():
		drawn = m.complete.draw(width, len(lines))
	}
	copy(lines[len(lines)-len(drawn):], drawn)
	if l := m.openList(); l != nil {
		l.first = m.layout.chat.y + len(lines) - len(drawn) + 1
	}
	return lines
}

// openList is the list over the input, nil where there is none.
func (m *Model) openList() *list {
	switch {
	case m.covered() || m.layout.input.h == 0 || m.quitting:
		return nil
	case m.recalls():
		return &m.recall.list
	case m.completes():
		return &m.complete.list
	default:
		return nil
	}
}

// listUnder is the list over the input where the pointer is on a row of it.
func (m *Model) listUnder(at tea.Mouse) *list {
	l := m.openList()
	if l == nil || !m.layout.chat.contains(at.X, at.Y) || at.Y < l.first {
		return nil
	}
	return l
}

// clickList takes what is clicked on in the list over the input, and reports
// whether something is.
func (m *Model) clickList(at tea.Mouse) (cmd tea.Cmd, taken bool) {
	l := m.listUnder(at)
	if l == nil || !l.clicked(at.Y, l.count) {
		return nil, false
	}
	if m.recalls() {
		if n := m.recall.chosen(); n >= 0 {
			m.recallText(m.recall.all[n].text)
		}
		m.recall.open = false
		return nil, true
	}
	return m.takeChosen(), true
}
