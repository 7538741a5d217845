package tui

import (
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/tui/untrusted"
)

// graceMsg says that a grace time has passed since the key numbered count.
type graceMsg struct{ count int }

// asking is something that waits for the user's word: an open gate, or a step
// of which nobody else can say how the run goes on.
type asking interface {
	id() string // unique over all runs, and over the times it is asked
	of() string // the run it belongs to
	on() string // the step it is about, "" for none
	// name says what kind of thing asks, about what it asks about.
	name() string
	about() []string
	// brief is the same on one line: the step, what it is and its arguments.
	brief() (step, what, args string)
	sign(l *look) (string, lipgloss.Style)
	choices(k *keyMap) []choice
	// write writes the whole of it: whatever an answer has to be based on.
	write(l *look, d *document)
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

// askDialog puts what waits for the user's word to the user, one after the
// other. It opens by itself over whatever is shown.
type askDialog struct {
	look   *look
	pauses Pauses
	keys   *keyMap
	queue  []asking // in the order in which they were asked
	at     int      // of the one in the dialog

	open     bool
	seen     map[string]bool // asks that were put to the user
	answered map[string]bool // asks whose answer is on its way
	shown    string          // id of the one in the dialog
	grace    bool            // takes no answer yet
	early    bool            // a key came too early
	count    int             // of grace times begun
	mute     bool            // another question has the keys
	top      int
	doc      *document
	body     int         // lines of the document in view
	read     int         // lines of it that were
	fresh    []asking    // opened in the newest batch of events, and nobody was called for them
	edits    int         // changes of arguments, over all that were edited
	pausing  bool        // a pause is waited for, to check them
	listed   int         // lines of the list of what waits
	buttons  []button    // where its keys stand, from its upper left corner
	editor   *editor     // while arguments are being edited
	confirm  *confirming // while more than this one call is to be answered for
}

func newAskDialog(l *look, k *keyMap, p Pauses) *askDialog {
	return &askDialog{look: l, keys: k, pauses: p, seen: map[string]bool{}, answered: map[string]bool{}}
}

// set takes what waits now. What was not seen before opens the dialog and
// begins a grace time; what is in the dialog stays in it.
func (g *askDialog) set(asks []asking) tea.Cmd {
	g.queue = g.queue[:0]
	g.fresh = nil
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
			g.fresh = append(g.fresh, a)
		}
	}
	if len(g.fresh) > 0 {
		g.open = true
	}
	if g.confirm != nil && !g.confirm.holds(g.queue) {
		g.turn(nil)
	}
	return g.front()
}

