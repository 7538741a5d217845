package panes

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/tui/keymap"
)

// Pane is a part of the screen that takes keys.
type Pane int

// The panes, in the order of their tabs.
const (
	Chat Pane = iota // the conversation and the input below it
	Plan
	Step
	Panes // their number
)

// Arrangement is where the panes of a screen are, and which of them has the focus.
type Arrangement struct {
	keys          *keymap.Map
	width, height int // of the screen in cells, 0 before the first size
	focus         Pane
	split         split
	held          border // that the mouse moves
	layout        Layout
	contents      Contents // that the layout was made for
}

// Contents is what the contents of the panes need.
type Contents struct {
	// Input returns the height of the input in lines: at most most, of which at most
	// queued are for queued texts.
	Input    func(width, most, queued int) int
	Sheet    func(width int) int // returns the lines of the open gate with its border; 0 means none is open
	Mapped   bool                // the plan fills the screen while it has the focus
	NoPlan   bool                // there is no plan yet
	ChatSays bool                // the chat shows all that the plan would
}

// New returns the arrangement of a screen without a size. The shares of the chat and of
// the plan are in percent; 0 means the usual.
func New(k *keymap.Map, chat, plan int) *Arrangement {
	s := sizes{chat: chat, plan: plan}
	return &Arrangement{keys: k, split: split{sizes: s, saved: s}}
}

// Like takes over the focus and the division of another screen.
func (a *Arrangement) Like(other *Arrangement) { a.focus, a.split = other.focus, other.split }

// TakeSizes takes over the sizes that the user gave the panes of another screen. They are
// unsaved here.
func (a *Arrangement) TakeSizes(other *Arrangement) { a.split.take(other.split) }

// Shares returns the shares of the chat and of the plan in percent; 0 means the usual.
func (a *Arrangement) Shares() (chat, plan int) { return a.split.chat, a.split.plan }

// Resize sets the size of the screen. It reports whether the screen had none before.
func (a *Arrangement) Resize(width, height int) (first bool) {
	first = a.width == 0
	a.width, a.height = width, height
	return first
}

// Size returns the size of the screen in cells, 0 before the first.
func (a *Arrangement) Size() (width, height int) { return a.width, a.height }

// Layout returns where every part is.
func (a *Arrangement) Layout() Layout { return a.layout }

// Arrange gives every part its place. Without a size it does nothing.
func (a *Arrangement) Arrange(c Contents) {
	a.contents = c
	if a.width == 0 {
		return
	}
	w := demands{
		input: 1, sheet: c.Sheet(a.width), focus: a.focus, split: a.split, mapped: c.Mapped && a.focus == Plan,
		empty: c.NoPlan || c.ChatSays && !a.split.asked(),
	}
	a.layout = arrange(a.width, a.height, w)
	if a.layout.Small || a.layout.Input.W == 0 {
		return
	}
	// The input's width determines its height, and that the chat's.
	queued := 3 // lines, fewer on a low screen
	if a.height < 24 {
		queued = 1
	}
	w.input = c.Input(a.layout.Input.W, a.layout.Body.H/3, queued)
	a.layout = arrange(a.width, a.height, w)
}

// Focus returns the pane that takes the keys.
func (a *Arrangement) Focus() Pane { return a.focus }

// SetFocus gives the keys to a pane.
func (a *Arrangement) SetFocus(p Pane) { a.focus = p }

// FocusPlace gives the keys to the pane of a place, if the place has one.
func (a *Arrangement) FocusPlace(at keymap.Place) {
	switch at {
	case keymap.PlaceChat:
		a.focus = Chat
	case keymap.PlacePlan:
		a.focus = Plan
	case keymap.PlaceStep:
		a.focus = Step
	}
}

// Place returns the place whose keys the focused pane takes.
func (a *Arrangement) Place() keymap.Place {
	switch a.focus {
	case Plan:
		return keymap.PlacePlan
	case Step:
		return keymap.PlaceStep
	default:
		return keymap.PlaceChat
	}
}

