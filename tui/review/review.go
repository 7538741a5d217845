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
	"replan/planning/plan"
	planlayout "replan/planning/plan/layout"
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
	tools  plan.Catalogue
	open   bool
	fresh  bool               // no notification sent yet
	sent   bool               // answer in flight
	guard  *answerguard.Guard // against keys that were not meant for it

	steps    []agent.ReviewStep
	needs    [][]string        // dependencies of each step
	rails    *planlayout.Rails // one row per step
	parallel map[string]bool   // steps that may run in parallel with another one
	limit    int               // number of lanes the rails are laid out with
	at       int               // selected step
	top      int               // first visible row
	body     int               // visible rows
	tall     bool              // the selected row has two lines
	first    int               // line of the first row, from the top of the dialog's area

	doc    *draw.Document // describes the selected step
	line   int            // first visible line of doc
	detail int            // visible lines of doc

	editor  *reviewEditor
	confirm *reviewQuestion // pending confirmation
	word    string          // message about the last key
}

// reviewQuestion asks for confirmation of an action with wider effects than the
// user requested.
type reviewQuestion struct {
	text string
	yes  func() keymap.Request
}

// New returns a closed dialog.
func New(l *draw.Styles, k *keymap.Map, p draw.Pauses) *Dialog {
	return &Dialog{styles: l, keys: k, guard: answerguard.New(p.Grace, p.Answer)}
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
	*d = Dialog{styles: d.styles, keys: d.keys, hidden: d.hidden, guard: d.guard, id: id}
	if run == nil {
		return nil
	}
	d.review, d.tools, d.open, d.fresh = run.Review(), run.Catalogue, true, true
	d.lay()
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
		return keymap.Handlers{
			"dialog.leave":       {Do: keymap.Just(func() { d.editor = nil })},
			"question.send":      {Do: keymap.Just(d.takeEdit)},
			"question.undo_edit": {Do: keymap.Just(func() { d.editor.Undo() })},
		}
	case d.confirm != nil:
		return keymap.Handlers{
			"quit.yes": {Do: func() keymap.Request {
				yes := d.confirm.yes
				d.confirm = nil
				return yes()
			}},
			"quit.no": {Do: keymap.Just(func() { d.confirm = nil })},
		}
	}
	return d.changeHandlers().With(d.viewHandlers())
}

// Answers returns the actions that change and answer the plan for use elsewhere,
// as in the palette. While the dialog is hidden, an action only shows it: nothing
// changes unseen.
func (d *Dialog) Answers() keymap.Handlers {
	hs := keymap.Handlers{}
	for _, id := range []string{
		"review.run", "review.refuse", "review.edit", "review.acceptance", "review.take_out", "review.move_up",
		"review.move_down", "review.approve", "review.approve_all", "review.undo",
	} {
		hs[id] = keymap.Handler{
			Refuse: keymap.Unless(d.Waits, "No plan waits for review."),
			Do: func() keymap.Request {
				if !d.Shown() {
					d.Reopen()
					return keymap.Request{}
				}
				w, why := d.Actions().Act(id)
				if why != "" {
					return keymap.ShowFooter(why)
				}
				return w
			},
		}
	}
	return hs
}

// Update handles keys without an action, pasted text and the mouse.
func (d *Dialog) Update(msg tea.Msg) keymap.Request {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if cmd, taken := d.guard.Ignore(msg, d.editor != nil); taken {
			return keymap.Request{Cmd: cmd}
		}
		d.forget()
		switch {
		case d.editor != nil:
			return keymap.Request{Cmd: d.editor.Update(msg)}
		case msg.Text != "":
			return keymap.Request{Cmd: d.guard.StartStage()} // a letter of a text: its other letters are no answers
		}
	case tea.PasteMsg:
		if d.editor != nil {
			return keymap.Request{Cmd: d.editor.Update(msg)}
		}
	case tea.MouseWheelMsg:
		d.line += draw.WheelLines(tea.Mouse(msg))
	case tea.MouseClickMsg:
		i := msg.Y - d.first + d.top
		if d.tall && i > d.at {
			i--
		}
		if i >= d.top && i < min(d.top+d.body, len(d.steps)) && d.editor == nil {
			d.choose(i)
		}
	}
	return keymap.Request{}
}

// viewHandlers returns the actions that answer, and those that change the view.
func (d *Dialog) viewHandlers() keymap.Handlers {
	page := max(d.detail-1, 1)
	line := func(by int) keymap.Handler { return keymap.Handler{Do: keymap.Just(func() { d.line += by })} }
	choose := func(i int) keymap.Handler { return keymap.Handler{Do: keymap.Just(func() { d.choose(i) })} }
	return keymap.Handlers{
		"review.run": {Do: func() keymap.Request { return d.answer(event.ReviewRun) }},
		"review.refuse": {Do: keymap.Just(func() {
			d.confirm = &reviewQuestion{"Refuse this plan? The run ends; a resume shows the plan again.", func() keymap.Request { return d.answer(event.ReviewRefuse) }}
		})},
		"dialog.leave": {Do: keymap.Just(func() { d.open = false })},
		"move.page_up": line(-page), "move.half_up": line(-page), "move.page_down": line(page), "move.half_down": line(page),
		"move.up": choose(d.at - 1), "move.down": choose(d.at + 1), "move.first": choose(0), "move.last": choose(len(d.steps) - 1),
	}
}

// answer sends the decision about the plan.
func (d *Dialog) answer(decision event.ReviewDecision) keymap.Request {
	d.sent = true
	return keymap.SendCommands(session.Review{Run: d.review.Run, Answer: d.review.Answer(decision)})
}

// chosen returns the selected step.
func (d *Dialog) chosen() agent.ReviewStep { return d.steps[d.at] }

// choose selects a step.
func (d *Dialog) choose(i int) {
	if i = max(min(i, len(d.steps)-1), 0); i != d.at {
		d.at, d.doc, d.line = i, nil, 0
	}
}

// changeHandlers returns the actions that change the plan.
func (d *Dialog) changeHandlers() keymap.Handlers {
	s, v := d.chosen(), d.review
	change := func(f func() error) keymap.Handler {
		return keymap.Handler{Do: keymap.Just(func() {
			if err := f(); err != nil {
				d.word = sentence(err)
			}
			d.lay()
		})}
	}
	return keymap.Handlers{
		"review.edit":       change(func() error { return d.edit(s) }),
		"review.acceptance": change(d.editAcceptance),
		"review.take_out":   change(func() error { return d.takeOut(s) }),
		"review.move_up":    change(func() error { return v.Move(s.Step.Index, -1) }),
		"review.move_down":  change(func() error { return v.Move(s.Step.Index, 1) }),
		"review.approve":    change(func() error { return v.Approve(s.Step.Index, !s.Passes) }),
		"review.approve_all": change(func() error {
			if v.ApproveAll() == 0 {
				return errors.New("no gate is left to approve")
			}
			return nil
		}),
		"review.undo": change(func() error {
			if !v.Undo() {
				return errors.New("nothing was changed")
			}
			return nil
		}),
	}
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
	d.confirm = &reviewQuestion{text, func() keymap.Request {
		if err := v.Remove(needed.Step, true); err != nil {
			d.word = sentence(err)
		}
		d.lay()
		return keymap.Request{}
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
	if d.chosen().Out {
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
	d.doc = nil
	if d.editor != nil {
		d.editor.Retheme()
	}
}
