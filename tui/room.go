package tui

import (
	"cmp"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/session"
	"replan/tui/keymap"
)

// The settings that keep the sizes of the panes.
const (
	keyChatWidth  = "screen.chat_width"
	keyPlanHeight = "screen.plan_height"
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

// room is how the user divides the screen between the panes.
type room struct {
	sizes
	kept   sizes // as the configuration has them
	opened bool  // the user asked for the plan beside a chat that shows all of it
	zoomed bool  // the pane with the focus takes the whole width
	from   pane  // the pane that had the focus when the user zoomed
	turned bool  // the zoom went on to the other pane
	held   border
}

func newRoom(o Options) room {
	s := sizes{chat: o.ChatWidth, plan: o.PlanHeight}
	return room{sizes: s, kept: s}
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
	values[keyChatWidth] = strconv.Itoa(cmp.Or(s.chat, UsualShare))
	values[keyPlanHeight] = strconv.Itoa(cmp.Or(s.plan, UsualShare))
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
func (l layout) border(x, y int) border {
	switch {
	case !l.wide || l.mapped || !l.body.Contains(x, y):
	case l.left.W > 0 && l.right.W > 0 && (x == l.left.W-1 || x == l.right.X):
		return chatBorder
	case l.plan.H > 0 && l.step.H > 0 && y == l.step.Y-1 && l.right.Contains(x, y):
		return planBorder
	}
	return noBorder
}

// moveTo moves a border to a screen cell, within the limits of the panes. It reports
// whether that changes anything.
func (r *room) moveTo(l layout, b border, x, y int) bool {
	before := r.sizes
	switch {
	case !l.wide: // the border was held when the screen became narrow
		return false
	case b == chatBorder && l.left.W > 0 && l.right.W > 0:
		r.chat = nearest(x+1, l.width, leastColumn)
		return r.columns(l.width) != before.columns(l.width)
	case b == planBorder && l.plan.H > 0 && l.step.H > 0:
		both := l.plan.H + l.step.H
		r.plan = nearest(y-l.plan.Y, both, leastRows)
		return r.rows(both) != before.rows(both)
	default:
		return false
	}
}

// nudge moves a border by one step of a key and returns why it stays.
func (r *room) nudge(l layout, b border, by int) (why string) {
	x := l.left.W - 1 + by*max(l.width/50, 1)
	y := l.step.Y - 1 + by*max((l.plan.H+l.step.H)/50, 1)
	if r.moveTo(l, b, x, y) {
		return ""
	}
	return "The border cannot go further: each pane keeps its minimum size."
}

// unkept returns the commands that keep what has changed.
func (r *room) unkept() []session.Command {
	var keep []session.Command
	for _, s := range []struct {
		key       string
		now, kept int
	}{{keyChatWidth, r.chat, r.kept.chat}, {keyPlanHeight, r.plan, r.kept.plan}} {
		if s.now != s.kept {
			keep = append(keep, session.Keep{Key: s.key, Value: new(strconv.Itoa(s.now))})
		}
	}
	r.kept = r.sizes
	return keep
}

// set takes a setting in percent; text is nil for the usual.
func (r *room) set(key string, text *string) {
	share := 0
	if text != nil {
		var err error
		if share, err = strconv.Atoi(*text); err != nil || share < 1 || share > 99 {
			return // the session says so
		}
	}
	switch key {
	case keyChatWidth:
		r.chat, r.kept.chat = share, share
	case keyPlanHeight:
		r.plan, r.kept.plan = share, share
	}
}

// settles reports whether a message ends the changes of sizes, which were before.
func (r *room) settles(msg tea.Msg, before sizes) bool {
	if r.sizes == r.kept || r.sizes != before {
		return false
	}
	switch msg.(type) {
	case tea.KeyPressMsg, tea.PasteMsg, tea.MouseClickMsg, tea.MouseReleaseMsg, tea.BlurMsg:
		return true
	default:
		return false
	}
}

// keepSizes sends what the user has changed before anything else, such as the end of
// the program.
func keepSizes(m *Model, cmd tea.Cmd) tea.Cmd {
	var keep []tea.Cmd
	for _, command := range m.room.unkept() {
		keep = append(keep, m.outbox.send(command))
	}
	return tea.Sequence(append(keep, cmd)...)
}

// grab holds the border at a cell, if there is one, until the button is released.
func grab(m *Model, at tea.Mouse) {
	m.room.held = noBorder
	if !m.covered() && !m.quitting {
		m.room.held = m.layout.border(at.X, at.Y)
	}
}

// roomActions returns the actions that divide the screen.
func roomActions(m *Model) keymap.Handlers {
	nudge := func(b border, by int) keymap.Handler {
		return keymap.Handler{
			Refuse: func() string { return fixed(m, b) },
			Do:     func() keymap.Request { return keymap.ShowFooter(m.room.nudge(m.layout, b, by)) },
		}
	}
	return keymap.Handlers{
		"pane.zoom": {Refuse: func() string { return whole(m) }, Do: keymap.Just(func() {
			if !answerSuffices(m) || m.focus != paneChat {
				m.focus = m.room.zoom(m.focus)
			}
			m.room.opened = true
		})},
		"pane.narrower": nudge(chatBorder, -1),
		"pane.wider":    nudge(chatBorder, 1),
		"pane.lower":    nudge(planBorder, -1),
		"pane.taller":   nudge(planBorder, 1),
	}
}

// zoom switches from both panes to the one with the focus, to the other one, and
// back to both. It returns the pane that has the focus then.
func (r *room) zoom(focus pane) pane {
	switch {
	case !r.zoomed:
		r.zoomed, r.turned, r.from = true, false, focus
		return focus
	case r.turned:
		r.zoomed = false
		return r.from
	case (focus == paneChat) != (r.from == paneChat): // the user has seen the other pane
		r.zoomed = false
		return focus
	case focus == paneChat:
		r.turned = true
		return panePlan
	default:
		r.turned = true
		return paneChat
	}
}

// answerSuffices reports whether the chat shows all that the plan and its step would:
// the answer is the result of the only step, which reads. Sizes that the user set keep
// the panes on the screen.
func answerSuffices(m *Model) bool {
	run := m.live.Shown().State
	if m.room.opened || m.room.sizes != (sizes{}) || run == nil || run.Route == nil || run.Revision > 1 || run.Chat != nil || len(run.Steps) != 1 {
		return false
	}
	if run.Model != "" && run.Route.Intent.WantsWords() {
		return false // the model writes the answer
	}
	tool, err := run.Catalogue.Find(run.Steps[0].Step.Tool)
	return err == nil && tool.ReadOnly && run.Steps[0].Status != agent.StepFailed
}

// whole returns why one pane has the whole width in any case.
func whole(m *Model) string {
	switch {
	case !m.layout.wide:
		return "On a narrow screen each pane has the whole width."
	case m.dag.Empty():
		return "There is no plan yet: the chat has the whole width when it has the focus."
	default:
		return ""
	}
}

// fixed returns why a border cannot be moved.
func fixed(m *Model, b border) string {
	l := m.layout
	switch why := whole(m); {
	case why != "":
		return why
	case l.mapped:
		return "The graph fills the screen: " + m.keys.Name("plan.map") + " shows the panes."
	case b == chatBorder && (l.left.W == 0 || l.right.W == 0), l.right.W == 0:
		return "One pane has the whole width: " + m.keys.Name("pane.zoom") + " shows the others."
	case b == planBorder && (l.plan.H == 0 || l.step.H == 0):
		return "The screen is too low for the plan and the step at once."
	default:
		return ""
	}
}
