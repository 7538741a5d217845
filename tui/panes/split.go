package panes

import (
	"cmp"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
)

// The settings that save the sizes of the panes.
const (
	ChatWidth  = "screen.chat_width"
	PlanHeight = "screen.plan_height"
)

// UsualShare is the share of the chat and of the plan unless the user sets another,
// in percent.
const UsualShare = 55

// The fewest cells of a column with its border, and of the plan or step below each
// other.
const (
	leastColumn = 40
	leastRows   = 4
)

// sizes are the shares of the panes in percent; 0 means the usual.
type sizes struct {
	chat int // of the screen's width
	plan int // of the height that plan and step share
}

// Sizes are the sizes of the panes at a moment, to compare with later ones.
type Sizes struct{ sizes }

// split is how the user divides the screen between the panes.
type split struct {
	sizes
	saved  sizes // as the configuration has them
	opened bool  // the user asked for the plan beside a chat that shows all of it
	zoomed bool  // the pane with the focus takes the whole width
	from   Pane  // the pane that had the focus when the user zoomed
	turned bool  // the zoom went on to the other pane
}

// asked reports whether the user asked for all panes: opened the plan, or set a size.
func (s *split) asked() bool { return s.opened || s.sizes != (sizes{}) }

// open notes that the user asked for all panes.
func (s *split) open() { s.opened = true }

// now returns the sizes of the panes.
func (s *split) now() Sizes { return Sizes{s.sizes} }

// take takes over the sizes of another division, unsaved.
func (s *split) take(other split) { s.sizes = other.sizes }

// left returns the width of the chat on a screen, in cells: all, beside the plan, or 0.
// empty means that no plan is worth showing.
func (s *split) left(width int, focus Pane, empty bool) int {
	switch {
	case focus == Chat && (empty || s.zoomed):
		return width
	case s.zoomed && !empty:
		return 0
	default:
		return s.columns(width)
	}
}

// border is an edge between panes that the user can move.
type border int

const (
	noBorder   border = iota
	chatBorder        // right of the chat
	planBorder        // below the plan
)

// values adds the settings of the sizes.
func (s sizes) values(values map[string]string) {
	values[ChatWidth] = strconv.Itoa(cmp.Or(s.chat, UsualShare))
	values[PlanHeight] = strconv.Itoa(cmp.Or(s.plan, UsualShare))
}

// columns returns the width of the chat beside the plan.
func (s sizes) columns(width int) int { return part(width, s.chat, leastColumn) }

// rows returns the height of the plan above the step.
func (s sizes) rows(height int) int { return part(height, s.plan, leastRows) }

// part returns the first of two parts of some cells. Each has at least least.
func part(cells, percent, least int) int {
	return max(min(cells*cmp.Or(percent, UsualShare)/100, cells-least), least)
}

// nearest returns the share in percent whose part is nearest to a number of cells.
func nearest(want, cells, least int) int {
	want = max(min(want, cells-least), least)
	below := want * 100 / cells
	if want-part(cells, below, least) <= part(cells, below+1, least)-want {
		return below
	}
	return below + 1
}

// border returns the border at a screen cell.
func (l Layout) border(x, y int) border {
	switch {
	case !l.Wide || l.Mapped || !l.Body.Contains(x, y):
	case l.Left.W > 0 && l.Right.W > 0 && (x == l.Left.W-1 || x == l.Right.X):
		return chatBorder
	case l.Plan.H > 0 && l.Step.H > 0 && y == l.Step.Y-1 && l.Right.Contains(x, y):
		return planBorder
	}
	return noBorder
}

// moveTo moves a border to a screen cell, within the limits of the panes. It reports
// whether that changes anything.
func (s *split) moveTo(l Layout, b border, x, y int) bool {
	before := s.sizes
	switch {
	case !l.Wide: // the border was held when the screen became narrow
		return false
	case b == chatBorder && l.Left.W > 0 && l.Right.W > 0:
		s.chat = nearest(x+1, l.Width, leastColumn)
		return s.columns(l.Width) != before.columns(l.Width)
	case b == planBorder && l.Plan.H > 0 && l.Step.H > 0:
		both := l.Plan.H + l.Step.H
		s.plan = nearest(y-l.Plan.Y, both, leastRows)
		return s.rows(both) != before.rows(both)
	default:
		return false
	}
}

// nudge moves a border by one step of a key and returns why it stays.
func (s *split) nudge(l Layout, b border, by int) (why string) {
	x := l.Left.W - 1 + by*max(l.Width/50, 1)
	y := l.Step.Y - 1 + by*max((l.Plan.H+l.Step.H)/50, 1)
	if s.moveTo(l, b, x, y) {
		return ""
	}
	return "The border cannot go further: each pane keeps its minimum size."
}

// unsaved returns the commands that save what has changed.
func (s *split) unsaved() []session.Command {
	var save []session.Command
	for _, share := range []struct {
		key        string
		now, saved int
	}{{ChatWidth, s.chat, s.saved.chat}, {PlanHeight, s.plan, s.saved.plan}} {
		if share.now != share.saved {
			save = append(save, session.SaveSetting{Key: share.key, Value: new(strconv.Itoa(share.now))})
		}
	}
	s.saved = s.sizes
	return save
}

// set takes a setting in percent; text is nil for the usual.
func (s *split) set(key string, text *string) {
	share := 0
	if text != nil {
		var err error
		if share, err = strconv.Atoi(*text); err != nil || share < 1 || share > 99 {
			return // the session says so
		}
	}
	switch key {
	case ChatWidth:
		s.chat, s.saved.chat = share, share
	case PlanHeight:
		s.plan, s.saved.plan = share, share
	}
}

// settles reports whether a message ends the changes of sizes, which were before.
func (s *split) settles(msg tea.Msg, before Sizes) bool {
	if s.sizes == s.saved || s.now() != before {
		return false
	}
	switch msg.(type) {
	case tea.KeyPressMsg, tea.PasteMsg, tea.MouseClickMsg, tea.MouseReleaseMsg, tea.BlurMsg:
		return true
	default:
		return false
	}
}

// zoom switches from both panes to the one with the focus, to the other one, and
// back to both. It returns the pane that has the focus then.
func (s *split) zoom(focus Pane) Pane {
	switch {
	case !s.zoomed:
		s.zoomed, s.turned, s.from = true, false, focus
		return focus
	case s.turned:
		s.zoomed = false
		return s.from
	case (focus == Chat) != (s.from == Chat): // the user has seen the other pane
		s.zoomed = false
		return focus
	case focus == Chat:
		s.turned = true
		return Plan
	default:
		s.turned = true
		return Chat
	}
}
