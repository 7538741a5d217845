package draw

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/tui/keymap"
)

// List is a list in a dialog: its selected item and its visible part.
type List struct {
	At    int // selected item
	Top   int // first visible item
	fits  int // number of visible items
	Each  int // lines per item
	Count int // number of items when last drawn
	first int // line of the first item

	picked bool // the selected item was clicked, and no key was pressed since
	twice  bool // the last click was on the same item again
}

// Move moves the cursor by n in a list of count items.
func (l *List) Move(n, count int) { l.At = max(min(l.At+n, count-1), 0) }

// Choose selects an item by its position.
func (l *List) Choose(at int) { l.At = at }

// ChooseFirst selects the first item and shows the list from there.
func (l *List) ChooseFirst() { l.At, l.Top = 0, 0 }

// SetCount says how many items there are before they are drawn.
func (l *List) SetCount(count int) { l.Count = count }

// DrawnAt says on which line the first item is drawn, from the top of the dialog's area. For a
// list over the input, that is from the top of the screen.
func (l *List) DrawnAt(line int) { l.first = line }

// FirstLine returns the line on which the first item is drawn.
func (l *List) FirstLine() int { return l.first }

// Page returns how many items a page key moves.
func (l *List) Page() int { return max(l.fits-1, 1) }

// Unpick forgets that the selected item was clicked.
func (l *List) Unpick() { l.picked, l.twice = false, false }

// again reports, once, whether the last click repeated a click on the same
// item.
func (l *List) again() bool {
	twice := l.twice
	l.twice = false
	if twice {
		l.picked = false
	}
	return twice
}

// Moving returns the keys that move the selection among count items. While the
// user types text, letters do not move it.
func (l *List) Moving(typing bool, count int) keymap.Handlers {
	of := choice{l, count}
	if typing {
		return paging().For(of).With(choosingTyped().For(of))
	}
	return paging().For(of).With(choosing().For(of))
}

// choice is a list with the number of its items, one of which is chosen.
type choice struct {
	list  *List
	count int
}

// paging are the actions that choose an item a page away.
func paging() keymap.Table[choice] {
	return keymap.Table[choice]{
		{ID: "move.page_up", Refuse: choice.empty, Do: keymap.Calls(choice.pageUp)},
		{ID: "move.half_up", Refuse: choice.empty, Do: keymap.Calls(choice.pageUp)},
		{ID: "move.page_down", Refuse: choice.empty, Do: keymap.Calls(choice.pageDown)},
		{ID: "move.half_down", Refuse: choice.empty, Do: keymap.Calls(choice.pageDown)},
	}
}

// choosing are the other actions of a list whose dialog takes no text.
func choosing() keymap.Table[choice] {
	return keymap.Table[choice]{
		{ID: "move.up", Refuse: choice.empty, Do: keymap.Calls(choice.up)},
		{ID: "move.down", Refuse: choice.empty, Do: keymap.Calls(choice.down)},
		{ID: "move.first", Refuse: choice.empty, Do: keymap.Calls(choice.first)},
		{ID: "move.last", Refuse: choice.empty, Do: keymap.Calls(choice.last)},
		{ID: "move.onward", Refuse: choice.empty, Do: keymap.Calls(choice.pageDown)},
	}
}

// choosingTyped are the other actions of a list whose dialog takes text.
func choosingTyped() keymap.Table[choice] {
	return keymap.Table[choice]{
		{ID: "list.up", Refuse: choice.empty, Do: keymap.Calls(choice.up)},
		{ID: "list.down", Refuse: choice.empty, Do: keymap.Calls(choice.down)},
	}
}

// empty returns why no item can be chosen.
func (c choice) empty() string {
	if c.count == 0 {
		return "The list is empty."
	}
	return ""
}

func (c choice) up()       { c.list.Move(-1, c.count) }
func (c choice) down()     { c.list.Move(1, c.count) }
func (c choice) first()    { c.list.Move(-c.count, c.count) }
func (c choice) last()     { c.list.Move(c.count, c.count) }
func (c choice) pageUp()   { c.list.Move(-c.list.Page(), c.count) }
func (c choice) pageDown() { c.list.Move(c.list.Page(), c.count) }

