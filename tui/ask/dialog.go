package ask

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/tui/answerguard"
	"replan/tui/draw"
	"replan/tui/keymap"
)

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
	// write writes the request, and with details everything that is known of it.
	write(l *draw.Look, d *draw.Document, details bool) page
	// notes returns the reasons for the request, one line each if they fit.
	notes(l *draw.Look, width int) []string
	// with returns a command that answers with other arguments, or an error if they
	// do not fit. resends describes that command.
	with(args map[string]any) (session.Command, error)
	resends() string
}

// choice is one possible answer.
type choice struct {
	id     string           // action id
	does   string           // its effect, as the dialog words it
	short  string           // shorter wording for narrow screens
	refuse string           // why it is unavailable now; "" if it is available
	send   session.Command  // nil if the choice opens the editor
	edit   map[string]any   // arguments to edit if send is nil
	schema json.RawMessage  // of those arguments, if known
	form   []draw.FormField // fields to fill in, in place of arguments
	saves  *event.Always    // rule that send saves, shown for confirmation first; nil for none
	wider  *choice          // saves a wider rule in place of saves; nil for none
	allows bool             // lets the call pass, so that the user should have seen it
	hidden bool             // not drawn, but its key explains why
}

// Dialog presents pending requests to the user one at a time. It opens by itself
// over any other view.
type Dialog struct {
	look   *draw.Look
	pauses draw.Pauses
	keys   *keymap.Map
	queue  []Asking // in the order of the requests
	at     int      // index of the displayed request

	open     bool
	seen     map[string]bool    // ids already shown to the user
	answered map[string]bool    // ids whose answers are in flight
	leftOut  map[string]bool    // ids of calls that the answer to all similar ones denies
	shown    string             // id of the displayed request
	guard    *answerguard.Guard // against keys that were not meant for it
	muted    bool               // another question has the keys
	top      int                // first line in view, or opening
	doc      *draw.Document
	page     page              // of doc
	details  bool              // the details are shown below the call
	body     int               // visible lines of the document
	noted    []string          // notes in view
	viewed   map[string]viewed // by viewID: what has been in view
	sized    string            // viewID of the request whose size was said, so that its end is enough to see
	fresh    []Asking          // opened in the newest batch of events, with no notification sent yet
	Edits    int               // edits of arguments, across all requests
	pausing  bool              // a pause timer is running
	listed   int               // lines of the request list
	buttons  []draw.Button     // button positions, relative to the upper left corner
	file     *fileEdit         // the edit of a call's file that is under way; nil for none
	unsent   map[string]unsent // by gate id: texts of the editor that did not become the call
	Editor   []string          // the user's editor with its arguments; none if empty
	editor   *draw.Fields      // non-nil while arguments are edited
	confirm  *confirming       // non-nil while an answer covers more than this one call
}

// New returns a closed dialog.
func New(l *draw.Look, k *keymap.Map, p draw.Pauses) *Dialog {
	return &Dialog{look: l, keys: k, pauses: p, guard: answerguard.New(p.Grace, p.Answer), seen: map[string]bool{}, answered: map[string]bool{}, leftOut: map[string]bool{}, viewed: map[string]viewed{}, unsent: map[string]unsent{}}
}

// Set updates the pending requests. A new request opens the dialog and turns its
// guard on; the displayed request stays.
func (g *Dialog) Set(asks []Asking) tea.Cmd {
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
	opens := len(g.fresh) > 0 && !g.open
	g.open = g.open || opens
	if g.confirm != nil && !g.confirm.holds(g.queue) {
		g.turn(nil)
	}
	left := g.leave()
	if cmd := g.front(); cmd != nil || !opens || !g.open {
		return tea.Batch(cmd, left)
	}
	return tea.Batch(g.guard.Start(), left) // the request is an old one, but the keys were going elsewhere
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
		g.open, g.shown, g.doc, g.editor, g.confirm, g.at = false, "", nil, nil, nil, 0
		return nil
	}
	g.at = max(min(g.at, len(g.queue)-1), 0)
	if id := g.current().id(); id != g.shown {
		g.shown, g.top, g.doc, g.editor, g.confirm, g.details, g.sized = id, opening, nil, nil, nil, false, ""
		if g.open {
			return g.guard.Start()
		}
	}
	return nil
}

// current returns the displayed request.
func (g *Dialog) current() Asking { return g.queue[g.at] }

// WaitsFor returns what the shown request waits at: "gate" or "question"; "" if
// nothing waits.
func (g *Dialog) WaitsFor() string {
	if len(g.queue) == 0 {
		return ""
	}
	if g.AtGate() {
		return "gate"
	}
	return "question"
}

// Guard returns what protects the dialog against keys that were not meant for it.
func (g *Dialog) Guard() *answerguard.Guard { return g.guard }

// Reopen reopens the dialog because the user asked for it. Keys count at once: they
// are meant for it.
func (g *Dialog) Reopen() {
	if len(g.queue) > 0 && !g.open {
		g.open = true
		g.guard.Stop()
	}
}