// actions are the actions that move the focus and divide the screen.
func actions() keymap.Table[*Arrangement] {
	return keymap.Table[*Arrangement]{
		{ID: "pane.next", Keys: "tab", Does: "next pane", KeyOnly: true, Do: turn(1)},
		{ID: "pane.previous", Keys: "shift+tab", Does: "previous pane", KeyOnly: true, Do: turn(-1)},
		{ID: "pane.zoom", Keys: "+ f6", Does: "zoom the focused pane (F6 while typing)", Refuse: (*Arrangement).whole, Do: keymap.Calls((*Arrangement).zoom)},
		{ID: "pane.narrower", Keys: "< f7", Does: "chat narrower (F7 while typing)", KeyOnly: true, Refuse: whyFixed(chatBorder), Do: nudge(chatBorder, -1)},
		{ID: "pane.wider", Keys: "> f8", Does: "chat wider (F8 while typing)", KeyOnly: true, Refuse: whyFixed(chatBorder), Do: nudge(chatBorder, 1)},
		{ID: "pane.lower", Keys: "{ shift+f7", Does: "plan lower (shift+F7 while typing)", KeyOnly: true, Refuse: whyFixed(planBorder), Do: nudge(planBorder, -1)},
		{ID: "pane.taller", Keys: "} shift+f8", Does: "plan taller (shift+F8 while typing)", KeyOnly: true, Refuse: whyFixed(planBorder), Do: nudge(planBorder, 1)},
	}
}

// Lines returns the keys and words of the actions that move the focus and divide the
// screen.
func Lines() keymap.Lines { return actions().Lines() }

// Actions returns the actions that move the focus and divide the screen.
func (a *Arrangement) Actions() keymap.Handlers { return actions().For(a) }

// turn makes an action that gives the keys to another pane.
func turn(by Pane) func(*Arrangement) keymap.Requests {
	return keymap.Calls(func(a *Arrangement) { a.focus = (a.focus + Panes + by) % Panes })
}

// nudge makes an action that moves a border.
func nudge(b border, by int) func(*Arrangement) keymap.Requests {
	return keymap.Says(func(a *Arrangement) string { return a.split.nudge(a.layout, b, by) })
}

// whyFixed returns why a border cannot be moved.
func whyFixed(b border) func(*Arrangement) string {
	return func(a *Arrangement) string { return a.fixed(b) }
}

// zoom gives the focused pane the whole width, or takes that back.
func (a *Arrangement) zoom() {
	if !a.contents.ChatSays || a.split.asked() || a.focus != Chat {
		a.focus = a.split.zoom(a.focus)
	}
	a.split.open()
}

// whole returns why one pane has the whole width in any case.
func (a *Arrangement) whole() string {
	switch {
	case !a.layout.Wide:
		return "On a narrow screen each pane has the whole width."
	case a.contents.NoPlan:
		return "There is no plan yet: the chat has the whole width when it has the focus."
	default:
		return ""
	}
}

// fixed returns why a border cannot be moved.
func (a *Arrangement) fixed(b border) string {
	l := a.layout
	switch why := a.whole(); {
	case why != "":
		return why
	case l.Mapped:
		return "The graph fills the screen: " + a.keys.Name("plan.map") + " shows the panes."
	case b == chatBorder && (l.Left.W == 0 || l.Right.W == 0), l.Right.W == 0:
		return "One pane has the whole width: " + a.keys.Name("pane.zoom") + " shows the others."
	case b == planBorder && (l.Plan.H == 0 || l.Step.H == 0):
		return "The screen is too low for the plan and the step at once."
	default:
		return ""
	}
}

// Grab holds the border at a cell until it is released. It reports whether there is one,
// and whether it has something to click too: the tabs of the step are drawn in its edge.
func (a *Arrangement) Grab(x, y int) (held, clicks bool) {
	a.held = a.layout.border(x, y)
	return a.held != noBorder, a.held == planBorder
}

// Drag moves the held border to a cell. It reports whether one is held.
func (a *Arrangement) Drag(x, y int) bool {
	if a.held == noBorder {
		return false
	}
	a.split.moveTo(a.layout, a.held, x, y)
	return true
}

// Release lets the held border go.
func (a *Arrangement) Release() { a.held = noBorder }

// Sizes returns the sizes of the panes now.
func (a *Arrangement) Sizes() Sizes { return a.split.now() }

// Unsaved returns the commands that save the sizes, once a message ends their change.
// before are the sizes before the message.
func (a *Arrangement) Unsaved(msg tea.Msg, before Sizes) []session.Command {
	if !a.split.settles(msg, before) {
		return nil
	}
	return a.split.unsaved()
}

// Set takes a setting of the user in percent; text is nil for the usual.
func (a *Arrangement) Set(key string, text *string) { a.split.set(key, text) }

// Values adds the settings in force to values.
func (a *Arrangement) Values(values map[string]string) { a.split.values(values) }
