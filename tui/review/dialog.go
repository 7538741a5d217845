package review

import (
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/answerguard"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Dialog lets the user review a plan on hold: edit, move or remove steps, approve
// gates, and run or refuse the plan. It opens by itself.
type Dialog struct {
	styles *draw.Styles
	keys   *keymap.Map
	hidden bool // another request comes first

	id     string        // run, revision and resume count of the plan
	review *agent.Review // nil if no plan waits
	open   bool
	fresh  bool               // no notification sent yet
	sent   bool               // answer in flight
	guard  *answerguard.Guard // against keys that were not meant for it

	table stepTable
	page  stepPage // about the selected step

	editor  *planEditor
	confirm *question // pending confirmation
	word    string    // message about the last key
}

// question asks for confirmation of an action with wider effects than the
// user requested.
type question struct {
	text string
	yes  func() keymap.Requests
}

// New returns a closed dialog.
func New(l *draw.Styles, k *keymap.Map, p draw.Pauses) *Dialog {
	return newDialog(l, k, answerguard.New(p.Grace, p.Answer))
}

// newDialog returns a closed dialog with a guard.
func newDialog(l *draw.Styles, k *keymap.Map, guard *answerguard.Guard) *Dialog {
	return &Dialog{styles: l, keys: k, guard: guard, table: stepTable{styles: l}, page: stepPage{styles: l, keys: k}}
}

// Guard returns what protects the dialog against keys that were not meant for it.
func (d *Dialog) Guard() *answerguard.Guard { return d.guard }

// Hide says whether another question comes first. When that has gone, the dialog is back,
// and its guard is turned on.
func (d *Dialog) Hide(hidden bool) tea.Cmd {
	behind := d.hidden
	d.hidden = hidden
	if behind && d.Shown() && !d.guard.Ignores() {
		return d.guard.Start()
	}
	return nil
}

// Set stores the plan that waits for review, if any. A different plan opens the
// dialog and turns its guard on.
func (d *Dialog) Set(run *agent.Run, times int) tea.Cmd {
	id := ""
	if run != nil {
		id = fmt.Sprintf("%s %d %d", run.ID, run.Revision, times)
	}
	if id == d.id {
		return nil
	}
	d.guard.Reset()
	hidden := d.hidden
	*d = *newDialog(d.styles, d.keys, d.guard)
	d.hidden, d.id = hidden, id
	if run == nil {
		return nil
	}
	d.review, d.open, d.fresh = run.Review(), true, true
	d.page.setTools(run.Catalog)
	d.refresh()
	return d.guard.Start()
}

// TakeFresh returns the title of a plan that has just come for review, once.
func (d *Dialog) TakeFresh() (title string, fresh bool) {
	if !d.fresh {
		return "", false
	}
	d.fresh = false
	return d.review.Plan().Title.FirstLine(), true
}

// Waits reports whether a plan waits for review.
func (d *Dialog) Waits() bool { return d.review != nil && !d.sent }

// Reopen reopens the dialog because the user asked for it. Keys count at once.
func (d *Dialog) Reopen() {
	d.open = true
	d.guard.Stop()
}

// Refused reopens the dialog after the session rejected the answer, as reported in
// a note.
func (d *Dialog) Refused(why string) {
	if d.sent {
		// It comes back as from behind a question: with its guard on.
		d.sent, d.open, d.hidden, d.word = false, true, true, why
	}
}

// Shown reports whether the dialog is open.
func (d *Dialog) Shown() bool { return d.open && d.Waits() && !d.hidden }

// Place returns the place whose actions help lists first.
func (d *Dialog) Place() keymap.Place { return keymap.PlaceReview }

// Typing reports whether letters are text of an edited call.
func (d *Dialog) Typing() bool { return d.editor != nil }

// forget clears the message about the last key.
func (d *Dialog) forget() {
	if !d.guard.Ignores() && d.editor == nil && d.confirm == nil {
		d.word = ""
	}
}

// Actions returns the actions of the dialog.
func (d *Dialog) Actions() keymap.Handlers {
	return d.guard.Hold(d.handlers().First(d.forget), d.keys)
}

func (d *Dialog) handlers() keymap.Handlers {
	switch {
	case !d.Waits():
		return nil
	case d.editor != nil:
		return editing().For(d)
	case d.confirm != nil:
		return confirming().For(d)
	}
	return actions().For(d).With(viewing().For(d))
}

// Answers returns the actions that change and answer the plan for use elsewhere,
// as in the palette. While the dialog is hidden, an action only shows it: nothing
// changes unseen.
func (d *Dialog) Answers() keymap.Handlers {
	t := actions()
	for i := range t {
		t[i].Refuse = keymap.Needs((*Dialog).Waits, "No plan waits for review.")
		t[i].Do = func(d *Dialog) keymap.Requests { return d.act(t[i].ID) }
	}
	return t.For(d)
}

// act does an action, says why it is unavailable, or only shows the hidden dialog.
func (d *Dialog) act(id string) keymap.Requests {
	if !d.Shown() {
		d.Reopen()
		return nil
	}
	w, why := d.Actions().Act(id)
	if why != "" {
		return keymap.ShowFooter(why)
	}
	return w
}

// Update handles keys without an action, pasted text and the mouse.
func (d *Dialog) Update(msg tea.Msg) keymap.Requests {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if cmd, taken := d.guard.Ignore(msg, d.editor != nil); taken {
			return keymap.Requests{cmd}
		}
		d.forget()
		switch {
		case d.editor != nil:
			return keymap.Requests{d.editor.Update(msg)}
		case msg.Text != "":
			return keymap.Requests{d.guard.StartStage()} // a letter of a text: its other letters are no answers
		}
	case tea.PasteMsg:
		if d.editor != nil {
			return keymap.Requests{d.editor.Update(msg)}
		}
	case tea.MouseWheelMsg:
		d.page.scroll(draw.WheelLines(tea.Mouse(msg)))
	case tea.MouseClickMsg:
		const first = 1 // line of the first row, below the upper edge
		if i, found := d.table.rowAt(msg.Y - first); found && d.editor == nil {
			d.choose(i)
		}
	}
	return nil
}

