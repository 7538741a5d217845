package tui

import (
	"replan/tui/draw"
	"replan/tui/frame"
)

// pane identifies a part of the screen that takes keys.
type pane = frame.Pane

const (
	paneChat = frame.Chat
	panePlan = frame.Plan
	paneStep = frame.Step
	panes    = frame.Panes
)

// The minimum screen size for all parts, in cells.
const (
	minWidth  = 40
	minHeight = 12
)

// layout holds the position of every part. Rectangles of panes exclude their
// borders; a hidden pane has zero height.
type layout struct {
	width, height int
	small         bool // too small for more than a sentence
	wide          bool
	mapped        bool      // the plan fills the body
	body          draw.Rect // between header and footer
	tabs          draw.Rect // the tab row; zero height without tabs
	left, right   draw.Rect // the chat and the plan of a wide screen, borders included; the one that is not shown is empty
	chat, input   draw.Rect
	plan, step    draw.Rect
	sheet         draw.Rect // below the panes, for an open gate
}

// wanted is what the screen's contents request from a layout.
type wanted struct {
	input  int  // lines of the input
	sheet  int  // lines of the open gate with its border; 0 means none is open
	mapped bool // the plan fills the screen
	empty  bool // no plan is worth showing, so the chat takes the whole width
	room   room // how the user divides it
	focus  pane // selects the visible tab, and plan or step if there is room for only one
}

// arrange returns the layout of a screen.
func arrange(width, height int, w wanted) layout {
	l := layout{width: width, height: height}
	if width < minWidth || height < minHeight {
		l.small = true
		return l
	}
	l.body = draw.Rect{X: 0, Y: 1, W: width, H: height - 2}
	l.wide = width >= draw.WideFrom
	if w.sheet > 0 {
		l.placeSheet(w.sheet)
	}
	switch {
	case l.body.H == 0:
	case w.mapped:
		l.mapped = true
		l.plan = draw.Rect{X: 1, Y: l.body.Y + 1, W: l.width - 2, H: max(l.body.H-2, 0)}
	case l.wide:
		l.sideBySide(w)
	default:
		l.tabbed(w)
	}
	return l
}

// placeSheet reserves part of the body for an open gate: all that it needs if the
// panes above still have room, else the whole body.
func (l *layout) placeSheet(want int) {
	const least = 6 // lower panes show nothing of use
	h := want
	if l.body.H-h < least {
		h = l.body.H
	}
	l.body.H -= h
	l.sheet = draw.Rect{X: 0, Y: l.body.Y + l.body.H, W: l.width, H: h}
}

// sideBySide places the chat left, and the plan above the step right.
func (l *layout) sideBySide(w wanted) {
	leftWidth := w.room.columns(l.width)
	switch {
	case w.focus == paneChat && (w.empty || w.room.zoomed):
		leftWidth = l.width
	case w.room.zoomed && !w.empty:
		leftWidth = 0
	}
	l.left = draw.Rect{X: 0, Y: l.body.Y, W: leftWidth, H: l.body.H}
	if leftWidth > 0 {
		l.placeChat(w, leftWidth)
	}
	if leftWidth < l.width {
		l.right = draw.Rect{X: leftWidth, Y: l.body.Y, W: l.width - leftWidth, H: l.body.H}
		l.placePlan(w)
	}
}

// placeChat places the chat and the input in the left half.
func (l *layout) placeChat(w wanted, leftWidth int) {
	l.chat = draw.Rect{X: 2, Y: l.body.Y + 1, W: leftWidth - 4, H: l.body.H - 2}
	if l.sheet.H == 0 {
		input := min(w.input, max(l.body.H/3, 1))
		l.chat.H -= input + 1
		l.input = draw.Rect{X: 2, Y: l.chat.Y + l.chat.H + 1, W: leftWidth - 4, H: input}
	}
}

// placePlan places the plan and the step in the right half.
func (l *layout) placePlan(w wanted) {
	inner := draw.Rect{X: l.right.X + 1, Y: l.body.Y + 1, W: l.right.W - 2, H: l.body.H - 2}
	const bothFrom = 15 // below this many lines, plan and step take turns
	switch {
	case inner.H >= bothFrom:
		plan := w.room.rows(inner.H - 1)
		l.plan = draw.Rect{X: inner.X, Y: inner.Y, W: inner.W, H: plan}
		l.step = draw.Rect{X: inner.X + 1, Y: inner.Y + plan + 1, W: inner.W - 2, H: inner.H - plan - 1}
	case w.focus == paneStep && l.sheet.H == 0:
		l.step = draw.Rect{X: inner.X + 1, Y: inner.Y, W: inner.W - 2, H: inner.H}
	default:
		l.plan = inner
	}
}

// tabbed shows one pane at a time below a tab row.
func (l *layout) tabbed(w wanted) {
	l.tabs = draw.Rect{X: 0, Y: l.body.Y, W: l.width, H: 1}
	inner := draw.Rect{X: 0, Y: l.body.Y + 1, W: l.width, H: l.body.H - 1}
	switch w.focus {
	case panePlan:
		l.plan = inner
	case paneStep:
		l.step = draw.Rect{X: 1, Y: inner.Y, W: inner.W - 2, H: inner.H}
	default:
		l.chat = draw.Rect{X: 1, Y: inner.Y, W: l.width - 2, H: inner.H}
		if l.sheet.H == 0 {
			input := min(w.input, max(inner.H/3, 1))
			l.chat.H -= 1 + input
			l.input = draw.Rect{X: 1, Y: inner.Y + l.chat.H + 1, W: l.width - 2, H: input}
		}
	}
}

// at returns the pane at a screen cell.
func (l layout) at(x, y int) (pane, bool) {
	switch {
	case l.chat.Contains(x, y), l.input.Contains(x, y), l.wide && l.left.Contains(x, y):
		return paneChat, true
	case l.plan.Contains(x, y):
		return panePlan, true
	case l.step.Contains(x, y):
		return paneStep, true
	default:
		return 0, false
	}
}
