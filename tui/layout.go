package tui

// pane names the parts of the screen that take keys.
type pane int

const (
	paneChat pane = iota // the conversation and the input under it
	panePlan
	paneStep
	panes
)

// The smallest screen that everything is drawn on, in cells.
const (
	minWidth  = 40
	minHeight = 12
)

// layout says where everything stands. Rectangles of panes are their insides;
// one that is not shown has no height.
type layout struct {
	width, height int
	small         bool // too small for anything but a sentence
	wide          bool
	mapped        bool // the plan has all of the body
	body          rect // between header and footer
	tabs          rect // the row of tabs; no height where there is none
	left, right   rect // the halves of a wide screen, borders included
	chat, input   rect
	plan, step    rect
	sheet         rect // under the panes, for an open gate
}

// wish is what the screen's contents would like of a layout.
type wish struct {
	input  int  // lines of the input
	sheet  int  // lines of the open gate, its border included; 0 means none is open
	mapped bool // the plan has the whole screen
	focus  pane // decides which tab is shown, and which of plan and step where there is room for one
}

// arrange lays out a screen.
func arrange(width, height int, w wish) layout {
	l := layout{width: width, height: height}
	if width < minWidth || height < minHeight {
		l.small = true
		return l
	}
	l.body = rect{0, 1, width, height - 2}
	l.wide = width >= wideFrom
	if w.sheet > 0 {
		l.placeSheet(w.sheet)
	}
	switch {
	case l.body.h == 0:
	case w.mapped:
		l.mapped = true
		l.plan = rect{1, l.body.y + 1, l.width - 2, max(l.body.h-2, 0)}
	case l.wide:
		l.sideBySide(w)
	default:
		l.tabbed(w)
	}
	return l
}

// placeSheet takes room for an open gate from the body, as much as it likes
// while the panes above still show something, else all.
func (l *layout) placeSheet(want int) {
	const least = 15 // a lower sheet shows too little of the call
	rest := max(6, l.body.h/3)
	h := min(want, l.body.h-rest)
	if h < min(want, least) {
		h = l.body.h
	}
	l.body.h -= h
	l.sheet = rect{0, l.body.y + l.body.h, l.width, h}
}

// sideBySide puts the chat left and plan over step right.
func (l *layout) sideBySide(w wish) {
	leftWidth := l.width * 11 / 20
	l.left = rect{0, l.body.y, leftWidth, l.body.h}
	l.right = rect{leftWidth, l.body.y, l.width - leftWidth, l.body.h}
	l.chat = rect{2, l.body.y + 1, leftWidth - 4, l.body.h - 2}
	if l.sheet.h == 0 {
		input := min(w.input, max(l.body.h/3, 1))
		l.chat.h -= input + 1
		l.input = rect{2, l.chat.y + l.chat.h + 1, leftWidth - 4, input}
	}

	inner := rect{l.right.x + 1, l.body.y + 1, l.right.w - 2, l.body.h - 2}
	const bothFrom = 15 // lines below which plan and step take turns
	switch {
	case inner.h >= bothFrom:
		plan := (inner.h - 1) * 11 / 20
		l.plan = rect{inner.x, inner.y, inner.w, plan}
		l.step = rect{inner.x + 1, inner.y + plan + 1, inner.w - 2, inner.h - plan - 1}
	case w.focus == paneStep && l.sheet.h == 0:
		l.step = rect{inner.x + 1, inner.y, inner.w - 2, inner.h}
	default:
		l.plan = inner
	}
}

// tabbed shows one pane at a time under a row of tabs.
func (l *layout) tabbed(w wish) {
	l.tabs = rect{0, l.body.y, l.width, 1}
	inner := rect{0, l.body.y + 1, l.width, l.body.h - 1}
	switch w.focus {
	case panePlan:
		l.plan = inner
	case paneStep:
		l.step = rect{1, inner.y, inner.w - 2, inner.h}
	default:
		l.chat = rect{1, inner.y, l.width - 2, inner.h}
		if l.sheet.h == 0 {
			input := min(w.input, max(inner.h/3, 1))
			l.chat.h -= 1 + input
			l.input = rect{1, inner.y + l.chat.h + 1, l.width - 2, input}
		}
	}
}

// at is the pane at a cell of the screen.
func (l layout) at(x, y int) (pane, bool) {
	switch {
	case l.chat.contains(x, y), l.input.contains(x, y), l.wide && l.left.contains(x, y):
		return paneChat, true
	case l.plan.contains(x, y):
		return panePlan, true
	case l.step.contains(x, y):
		return paneStep, true
	default:
		return 0, false
	}
}
