package ask

import (
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// GraceMsg says that a grace time has passed since the key numbered count.
type GraceMsg struct{ Count int }

// Asking is something that waits for the user's word: an open gate, or a step
// of which nobody else can say how the run goes on.
type Asking interface {
	id() string // unique over all runs, and over the times it is asked
	of() string // the run it belongs to
	on() string // the step it is about, "" for none
	// Name says what kind of thing asks, about what it asks about.
	Name() string
	about() []string
	// Brief is the same on one line: the step, what it is and its arguments.
	Brief() (step, what, args string)
	sign(l *draw.Look) (string, lipgloss.Style)
	choices(k *keymap.Map) []choice
	// write writes the whole of it: whatever an answer has to be based on.
	write(l *draw.Look, d *draw.Document)
	// with is the answer that gives other arguments, and resends says what it
	// does. It fails where they do not fit.
	with(args map[string]any) (runner.Command, error)
	resends() string
}

// choice is one answer that can be given.
type choice struct {
	id     string // of the action that gives it
	key    key.Binding
	does   string         // what it does, as the dialog says it
	short  string         // the same for a narrow screen
	refuse string         // why it cannot be chosen now; "" where it can
	send   runner.Command // nil for one that opens the editor
	edit   map[string]any // the arguments to edit, where send is nil
	saves  *event.Always  // a rule that send saves, which is shown first; nil for none
	hidden bool           // not shown, but its key says why not
}

// Dialog puts what waits for the user's word to the user, one after the
// other. It opens by itself over whatever is shown.
type Dialog struct {
	look   *draw.Look
	pauses draw.Pauses
	keys   *keymap.Map
	queue  []Asking // in the order in which they were asked
	at     int      // of the one in the dialog

	Open     bool
	seen     map[string]bool // asks that were put to the user
	answered map[string]bool // asks whose answer is on its way
	shown    string          // id of the one in the dialog
	Grace    bool            // takes no answer yet
	early    bool            // a key came too early
	Count    int             // of grace times begun
	Mute     bool            // another question has the keys
	top      int
	doc      *draw.Document
	body     int           // lines of the document in view
	read     int           // lines of it that were
	Fresh    []Asking      // opened in the newest batch of events, and nobody was called for them
	Edits    int           // changes of arguments, over all that were edited
	pausing  bool          // a pause is waited for, to check them
	listed   int           // lines of the list of what waits
	Buttons  []draw.Button // where its keys stand, from its upper left corner
	Editor   *draw.Editor  // while arguments are being edited
	confirm  *confirming   // while more than this one call is to be answered for
}

// New makes the dialog, closed.
func New(l *draw.Look, k *keymap.Map, p draw.Pauses) *Dialog {
	return &Dialog{look: l, keys: k, pauses: p, seen: map[string]bool{}, answered: map[string]bool{}}
}

// Set takes what waits now. What was not seen before opens the dialog and
// begins a grace time; what is in the dialog stays in it.
func (g *Dialog) Set(asks []Asking) tea.Cmd {
	g.queue = g.queue[:0]
	g.Fresh = nil
	for _, a := range asks {
		if g.answered[a.id()] {
			continue
		}
		if a.id() == g.shown {
			g.at = len(g.queue)
		}
		g.queue = append(g.queue, a)
		if !g.seen[a.id()] {
			g.seen[a.id()] = true
			g.Fresh = append(g.Fresh, a)
		}
	}
	if len(g.Fresh) > 0 {
		g.Open = true
	}
	if g.confirm != nil && !g.confirm.holds(g.queue) {
		g.turn(nil)
	}
	return g.front()
}

// Forget has what a run asks asked anew, because the run is taken up again.
func (g *Dialog) Forget(run string) {
	for _, ids := range []map[string]bool{g.seen, g.answered} {
		for id := range ids {
			if strings.HasPrefix(id, run+" ") {
				delete(ids, id)
			}
		}
	}
	if strings.HasPrefix(g.shown, run+" ") {
		g.shown = ""
	}
}

// front puts what is to be in the dialog into it. Another one than before begins
// a grace time of its own.
func (g *Dialog) front() tea.Cmd {
	if len(g.queue) == 0 {
		g.Open, g.shown, g.doc, g.Editor, g.confirm, g.at = false, "", nil, nil, nil, 0
		return nil
	}
	g.at = max(min(g.at, len(g.queue)-1), 0)
	if id := g.Current().id(); id != g.shown {
		g.shown, g.top, g.doc, g.Editor, g.confirm = id, 0, nil, nil, nil
		if g.Open {
			return g.wait()
		}
	}
	return nil
}

// Current is the one in the dialog.
func (g *Dialog) Current() Asking { return g.queue[g.at] }

// wait begins a grace time.
func (g *Dialog) wait() tea.Cmd {
	g.Grace = true
	g.Count++
	count := g.Count
	return tea.Tick(g.pauses.Grace, func(time.Time) tea.Msg { return GraceMsg{count} })
}

// Rested ends the grace time, unless a key has come since.
func (g *Dialog) Rested(m GraceMsg) {
	if m.Count == g.Count {
		g.Grace, g.early = false, false
	}
}

// Reopen shows what waits again after the user looked around.
func (g *Dialog) Reopen() tea.Cmd {
	g.Open, g.shown = true, ""
	g.early = false
	return g.front()
}

// StepOf is the step of the run that the dialog is about, "" for none.
func (g *Dialog) StepOf(run string) string {
	if len(g.queue) == 0 || g.Current().of() != run {
		return ""
	}
	return g.Current().on()
}

// Waiting is how many wait for an answer.
func (g *Dialog) Waiting() int { return len(g.queue) }

// Showing reports whether the dialog is on the screen.
func (g *Dialog) Showing() bool { return g.Open && len(g.queue) > 0 }

// Editing reports whether keys write text into the dialog.
func (g *Dialog) Editing() bool { return g.Showing() && g.Editor != nil }

// Press takes a key while the dialog is open.
func (g *Dialog) Press(k tea.KeyPressMsg) keymap.Wanted {
	id, found := g.keys.Meant(k, g.Handlers())
	switch {
	case found:
		return g.Act(id)
	case g.Grace:
		return g.tooEarly()
	case g.Editor != nil:
		return keymap.Wanted{Cmd: g.Edit(k)}
	default:
		return keymap.Wanted{}
	}
}

// Act does an action of the dialog. To go to another of what waits takes no quiet:
// it answers nothing, and what is shown next takes no answer before a moment of it.
func (g *Dialog) Act(id string) keymap.Wanted {
	if g.Grace && id != "gate.next" && id != "gate.previous" {
		return g.tooEarly()
	}
	w, why := g.Handlers().Act(id)
	if why == keymap.NotHere {
		why = noSuchAnswer
	}
	if why != "" {
		return keymap.Saying(why)
	}
	return w
}

// tooEarly begins the grace time anew.
func (g *Dialog) tooEarly() keymap.Wanted {
	g.early = true
	return keymap.Wanted{Cmd: g.wait()}
}

// Handlers are the actions of the dialog as it is now.
func (g *Dialog) Handlers() keymap.Handlers {
	switch {
	case len(g.queue) == 0:
		return nil
	case g.Editor != nil:
		return g.editHandlers()
	case g.confirm != nil:
		return g.confirmHandlers().With(g.viewHandlers())
	}
	several := func() bool { return len(g.queue) > 1 }
	hs := keymap.Handlers{
		"dialog.leave":  {Do: keymap.Just(func() { g.Open = false })},
		"gate.all":      {Do: func() keymap.Wanted { return keymap.Saying(g.approveAll()) }},
		"gate.next":     {When: several, Do: func() keymap.Wanted { return g.step(1) }},
		"gate.previous": {When: several, Do: func() keymap.Wanted { return g.step(-1) }},
	}.With(g.viewHandlers())
	for _, c := range g.Current().choices(g.keys) {
		hs[c.id] = keymap.Handler{Refuse: func() string { return c.refuse }, Do: func() keymap.Wanted { return g.choose(c) }}
	}
	return hs
}

// choose gives an answer, or shows first what it reaches.
func (g *Dialog) choose(c choice) keymap.Wanted {
	ask := g.Current()
	switch {
	case c.send == nil:
		if g.Editor = draw.NewEditor(g.look, c.edit); g.Editor == nil {
			return keymap.Saying("These arguments are too long to be edited here.")
		}
	case c.saves != nil:
		g.turn(savingRule(g.keys, ask, c))
	default:
		return keymap.Wanted{Send: []runner.Command{c.send}, Cmd: g.answer(ask.id())}
	}
	return keymap.Wanted{}
}

// TurnDiffs shows the diffs in the dialog the other way.
func (g *Dialog) turnDiffs() (word string) {
	word = g.look.TurnDiffs(g.doc.Width)
	g.doc = nil
	return word
}

// editHandlers are the actions while arguments are edited.
func (g *Dialog) editHandlers() keymap.Handlers {
	return keymap.Handlers{
		"dialog.leave":  {Do: keymap.Just(func() { g.Editor = nil })},
		"question.send": {Do: g.sendEdited},
		"question.undo_edit": {Do: func() keymap.Wanted {
			if word := g.Editor.Undo(); word != "" {
				return keymap.Saying(word)
			}
			return keymap.Wanted{Cmd: g.checkSoon()}
		}},
	}
}

// sendEdited answers with the arguments as they were edited.
func (g *Dialog) sendEdited() keymap.Wanted {
	args := g.Editor.Args()
	if args == nil {
		return keymap.Wanted{}
	}
	ask := g.Current()
	answer, err := ask.with(args)
	if err != nil {
		g.Editor.Fault = untrusted.Line("Not sent: " + err.Error())
		return keymap.Wanted{}
	}
	return keymap.Wanted{Send: []runner.Command{answer}, Cmd: g.answer(ask.id())}
}

// viewHandlers are the actions that move or turn what the dialog shows.
func (g *Dialog) viewHandlers() keymap.Handlers {
	return keymap.Handlers{"gate.sides": {
		When: func() bool { return g.NoSides() == "" },
		Do:   func() keymap.Wanted { return keymap.Saying(g.turnDiffs()) },
	}}.With(keymap.Scrolling(g.body, func(lines int) { g.top += lines }))
}

// Scroll moves what the dialog shows by lines.
func (g *Dialog) Scroll(lines int) {
	if g.Editor == nil {
		g.top += lines
	}
}

// answer takes what was answered from the queue.
func (g *Dialog) answer(ids ...string) tea.Cmd {
	for _, id := range ids {
		g.answered[id] = true
	}
	g.queue = slices.DeleteFunc(g.queue, func(a Asking) bool { return slices.Contains(ids, a.id()) })
	g.Editor, g.confirm = nil, nil
	return g.front()
}

// Retheme draws the dialog anew.
func (g *Dialog) Retheme() {
	g.doc = nil
	if g.Editor != nil {
		g.Editor.Retheme()
	}
}