// viewing are the actions that change the view.
func viewing() keymap.Table[*Dialog] {
	return keymap.Table[*Dialog]{
		{ID: "move.up", Do: keymap.Calls(func(d *Dialog) { d.choose(d.table.place() - 1) })},
		{ID: "move.down", Do: keymap.Calls(func(d *Dialog) { d.choose(d.table.place() + 1) })},
		{ID: "move.first", Do: keymap.Calls(func(d *Dialog) { d.choose(0) })},
		{ID: "move.last", Do: keymap.Calls(func(d *Dialog) { d.choose(d.table.count() - 1) })},
		{ID: "move.page_up", Do: turnPage(-1)},
		{ID: "move.half_up", Do: turnPage(-1)},
		{ID: "move.page_down", Do: turnPage(1)},
		{ID: "move.half_down", Do: turnPage(1)},
		{ID: "dialog.leave", Do: keymap.Calls(func(d *Dialog) { d.open = false })},
	}
}

// turnPage makes an action that scrolls the page about the selected step by so many pages.
func turnPage(by int) func(*Dialog) keymap.Requests {
	return keymap.Calls(func(d *Dialog) { d.page.scroll(by * max(d.page.lines()-1, 1)) })
}

// editing are the actions while a call is edited.
func editing() keymap.Table[*Dialog] {
	return keymap.Table[*Dialog]{
		{ID: "question.send", Do: keymap.Calls((*Dialog).takeEdit)},
		{ID: "question.undo_edit", Do: keymap.Calls(func(d *Dialog) { d.editor.Undo() })},
		{ID: "dialog.leave", Do: keymap.Calls(func(d *Dialog) { d.editor = nil })},
	}
}

// confirming are the actions while an action awaits confirmation.
func confirming() keymap.Table[*Dialog] {
	return keymap.Table[*Dialog]{
		{ID: "quit.yes", Do: (*Dialog).confirmed},
		{ID: "quit.no", Do: keymap.Calls(func(d *Dialog) { d.confirm = nil })},
	}
}

// confirmed does what the user has confirmed.
func (d *Dialog) confirmed() keymap.Requests {
	yes := d.confirm.yes
	d.confirm = nil
	return yes()
}

// answer sends the decision about the plan.
func (d *Dialog) answer(decision event.ReviewDecision) keymap.Requests {
	d.sent = true
	return keymap.SendCommands(session.Review{Run: d.review.Run, Answer: d.review.Answer(decision)})
}

// refresh takes the plan as it is now, and keeps the selected step.
func (d *Dialog) refresh() {
	d.table.set(d.review)
	d.page.redraw()
}

// choose selects a step.
func (d *Dialog) choose(i int) {
	if d.table.choose(i) {
		d.page.redraw()
		d.page.restart()
	}
}

// actions are the actions that change and answer the plan.
func actions() keymap.Table[*Dialog] {
	return keymap.Table[*Dialog]{
		{ID: "review.run", Keys: "y enter", Does: "run the plan", Do: (*Dialog).run},
		{ID: "review.refuse", Keys: "n", Does: "refuse the plan; ends the run", Do: keymap.Calls((*Dialog).confirmRefusal)},
		{ID: "review.edit", Keys: "e", Does: "edit title, arguments and checks of a step", Do: change(func(d *Dialog) error { return d.edit(d.table.chosen()) })},
		{ID: "review.acceptance", Keys: "E", Does: "edit the acceptance of the plan", Do: change((*Dialog).editAcceptance)},
		{ID: "review.take_out", Keys: "x d", Does: "remove or restore a step", Do: change(func(d *Dialog) error { return d.takeOut(d.table.chosen()) })},
		{ID: "review.move_up", Keys: "K shift+up", Does: "move a step up", KeyOnly: true, Do: change(func(d *Dialog) error { return d.review.Move(d.table.chosen().Step.Index, -1) })},
		{ID: "review.move_down", Keys: "J shift+down", Does: "move a step down", KeyOnly: true, Do: change(func(d *Dialog) error { return d.review.Move(d.table.chosen().Step.Index, 1) })},
		{ID: "review.approve", Keys: "space", Does: "approve a step's gate, or take that back", Do: change((*Dialog).approve)},
		{ID: "review.approve_all", Keys: "A", Does: "approve every gate", Do: change((*Dialog).approveAll)},
		{ID: "review.undo", Keys: "u", Does: "undo the last change of the plan", Do: change((*Dialog).undo)},
	}
}

