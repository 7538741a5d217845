package ask

import (
	"encoding/json"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/tui/answerguard"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Request is something that waits for the user: an open gate, or a step that cannot
// continue without the user's decision.
type Request interface {
	id() string // unique across runs and repeated requests
	of() string // the run it belongs to
	on() string // the step it concerns; "" for none
	// Name returns the kind of request; about returns its subject.
	Name() string
	about() []string
	// Brief describes the request on one line: step, kind and arguments.
	Brief() (step, what, args string)
	sign(l *draw.Styles) (string, lipgloss.Style)
	choices(k *keymap.Map) []choice
	// write writes the request, and with details everything that is known of it.
	write(l *draw.Styles, d *draw.Document, details bool) page
	// notes returns the reasons for the request, one line each if they fit.
	notes(l *draw.Styles, width int) []string
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
	says   bool             // the user may first say why
	hidden bool             // not drawn, but its key explains why
}

// Dialog presents pending requests to the user one at a time. It opens by itself
// over any other view.
type Dialog struct {
	styles *draw.Styles
	keys   *keymap.Map
	queue  *queue // what waits

	answers answers // to the displayed request

	open    bool
	guard   *answerguard.Guard // against keys that were not meant for it
	muted   bool               // another question has the keys
	reading requestView        // of the displayed request
	noted   []string           // notes in view
	listed  int                // lines of the request list
	keyBar  keyBar
	editor  argsEditor    // of arguments
	files   fileEditor    // of the files of calls
	refusal refusal       // of the displayed gate
	confirm *confirmation // non-nil while an answer covers more than this one call
}

// New returns a closed dialog.
func New(l *draw.Styles, k *keymap.Map, p draw.Pauses) *Dialog {
	guard, waiting := answerguard.New(p.Grace, p.Answer), newQueue()
	return &Dialog{
		styles: l, keys: k, guard: guard, queue: waiting, answers: answers{keys: k, queue: waiting},
		reading: requestView{viewed: map[string]seenLines{}},
		keyBar:  keyBar{styles: l, keys: k, guard: guard},
		editor:  argsEditor{styles: l, typing: editPause{pause: p.Check}},
		files:   fileEditor{keys: k, queue: waiting, unsent: map[string]unsent{}},
		refusal: refusal{styles: l},
	}
}

// SetEditor sets the user's editor with its arguments; none if empty.
func (g *Dialog) SetEditor(command []string) { g.files.setCommand(command) }

// Set updates the pending requests. A new request opens the dialog and turns its
// guard on; the displayed request stays.
func (g *Dialog) Set(asks []Request) tea.Cmd {
	fresh := g.queue.set(asks)
	opens := fresh && !g.open
	g.open = g.open || opens
	if g.confirm != nil && !g.queue.holds(g.confirm.ids) {
		g.turn(nil)
	}
	left := g.files.leave()
	if cmd := g.front(); cmd != nil || !opens || !g.open {
		return tea.Batch(cmd, left)
	}
	return tea.Batch(g.guard.Start(), left) // the request is an old one, but the keys were going elsewhere
}

// Forget marks the requests of a run as unseen because the run is being resumed.
func (g *Dialog) Forget(run string) { g.queue.forget(run) }

// front displays the current request. If the request is a different one, a new
// grace time starts.
func (g *Dialog) front() tea.Cmd {
	other := g.queue.display()
	switch {
	case g.queue.count() == 0:
		g.open, g.confirm = false, nil
		g.stopTyping()
		g.reading.redraw()
	case other:
		g.stopTyping()
		g.confirm = nil
		g.reading.begin()
		if g.open {
			return g.guard.Start()
		}
	}
	return nil
}

// current returns the displayed request.
func (g *Dialog) current() Request { return g.queue.current() }

// WaitsFor returns what the shown request waits at: "gate" or "question"; "" if
// nothing waits.
func (g *Dialog) WaitsFor() string {
	if g.queue.count() == 0 {
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
	if g.queue.count() > 0 && !g.open {
		g.open = true
		g.guard.Stop()
	}
}

// Return reopens the dialog by itself. It turns the guard on, as the keys were going elsewhere.
func (g *Dialog) Return() tea.Cmd {
	if g.queue.count() == 0 || g.open {
		return nil
	}
	g.open = true
	return g.guard.Start()
}

// LookAround hides the dialog; what it asks stays open.
func (g *Dialog) LookAround() { g.open = false }

// AsksForSession reports whether the current request is one of the session, not of a
// run.
func (g *Dialog) AsksForSession() bool {
	if g.queue.count() == 0 {
		return false
	}
	gate, is := g.current().(OpenGate)
	return is && gate.Session
}

// IsAnswer reports whether a text is the key of an answer to the hidden request.
func (g *Dialog) IsAnswer(text string) bool {
	return !g.open && g.answers.isKey(text)
}

// StepOf returns the step of run that the dialog is about, or "" for none.
func (g *Dialog) StepOf(run string) string {
	if g.queue.count() == 0 || g.current().of() != run {
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
func (g *Dialog) TakeFresh() []Request { return g.queue.takeFresh() }

// Waiting returns the number of pending requests.
func (g *Dialog) Waiting() int { return g.queue.count() }

// Showing reports whether the dialog is on the screen.
func (g *Dialog) Showing() bool { return g.open && g.queue.count() > 0 }

// OpensOver reports whether a key that opens another dialog opens it over this one. While
// text is edited only help, by a key that types nothing. A side question answers nothing, so
// its key may also come early.
func (g *Dialog) OpensOver(id string, k tea.KeyPressMsg) bool {
	if id == "run.ask" {
		return !g.Editing()
	}
	return !g.guard.Ignores() && (!g.Editing() || id == "help" && k.Text == "")
}

// Open reports whether the dialog has the keys.
func (g *Dialog) Open() bool { return g.open }

// Editing reports whether keys write text into the dialog.
func (g *Dialog) Editing() bool { return g.Showing() && g.writes() }

// writes reports whether a text is open: arguments, a form, or why the user declines.
func (g *Dialog) writes() bool { return g.editor.on() || g.refusal.on() }

// stopTyping discards the open text.
func (g *Dialog) stopTyping() {
	g.editor.close()
	g.refusal.close()
}

// turnDiffs toggles between unified and side-by-side diffs.
func (g *Dialog) turnDiffs() (word string) {
	word = g.styles.TurnDiffs(g.reading.width())
	g.reading.redraw()
	return word
}

// turnDetails shows the reasons, the sources of text and the whole call below the
// change, or hides them again.
func (g *Dialog) turnDetails() {
	g.reading.turnDetails(func(width int) { g.prepare(width + 4) })
}

// Retheme discards the rendering made with the previous theme.
func (g *Dialog) Retheme() {
	g.reading.redraw()
	g.editor.retheme()
	g.refusal.retheme()
}

// Leave leaves the unsent texts for gates that still wait in files of their own, since
// the screen ends, and says where.
func (g *Dialog) Leave() []string { return g.files.leaveAll() }

// Paused is the message of the end of a pause after the newest edit. Tests use it in place
// of a clock.
func (g *Dialog) Paused() tea.Msg { return g.editor.paused() }