// AsksForSession reports whether the current request is one of the session, not of a
// run.
func (g *Dialog) AsksForSession() bool {
	if len(g.queue) == 0 {
		return false
	}
	gate, is := g.current().(OpenGate)
	return is && gate.Session
}

// IsAnswer reports whether a text is the key of an answer to the hidden request.
func (g *Dialog) IsAnswer(text string) bool {
	return len(g.queue) > 0 && !g.open && slices.ContainsFunc(g.current().choices(g.keys), func(c choice) bool {
		return !c.hidden && g.keys.Shown(c.id) == text
	})
}

// StepOf returns the step of run that the dialog is about, or "" for none.
func (g *Dialog) StepOf(run string) string {
	if len(g.queue) == 0 || g.current().of() != run {
		return ""
	}
	return g.current().on()
}

// AtGate reports whether the displayed request is a gate. At least one request
// must be pending.
func (g *Dialog) AtGate() bool {
	_, gate := g.current().(OpenGate)
	return gate
}

// TakeFresh returns the requests of the newest batch of events once.
func (g *Dialog) TakeFresh() []Asking {
	fresh := g.fresh
	g.fresh = nil
	return fresh
}

// Waiting returns the number of pending requests.
func (g *Dialog) Waiting() int { return len(g.queue) }

// Showing reports whether the dialog is on the screen.
func (g *Dialog) Showing() bool { return g.open && len(g.queue) > 0 }

// Open reports whether the dialog has the keys.
func (g *Dialog) Open() bool { return g.open }

// Editing reports whether keys write text into the dialog.
func (g *Dialog) Editing() bool { return g.Showing() && g.editor != nil }

// choose gives an answer, or first shows what the answer covers.
func (g *Dialog) choose(c choice) keymap.Request {
	ask := g.current()
	key := g.keys.Shown(c.id)
	switch {
	case c.allows && len(g.unseen()) > 0:
		g.reveal()
		id, words := g.viewID(), ""
		switch g.viewed[id] = g.viewed[id].note(g.doc, g.page, g.topLine(), g.body); {
		case len(g.unseen()) == 0:
			words = "This is the rest of it; " + key + " again allows it."
		default:
			g.sized = id
			words = g.unseenCount() + "; " + key + " shows the next, or " + key + " after " + g.keys.Name("move.last") + " allows it."
		}
		// A key held down must not answer what it has just revealed. The buttons
		// count what is unseen after it.
		return keymap.Request{Footer: words, Cmd: g.guard.StartStage()}
	case c.send == nil:
		if g.editor = draw.NewForm(g.look, c.form); c.form == nil {
			g.editor = draw.NewFields(g.look, c.edit, c.schema)
		}
		if g.editor == nil {
			return keymap.ShowFooter("These arguments are too long to be edited here.")
		}
		return keymap.Request{Cmd: g.guard.StartStage()}
	case c.saves != nil:
		g.turn(savingRule(g.keys, ask, c))
		return keymap.Request{Cmd: g.guard.StartStage()}
	default:
		return keymap.Request{Send: []session.Command{c.send}, Answer: true, Cmd: g.answer(ask.id())}
	}
}

// turnDiffs toggles between unified and side-by-side diffs.
func (g *Dialog) turnDiffs() (word string) {
	word = g.look.TurnDiffs(g.doc.Width)
	g.doc = nil
	return word
}

// sendEdited answers with the edited arguments.
func (g *Dialog) sendEdited() keymap.Request {
	args := g.editor.Args()
	if args == nil {
		return keymap.Request{}
	}
	ask := g.current()
	gate, isGate := ask.(OpenGate)
	if isGate && plan.EqualValues(args, gate.Ask.Args) {
		g.editor = nil
		return keymap.ShowFooter("No changes: the call stays as it was.")
	}
	answer, err := ask.with(args)
	if err != nil {
		g.editor.Fault = notSent(err)
		return keymap.Request{}
	}
	if isGate {
		return keymap.Request{Ask: g.previewEdited(gate, answer, args)}
	}
	return keymap.Request{Send: []session.Command{answer}, Answer: true, Cmd: g.answer(ask.id())}
}

// answer removes answered requests from the queue.
func (g *Dialog) answer(ids ...string) tea.Cmd {
	for _, id := range ids {
		g.answered[id] = true
	}
	g.queue = slices.DeleteFunc(g.queue, func(a Asking) bool { return slices.Contains(ids, a.id()) })
	maps.DeleteFunc(g.viewed, func(id string, _ viewed) bool { id, _, _ = strings.Cut(id, "\n"); return slices.Contains(ids, id) })
	g.editor, g.confirm = nil, nil
	return tea.Batch(g.leave(), g.front())
}

// turnDetails shows the reasons, the sources of text and the whole call below the
// change, or hides them again.
func (g *Dialog) turnDetails() {
	width := g.doc.Width + 4
	g.details, g.doc, g.top = !g.details, nil, opening
	g.prepare(width)
	if g.details {
		g.top = g.page.details
	}
}

// Retheme discards the rendering made with the previous theme.
func (g *Dialog) Retheme() {
	g.doc = nil
	if g.editor != nil {
		g.editor.Retheme()
	}
}