// Clicked selects the item drawn at line y of the dialog's area, and reports
// whether there is one.
func (l *List) Clicked(y, count int) bool {
	if y < l.first || l.Each == 0 {
		return false
	}
	i := (y - l.first) / l.Each
	if i >= l.fits || l.Top+i >= count {
		return false
	}
	l.twice = l.picked && l.At == l.Top+i
	l.At, l.picked = l.Top+i, true
	return true
}

// Lister is a part of the screen with a list whose selected item a second click
// opens.
type Lister interface {
	Actions() keymap.Handlers
	Hints() []keymap.Hint
}

// Mouse handles the wheel and clicks on the items as last drawn. A second click on
// an item does what the enter key does.
func (l *List) Mouse(msg tea.Msg, k *keymap.Map, of Lister) keymap.Requests {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		l.Move(WheelLines(tea.Mouse(msg))/WheelStep, l.Count)
	case tea.MouseClickMsg:
		if !l.Clicked(msg.Y, l.Count) || !l.again() {
			break
		}
		for _, h := range of.Hints() {
			if len(h.IDs) == 1 && slices.Contains(k.Binding(h.IDs[0]).Keys(), "enter") {
				return of.Actions().Press(h.IDs[0])
			}
		}
	}
	return nil
}

// Window scrolls the selected item into a view of room lines, with each lines
// per item. It returns the end of the visible items.
func (l *List) Window(count, room, each int) (end int) {
	l.Count, l.Each, l.fits = count, each, max(room/each, 1)
	l.Move(0, count)
	l.Top = max(min(l.Top, l.At, count-l.fits), l.At-l.fits+1, 0)
	return min(l.Top+l.fits, count)
}

// Span returns which of count items are in view, or "" if all are.
func (l *Styles) Span(top, end, count int) string {
	if end-top >= count {
		return ""
	}
	return l.Faint.Render(fmt.Sprintf("%d-%d of %d", top+1, end, count))
}

// LitLine draws the parts of a selectable line.
type LitLine struct {
	styles *Styles
	Lit    func(lipgloss.Style) lipgloss.Style
	Cursor string // first cell
}

// Line starts a line. A chosen line gets the cursor, and is highlighted if keys
// act on it.
func (l *Styles) Line(chosen, acts bool) LitLine {
	line := LitLine{styles: l, Lit: func(s lipgloss.Style) lipgloss.Style { return s }, Cursor: " "}
	if chosen && acts {
		line.Lit = l.Selected
	}
	if chosen {
		line.Cursor = line.Lit(l.Accent).Render(l.Glyphs.Cursor)
	}
	return line
}

// Draw renders text in a style.
func (r LitLine) Draw(style lipgloss.Style, text string) string { return r.Lit(style).Render(text) }

// Fill pads or cuts drawn text to exactly width cells.
func (r LitLine) Fill(drawn string, width int) string {
	drawn = r.styles.Cut(drawn, width)
	return drawn + r.Blank(width-VisibleWidth(drawn))
}

// Blank returns blank cells.
func (r LitLine) Blank(cells int) string {
	return r.Lit(r.styles.Text).Render(strings.Repeat(" ", max(cells, 0)))
}

// WheelLines returns how many lines a turn of the mouse wheel scrolls, down if
// positive. It is 0 for a turn sideways.
func WheelLines(at tea.Mouse) int {
	switch at.Button {
	case tea.MouseWheelUp:
		return -WheelStep
	case tea.MouseWheelDown:
		return WheelStep
	default:
		return 0
	}
}

// WheelCells returns how many cells a turn of the mouse wheel scrolls sideways,
// to the right if positive: with a horizontal wheel, or with shift.
func WheelCells(at tea.Mouse) int {
	const step = 2 * WheelStep // cells are about half as wide as high
	shifted := at.Mod.Contains(tea.ModShift)
	switch {
	case at.Button == tea.MouseWheelLeft, shifted && at.Button == tea.MouseWheelUp:
		return -step
	case at.Button == tea.MouseWheelRight, shifted && at.Button == tea.MouseWheelDown:
		return step
	default:
		return 0
	}
}

// WheelStep is the number of lines per turn of the mouse wheel.
const WheelStep = 3
