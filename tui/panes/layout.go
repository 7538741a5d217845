package panes

import "replan/tui/draw"

// The minimum screen size for all parts, in cells.
const (
	MinWidth  = 40
	MinHeight = 12
)

// Layout holds the position of every part. Rectangles of panes exclude their
// borders; a hidden pane has zero height.
type Layout struct {
	Width, Height int
	Small         bool // too small for more than a sentence
	Wide          bool
	Mapped        bool      // the plan fills the body
	Body          draw.Rect // between header and footer
	Tabs          draw.Rect // the tab row; zero height without tabs
	Left, Right   draw.Rect // the chat and the plan of a wide screen, borders included; the one that is not shown is empty
	Chat, Input   draw.Rect
	Plan, Step    draw.Rect
	Sheet         draw.Rect // below the panes, for an open gate
}

// Pane returns where a pane is.
func (l Layout) Pane(p Pane) draw.Rect { return [Panes]draw.Rect{l.Chat, l.Plan, l.Step}[p] }

// demands is what the screen's contents request from a layout.
type demands struct {
	input  int   // lines of the input
	sheet  int   // lines of the open gate with its border; 0 means none is open
	mapped bool  // the plan fills the screen
	empty  bool  // no plan is worth showing, so the chat takes the whole width
	split  split // how the user divides it
	focus  Pane  // selects the visible tab, and plan or step if there is room for only one
}

// arrange returns the layout of a screen.
func arrange(width, height int, w demands) Layout {
	l := Layout{Width: width, Height: height}
	if width < MinWidth || height < MinHeight {
		l.Small = true
		return l
	}
	l.Body = draw.Rect{X: 0, Y: 1, W: width, H: height - 2}
	l.Wide = width >= draw.WideFrom
	if w.sheet > 0 {
		l.placeSheet(w.sheet)
	}
	switch {
	case l.Body.H == 0:
	case w.mapped:
		l.Mapped = true
		l.Plan = draw.Rect{X: 1, Y: l.Body.Y + 1, W: l.Width - 2, H: max(l.Body.H-2, 0)}
	case l.Wide:
		l.sideBySide(w)
	default:
		l.tabbed(w)
	}
	return l
}

// placeSheet reserves part of the body for an open gate: all that it needs if the
// panes above still have room, else the whole body.
func (l *Layout) placeSheet(want int) {
	const least = 6 // lower panes show nothing of use
	h := want
	if l.Body.H-h < least {
		h = l.Body.H
	}
	l.Body.H -= h
	l.Sheet = draw.Rect{X: 0, Y: l.Body.Y + l.Body.H, W: l.Width, H: h}
}

// sideBySide places the chat left, and the plan above the step right.
func (l *Layout) sideBySide(w demands) {
	leftWidth := w.split.left(l.Width, w.focus, w.empty)
	l.Left = draw.Rect{X: 0, Y: l.Body.Y, W: leftWidth, H: l.Body.H}
	if leftWidth > 0 {
		l.placeChat(w, leftWidth)
	}
	if leftWidth < l.Width {
		l.Right = draw.Rect{X: leftWidth, Y: l.Body.Y, W: l.Width - leftWidth, H: l.Body.H}
		l.placePlan(w)
	}
}

// placeChat places the chat and the input in the left half.
func (l *Layout) placeChat(w demands, leftWidth int) {
	l.Chat = draw.Rect{X: 2, Y: l.Body.Y + 1, W: leftWidth - 4, H: l.Body.H - 2}
	if l.Sheet.H == 0 {
		input := min(w.input, max(l.Body.H/3, 1))
		l.Chat.H -= input + 1
		l.Input = draw.Rect{X: 2, Y: l.Chat.Y + l.Chat.H + 1, W: leftWidth - 4, H: input}
	}
}

// placePlan places the plan and the step in the right half.
func (l *Layout) placePlan(w demands) {
	inner := draw.Rect{X: l.Right.X + 1, Y: l.Body.Y + 1, W: l.Right.W - 2, H: l.Body.H - 2}
	const bothFrom = 15 // below this many lines, plan and step take turns
	switch {
	case inner.H >= bothFrom:
		plan := w.split.rows(inner.H - 1)
		l.Plan = draw.Rect{X: inner.X, Y: inner.Y, W: inner.W, H: plan}
		l.Step = draw.Rect{X: inner.X + 1, Y: inner.Y + plan + 1, W: inner.W - 2, H: inner.H - plan - 1}
	case w.focus == Step && l.Sheet.H == 0:
		l.Step = draw.Rect{X: inner.X + 1, Y: inner.Y, W: inner.W - 2, H: inner.H}
	default:
		l.Plan = inner
	}
}

// tabbed shows one pane at a time below a tab row.
func (l *Layout) tabbed(w demands) {
	l.Tabs = draw.Rect{X: 0, Y: l.Body.Y, W: l.Width, H: 1}
	inner := draw.Rect{X: 0, Y: l.Body.Y + 1, W: l.Width, H: l.Body.H - 1}
	switch w.focus {
	case Plan:
		l.Plan = inner
	case Step:
		l.Step = draw.Rect{X: 1, Y: inner.Y, W: inner.W - 2, H: inner.H}
	default:
		l.Chat = draw.Rect{X: 1, Y: inner.Y, W: l.Width - 2, H: inner.H}
		if l.Sheet.H == 0 {
			input := min(w.input, max(inner.H/3, 1))
			l.Chat.H -= 1 + input
			l.Input = draw.Rect{X: 1, Y: inner.Y + l.Chat.H + 1, W: l.Width - 2, H: input}
		}
	}
}

// At returns the pane at a screen cell.
func (l Layout) At(x, y int) (Pane, bool) {
	switch {
	case l.Chat.Contains(x, y), l.Input.Contains(x, y), l.Wide && l.Left.Contains(x, y):
		return Chat, true
	case l.Plan.Contains(x, y):
		return Plan, true
	case l.Step.Contains(x, y):
		return Step, true
	default:
		return 0, false
	}
}
