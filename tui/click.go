package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// button is where a key stands on the screen with what it does: a click there
// presses it.
type button struct {
	rect
	key key.Binding
}

// buttons is where parts, which flow has put into lines, stand in them: one for
// each key, in their order.
func buttons(lines, parts []string, keys []key.Binding) []button {
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
			out = append(out, button{rect{visibleWidth(line[:from+at]), y, visibleWidth(text), 1}, keys[i]})
			from += at + len(text)
			break
		}
	}
	return out
}

// pressed is the key of the button at a cell.
func pressed(all []button, x, y int) (k tea.KeyPressMsg, found bool) {
	for _, b := range all {
		if b.contains(x, y) {
			k = pressOf(b.key)
			return k, k.Code != 0
		}
	}
	return k, false
}

// answerable is a dialog with keys inside it that can be clicked on.
type answerable interface {
	// buttonAt is the key at a cell of the dialog's area.
	buttonAt(x, y int) (tea.KeyPressMsg, bool)
}

// clickAnswer presses the key that stands under the pointer in a dialog, and
// reports whether one does.
func (m *Model) clickAnswer(at tea.Mouse) (cmd tea.Cmd, taken bool) {
	if m.quitting || m.layout.small {
		return nil, false
	}
	var k tea.KeyPressMsg
	switch over := m.over(); {
	case over != nil:
		if a, ok := over.(answerable); ok {
			k, taken = a.buttonAt(at.X, at.Y-1) // under the header
		}
	case m.ask.showing() && m.layout.sheet.contains(at.X, at.Y):
		k, taken = pressed(m.ask.buttons, at.X-m.layout.sheet.x, at.Y-m.layout.sheet.y)
	}
	if !taken {
		return nil, false
	}
	m.unselect()
	return m.press(k), true
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
		if k := pressOf(h.key); k.Code == tea.KeyEnter {
			m.unselect()
			return m.press(k)
		}
	}
	return nil
}

// clickHint presses the key whose hint stands in the footer at x.
func (m *Model) clickHint(x int) tea.Cmd {
	if m.quitting {
		if k, ok := pressed(m.quitButtons(m.layout.width), x, 0); ok {
			return m.press(k)
		}
		return nil
	}
	at := 0
	for _, h := range m.hints() {
		w := visibleWidth(h) + 2
		if at+w > m.layout.width {
			break
		}
		if x < at || x >= at+w {
			at += w
			continue
		}
		name, _, _ := strings.Cut(ansi.Strip(h), " ")
		if k := hintedKey(name, x-at-1); k.Code != 0 {
			return m.press(k)
		}
		return nil
	}
	return nil
}

// hintedKey is the key that a hint names, at that cell of the name. Of several, as
// in up/down, it is the one there, else the last.
func hintedKey(name string, cell int) tea.KeyPressMsg {
	for _, name := range []string{name, strings.ToLower(name)} {
		if k := keyNamed(name); k.Code != 0 {
			return k
		}
	}
	names := strings.Split(name, "/")
	end := 0
	for _, one := range names {
		if end += visibleWidth(one) + 1; cell < end {
			return keyNamed(one)
		}
	}
	return keyNamed(names[len(names)-1])
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