// Lines returns the keys and words of the actions that change and answer the plan.
func Lines() keymap.Lines { return actions().Lines() }

// change makes an action that changes the plan, or says why it cannot.
func change(f func(*Dialog) error) func(*Dialog) keymap.Requests {
	return keymap.Calls(func(d *Dialog) {
		if err := f(d); err != nil {
			d.word = sentence(err)
		}
		d.refresh()
	})
}

// run answers that the plan may run.
func (d *Dialog) run() keymap.Requests { return d.answer(event.ReviewRun) }

// confirmRefusal asks whether to refuse the plan.
func (d *Dialog) confirmRefusal() {
	d.confirm = &question{"Refuse this plan? The run ends; a resume shows the plan again.", func() keymap.Requests { return d.answer(event.ReviewRefuse) }}
}

// approve approves the gate of the chosen step, or takes that back.
func (d *Dialog) approve() error {
	s := d.table.chosen()
	return d.review.Approve(s.Step.Index, !s.Passes)
}

// approveAll approves every gate.
func (d *Dialog) approveAll() error {
	if d.review.ApproveAll() == 0 {
		return errors.New("no gate is left to approve")
	}
	return nil
}

// undo takes back the last change.
func (d *Dialog) undo() error {
	if !d.review.Undo() {
		return errors.New("nothing was changed")
	}
	return nil
}

// sentence formats an error as a sentence.
func sentence(err error) string {
	return english.Capital(untrusted.Line(err.Error())) + "."
}

// takeOut removes or restores a step. If other steps depend on it, takeOut asks
// whether to remove them too.
func (d *Dialog) takeOut(s agent.ReviewStep) error {
	v := d.review
	if s.Out {
		back, err := v.Restore(s.Step.Index)
		if err == nil && len(back) > 1 {
			d.word = "Restored steps: " + untrusted.Line(strings.Join(back, ", ")) + ", which need each other."
		}
		return err
	}
	err := v.Remove(s.Step.Index, false)
	var needed *agent.DependentsError
	if !errors.As(err, &needed) {
		return err
	}
	text := fmt.Sprintf("Step %s is needed by %s. Remove all of them?", untrusted.Line(needed.Step), untrusted.Line(strings.Join(needed.Dependents, ", ")))
	d.confirm = &question{text, func() keymap.Requests {
		if err := v.Remove(needed.Step, true); err != nil {
			d.word = sentence(err)
		}
		d.refresh()
		return nil
	}}
	return nil
}

// Cursor returns the text cursor in the dialog's area, or nil if no text is edited.
func (d *Dialog) Cursor() *tea.Cursor {
	if d.editor == nil {
		return nil
	}
	c := d.editor.Cursor()
	if c != nil {
		c.X += 2
		c.Y++ // below the upper edge
	}
	return c
}

// Hints lists the keys that are active now.
func (d *Dialog) Hints() []keymap.Hint {
	switch {
	case d.editor != nil:
		return []keymap.Hint{d.keys.Hint("take it", "question.send"), d.keys.Hint("keep it unchanged", "dialog.leave")}
	case d.confirm != nil:
		return []keymap.Hint{d.keys.Hint("", "quit.yes"), d.keys.Hint("", "quit.no")}
	}
	out := "out"
	if d.table.chosen().Out {
		out = "bring back"
	}
	return []keymap.Hint{
		d.keys.Hint("run", "review.run"),
		d.keys.Hint("refuse", "review.refuse"),
		d.keys.Hint("edit", "review.edit"),
		d.keys.Hint(out, "review.take_out"),
		d.keys.Hint("gate", "review.approve"),
		d.keys.Hint("all gates", "review.approve_all"),
		d.keys.Hint("move", "review.move_up", "review.move_down"),
		d.keys.Hint("undo", "review.undo"),
		d.keys.Hint("acceptance", "review.acceptance"),
		d.keys.Hint("look around", "dialog.leave"),
	}
}

// Retheme discards the rendering made with the previous theme.
func (d *Dialog) Retheme() {
	d.page.redraw()
	if d.editor != nil {
		d.editor.Retheme()
	}
}