// forget has what a run asks asked anew, because the run is taken up again.
func (g *askDialog) forget(run string) {
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
func (g *askDialog) front() tea.Cmd {
	if len(g.queue) == 0 {
		g.open, g.shown, g.doc, g.editor, g.confirm, g.at = false, "", nil, nil, nil, 0
		return nil
	}
	g.at = max(min(g.at, len(g.queue)-1), 0)
	if id := g.current().id(); id != g.shown {
		g.shown, g.top, g.doc, g.editor, g.confirm = id, 0, nil, nil, nil
		if g.open {
			return g.wait()
		}
	}
	return nil
}

// current is the one in the dialog.
func (g *askDialog) current() asking { return g.queue[g.at] }

// wait begins a grace time.
func (g *askDialog) wait() tea.Cmd {
	g.grace = true
	g.count++
	count := g.count
	return tea.Tick(g.pauses.Grace, func(time.Time) tea.Msg { return graceMsg{count} })
}

// rested ends the grace time, unless a key has come since.
func (g *askDialog) rested(m graceMsg) {
	if m.count == g.count {
		g.grace, g.early = false, false
	}
}

// reopen shows what waits again after the user looked around.
func (g *askDialog) reopen() tea.Cmd {
	g.open, g.shown = true, ""
	g.early = false
	return g.front()
}

// stepOf is the step of the run that the dialog is about, "" for none.
func (g *askDialog) stepOf(run string) string {
	if len(g.queue) == 0 || g.current().of() != run {
		return ""
	}
	return g.current().on()
}

// waiting is how many wait for an answer.
func (g *askDialog) waiting() int { return len(g.queue) }

// showing reports whether the dialog is on the screen.
func (g *askDialog) showing() bool { return g.open && len(g.queue) > 0 }

// editing reports whether keys write text into the dialog.
func (g *askDialog) editing() bool { return g.showing() && g.editor != nil }

// press takes a key while the dialog is open.
func (g *askDialog) press(k tea.KeyPressMsg) wanted {
	id, found := g.keys.meant(k, g.handlers())
	switch {
	case found:
		return g.act(id)
	case g.grace:
		return g.tooEarly()
	case g.editor != nil:
		return wanted{cmd: g.edit(k)}
	default:
		return wanted{}
	}
}

// act does an action of the dialog. To go to another of what waits takes no quiet:
// it answers nothing, and what is shown next takes no answer before a moment of it.
func (g *askDialog) act(id string) wanted {
	if g.grace && id != "gate.next" && id != "gate.previous" {
		return g.tooEarly()
	}
	w, why := g.handlers().act(id)
	if why == notHere {
		why = noSuchAnswer
	}
	if why != "" {
		return saying(why)
	}
	return w
}

// tooEarly begins the grace time anew.
func (g *askDialog) tooEarly() wanted {
	g.early = true
	return wanted{cmd: g.wait()}
}

// handlers are the actions of the dialog as it is now.
func (g *askDialog) handlers() handlers {
	switch {
	case len(g.queue) == 0:
		return nil
	case g.editor != nil:
		return g.editHandlers()
	case g.confirm != nil:
		return g.confirmHandlers().with(g.viewHandlers())
	}
	several := func() bool { return len(g.queue) > 1 }
	hs := handlers{
		"dialog.leave":  {do: just(func() { g.open = false })},
		"gate.all":      {do: func() wanted { return saying(g.approveAll()) }},
		"gate.next":     {when: several, do: func() wanted { return g.step(1) }},
		"gate.previous": {when: several, do: func() wanted { return g.step(-1) }},
	}.with(g.viewHandlers())
	for _, c := range g.current().choices(g.keys) {
		hs[c.id] = handler{refuse: func() string { return c.refuse }, do: func() wanted { return g.choose(c) }}
	}
	return hs
}

// choose gives an answer, or shows first what it reaches.
func (g *askDialog) choose(c choice) wanted {
	ask := g.current()
	switch {
	case c.send == nil:
		if g.editor = newEditor(g.look, c.edit); g.editor == nil {
			return saying("These arguments are too long to be edited here.")
		}
	case c.saves != nil:
		g.turn(savingRule(ask, c))
	default:
		return wanted{send: []runner.Command{c.send}, cmd: g.answer(ask.id())}
	}
	return wanted{}
}

// turnDiffs shows the diffs in the dialog the other way.
func (g *askDialog) turnDiffs() (word string) {
	word = g.look.turnDiffs(g.doc.width)
	g.doc = nil
	return word
}

// editHandlers are the actions while arguments are edited.
func (g *askDialog) editHandlers() handlers {
	return handlers{
		"dialog.leave":  {do: just(func() { g.editor = nil })},
		"question.send": {do: g.sendEdited},
		"question.undo_edit": {do: func() wanted {
			if word := g.editor.undo(); word != "" {
				return saying(word)
			}
			return wanted{cmd: g.checkSoon()}
		}},
	}
}

// sendEdited answers with the arguments as they were edited.
func (g *askDialog) sendEdited() wanted {
	args := g.editor.args()
	if args == nil {
		return wanted{}
	}
	ask := g.current()
	answer, err := ask.with(args)
	if err != nil {
		g.editor.fault = untrusted.Line("Not sent: " + err.Error())
		return wanted{}
	}
	return wanted{send: []runner.Command{answer}, cmd: g.answer(ask.id())}
}

// viewHandlers are the actions that move or turn what the dialog shows.
func (g *askDialog) viewHandlers() handlers {
	return handlers{"gate.sides": {
		when: func() bool { return g.noSides() == "" },
		do:   func() wanted { return saying(g.turnDiffs()) },
	}}.with(scrolling(g.body, func(lines int) { g.top += lines }))
}

// scroll moves what the dialog shows by lines.
func (g *askDialog) scroll(lines int) {
	if g.editor == nil {
		g.top += lines
	}
}

// answer takes what was answered from the queue.
func (g *askDialog) answer(ids ...string) tea.Cmd {
	for _, id := range ids {
		g.answered[id] = true
	}
	g.queue = slices.DeleteFunc(g.queue, func(a asking) bool { return slices.Contains(ids, a.id()) })
	g.editor, g.confirm = nil, nil
	return g.front()
}

// retheme draws the dialog anew.
func (g *askDialog) retheme() {
	g.doc = nil
	if g.editor != nil {
		g.editor.retheme()
	}
}
