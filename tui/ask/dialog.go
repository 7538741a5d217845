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

// GraceMsg reports that the grace time number Count is over.
type GraceMsg struct{ Count int }

// Asking is a request that waits for the user: an open gate, or a step that cannot
// continue without the user's decision.
type Asking interface {
	id() string // unique across runs and repeated requests
	of() string // the run it belongs to
	on() string // the step it concerns; "" for none
	// Name returns the kind of request; about returns its subject.
	Name() string
	about() []string
	// Brief describes the request on one line: step, kind and arguments.
	Brief() (step, what, args string)
	sign(l *draw.Look) (string, lipgloss.Style)
	choices(k *keymap.Map) []choice
	// write writes the full request: everything the user needs for a decision.
	write(l *draw.Look, d *draw.Document)
	// with returns a command that answers with other arguments, or an error if they
	// do not fit. resends describes that command.
	with(args map[string]any) (runner.Command, error)
	resends() string
}

// choice is one possible answer.
type choice struct {
	id     string // action id
	key    key.Binding
	does   string         // its effect, as the dialog words it
	short  string         // shorter wording for narrow screens
	refuse string         // why it is unavailable now; "" if it is available
	send   runner.Command // nil if the choice opens the editor
	edit   map[string]any // arguments to edit if send is nil
	saves  *event.Always  // rule that send saves, shown for confirmation first; nil for none
	hidden bool           // not drawn, but its key explains why
}

// Dialog presents pending requests to the user one at a time. It opens by itself
// over any other view.
type Dialog struct {
	look   *draw.Look
	pauses draw.Pauses
	keys   *keymap.Map
	queue  []Asking // in the order of the requests
	at     int      // index of the displayed request

	Open     bool
	seen     map[string]bool // ids already shown to the user
	answered map[string]bool // ids whose answers are in flight
	shown    string          // id of the displayed request
	Grace    bool            // answers are not accepted yet
	early    bool            // a key came too early
	Count    int             // grace times started
	Mute     bool            // another question has the keys
	top      int
	doc      *draw.Document
	body     int           // visible lines of the document
	read     int           // lines seen so far
	Fresh    []Asking      // opened in the newest batch of events, with no notification sent yet
	Edits    int           // edits of arguments, across all requests
	pausing  bool          // a pause timer is running
	listed   int           // lines of the request list
	Buttons  []draw.Button // button positions, relative to the upper left corner
	Editor   *draw.Editor  // non-nil while arguments are edited
	confirm  *confirming   // non-nil while an answer covers more than this one call
}

// New returns a closed dialog.
func New(l *draw.Look, k *keymap.Map, p draw.Pauses) *Dialog {
	return &Dialog{look: l, keys: k, pauses: p, seen: map[string]bool{}, answered: map[string]bool{}}
}

// Set updates the pending requests. A new request opens the dialog and starts a
// grace time; the displayed request stays.
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

// Forget marks the requests of a run as unseen because the run is being resumed.
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

// front displays the current request. If the request is a different one, a new
// grace time starts.
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

// Current returns the displayed request.
func (g *Dialog) Current() Asking { return g.queue[g.at] }

// wait starts a grace time.
func (g *Dialog) wait() tea.Cmd {
	g.Grace = true
	g.Count++
	count := g.Count
	return tea.Tick(g.pauses.Grace, func(time.Time) tea.Msg { return GraceMsg{count} })
}

// Rested ends the grace time unless another key has arrived since.
func (g *Dialog) Rested(m GraceMsg) {
	if m.Count == g.Count {
		g.Grace, g.early = false, false
	}
}

// Reopen reopens the dialog after the user looked around.
func (g *Dialog) Reopen() tea.Cmd {
	g.Open, g.shown = true, ""
	g.early = false
	return g.front()
}

// StepOf returns the step of run that the dialog is about, or "" for none.
func (g *Dialog) StepOf(run string) string {
	if len(g.queue) == 0 || g.Current().of() != run {
		return ""
	}
	return g.Current().on()
}

// Waiting returns the number of pending requests.
func (g *Dialog) Waiting() int { return len(g.queue) }

// Showing reports whether the dialog is on the screen.
func (g *Dialog) Showing() bool { return g.Open && len(g.queue) > 0 }

// Editing reports whether keys write text into the dialog.
func (g *Dialog) Editing() bool { return g.Showing() && g.Editor != nil }

// Press handles a key while the dialog is open.
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

// Act runs an action of the dialog. Moving to another request works during the
// grace time: it answers nothing, and the next request has a grace time of its own.
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

// tooEarly restarts the grace time.
func (g *Dialog) tooEarly() keymap.Wanted {
	g.early = true
	return keymap.Wanted{Cmd: g.wait()}
}

// Handlers returns the actions available in the dialog's current state.
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

// choose gives an answer, or first shows what the answer covers.
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

// turnDiffs toggles between unified and side-by-side diffs.
func (g *Dialog) turnDiffs() (word string) {
	word = g.look.TurnDiffs(g.doc.Width)
	g.doc = nil
	return word
}

// editHandlers returns the actions of the argument editor.
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

// sendEdited answers with the edited arguments.
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

// viewHandlers returns the actions that scroll the document or toggle its diffs.
func (g *Dialog) viewHandlers() keymap.Handlers {
	return keymap.Handlers{"gate.sides": {
		When: func() bool { return g.NoSides() == "" },
		Do:   func() keymap.Wanted { return keymap.Saying(g.turnDiffs()) },
	}}.With(keymap.Scrolling(g.body, func(lines int) { g.top += lines }))
}

// Scroll scrolls the document by lines.
func (g *Dialog) Scroll(lines int) {
	if g.Editor == nil {
		g.top += lines
	}
}

// answer removes answered requests from the queue.
func (g *Dialog) answer(ids ...string) tea.Cmd {
	for _, id := range ids {
		g.answered[id] = true
	}
	g.queue = slices.DeleteFunc(g.queue, func(a Asking) bool { return slices.Contains(ids, a.id()) })
	g.Editor, g.confirm = nil, nil
	return g.front()
}

// Retheme discards the rendering made with the previous theme.
func (g *Dialog) Retheme() {
	g.doc = nil
	if g.Editor != nil {
		g.Editor.Retheme()
	}
}
