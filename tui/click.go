package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// button is where a key stands on the screen with what it does: a click there does
// that.
type button struct {
	rect
	id string // of the action
}

// buttons is where parts, which flow has put into lines, stand in them: one for
// each action, in their order.
func buttons(lines, parts, ids []string) []button {
	var out []button
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
			out = append(out, button{rect{visibleWidth(line[:from+at]), y, visibleWidth(text), 1}, ids[i]})
			from += at + len(text)
			break
		}
	}
	return out
}

// pressed is the action of the button at a cell.
func pressed(all []button, x, y int) (id string, found bool) {
	for _, b := range all {
		if b.contains(x, y) {
			return b.id, true
		}
	}
	return "", false
}

// answerable is a dialog with keys inside it that can be clicked on.
type answerable interface {
	// buttonAt is the action at a cell of the dialog's area.
	buttonAt(x, y int) (id string, found bool)
}

// clickAnswer does what the key under the pointer does in a dialog, and reports
// whether one stands there.
func (m *Model) clickAnswer(at tea.Mouse) (cmd tea.Cmd, taken bool) {
	if m.quitting || m.layout.small {
		return nil, false
	}
	id := ""
	switch over := m.over(); {
	case over != nil:
		if a, ok := over.(answerable); ok {
			id, taken = a.buttonAt(at.X, at.Y-1) // under the header
		}
	case m.ask.showing() && m.layout.sheet.contains(at.X, at.Y):
		id, taken = pressed(m.ask.buttons, at.X-m.layout.sheet.x, at.Y-m.layout.sheet.y)
	}
	if !taken {
		return nil, false
	}
	return m.doHere(id), true
}

// listed is a dialog whose rows can be chosen.
type listed interface {
	again() bool
	unpick()
}

// clickOver chooses what is drawn there in the dialog in place of the panes. A
// second click on what the first has chosen does what its first key does.
func (m *Model) clickOver(over overlay, at tea.Mouse) tea.Cmd {
	over.clicked(at.Y - 1) // under the header
	if l, ok := over.(listed); !ok || !l.again() {
		return nil
	}
	for _, h := range over.hints() {
		if len(h.ids) == 1 && slices.Contains(m.keys.byID[h.ids[0]].Keys(), "enter") {
			return m.doHere(h.ids[0])
		}
	}
	return nil
}

// clickHint does what the hint in the footer at x says.
func (m *Model) clickHint(x int) tea.Cmd {
	if m.quitting {
		if id, ok := pressed(m.quitButtons(m.layout.width), x, 0); ok {
			return m.doHere(id)
		}
		return nil
	}
	at := 0
	for _, h := range m.hints() {
		w := visibleWidth(m.drawHint(h)) + 2
		if at+w > m.layout.width {
			break
		}
		if x < at || x >= at+w {
			at += w
			continue
		}
		if id, ok := h.at(x - at - 1); ok {
			return m.doHere(id)
		}
		return nil
	}
	return nil
}

// clickInput puts the text cursor to the cell that was clicked on.
func (m *Model) clickInput(at tea.Mouse) {
	in := m.layout.input
	if m.searching() || m.recall.open || m.options.Replay || in.h == 0 || !in.contains(at.X, at.Y) {
		return
	}
	m.input.setFocus(true)
	m.input.pointAt(at.X-in.x, at.Y-in.y-m.queueShown())
}

// pointAt puts the cursor to a cell of the input.
func (i *input) pointAt(x, y int) {
	c := i.cursor()
	if c == nil || i.closed != nil || y < 0 || y >= i.area.Height() {
		return
	}
	was, _ := i.split()
	for n := c.Y; n < y; n++ {
		i.area.CursorDown()
	}
	for n := c.Y; n > y; n-- {
		i.area.CursorUp()
	}
	const prompt = 2 // cells
	row := i.area.LineInfo()
	lines := strings.Split(i.area.Value(), "\n")
	text := []rune(lines[min(i.area.Line(), len(lines)-1)])
	column, end := row.StartColumn, min(row.StartColumn+row.Width, len(text))
	for cells := prompt; column < end; column++ {
		if cells += visibleWidth(string(text[column])); cells > x {
			break
		}
	}
	if column == end && end < len(text) && end > row.StartColumn {
		column-- // behind the last cell of a row that goes on is the next row
	}
	i.area.SetCursorColumn(column)
	i.stepOver(was)
}
