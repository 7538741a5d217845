package review

import (
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner"
	"replan/internal/untrusted"
	"replan/planning/plan"
	planlayout "replan/planning/plan/layout"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Dialog lets the user review a plan on hold: edit, move or remove steps, approve
// gates, and run or refuse the plan. It opens by itself.
type Dialog struct {
	Look   *draw.Look
	Pauses draw.Pauses
	Keys   *keymap.Map
	Hidden func() bool // another request comes first

	id     string        // run, revision and resume count of the plan
	Review *agent.Review // nil if no plan waits
	tools  plan.Catalogue
	open   bool
	Fresh  bool // no notification sent yet
	sent   bool // answer in flight
	Grace  bool // keys are not accepted yet
	early  bool // a key came too early
	Count  int  // grace times started

	steps    []agent.ReviewStep
	needs    [][]string        // dependencies of each step
	rails    *planlayout.Rails // one row per step
	parallel map[string]bool   // steps that may run in parallel with another one
	limit    int               // number of lanes the rails are laid out with
	at       int               // selected step
	top      int               // first visible row
	body     int               // visible rows
	first    int               // line of the first row, from the top of the dialog's area

	doc    *draw.Document // describes the selected step
	line   int            // first visible line of doc
	detail int            // visible lines of doc

	Editor *reviewEditor
	sure   *reviewQuestion // pending confirmation
	word   string          // message about the last key
}

// reviewQuestion asks for confirmation of an action with wider effects than the
// user requested.
type reviewQuestion struct {
	text string
	yes  func() keymap.Wanted
}

// RestMsg reports that the grace time number Count is over.
type RestMsg struct{ Count int }

// Set stores the plan that waits for review, if any. A different plan opens the
// dialog and starts a grace time.
func (d *Dialog) Set(run *agent.Run, times int) tea.Cmd {
	id := ""
	if run != nil {
		id = fmt.Sprintf("%s %d %d", run.ID, run.Revision, times)
	}
	if id == d.id {
		return nil
	}
	*d = Dialog{Look: d.Look, Pauses: d.Pauses, Keys: d.Keys, Hidden: d.Hidden, Count: d.Count, id: id}
	if run == nil {
		return nil
	}
	d.Review, d.tools, d.open, d.Fresh = run.Review(), run.Catalogue, true, true
	d.lay()
	return d.Wait()
}

// Wait starts a grace time.
func (d *Dialog) Wait() tea.Cmd {
	d.Grace = true
	d.Count++
	count := d.Count
	return tea.Tick(d.Pauses.Grace, func(time.Time) tea.Msg { return RestMsg{count} })
}

// Rested ends the grace time unless another key has arrived since.
func (d *Dialog) Rested(m RestMsg) {
	if m.Count == d.Count {
		d.Grace, d.early = false, false
	}
}

// Waits reports whether a plan waits for review.
func (d *Dialog) Waits() bool { return d.Review != nil && !d.sent }

// Reopen reopens the dialog after the user looked around.
func (d *Dialog) Reopen() tea.Cmd {
	d.open, d.early = true, false
	return d.Wait()
}

// Refused reopens the dialog after the session rejected the answer, as reported in
// a note.
func (d *Dialog) Refused(why string) {
	if d.sent {
		d.sent, d.open, d.word = false, true, untrusted.Line(why)
	}
}

// Shown reports whether the dialog is open.
func (d *Dialog) Shown() bool { return d.open && d.Waits() && !d.Hidden() }

// Types reports whether the user is editing a call.
func (d *Dialog) Types() bool { return d.Editor != nil }

// Forget clears the message about the last key.
func (d *Dialog) Forget() {
	if !d.Grace && d.Editor == nil && d.sure == nil {
		d.word = ""
	}
}

// Handlers returns the actions of the dialog. There are none during the grace time.
func (d *Dialog) Handlers() keymap.Handlers {
	switch {
	case d.Grace || !d.Waits():
		return nil
	case d.Editor != nil:
		return keymap.Handlers{
			"dialog.leave":       {Do: keymap.Just(func() { d.Editor = nil })},
			"question.send":      {Do: keymap.Just(d.takeEdit)},
			"question.undo_edit": {Do: keymap.Just(func() { d.Editor.Undo() })},
		}
	case d.sure != nil:
		return keymap.Handlers{
			"quit.yes": {Do: func() keymap.Wanted {
				yes := d.sure.yes
				d.sure = nil
				return yes()
			}},
			"quit.no": {Do: keymap.Just(func() { d.sure = nil })},
		}
	}
	return d.changeHandlers().With(d.viewHandlers())
}

// Act runs an action chosen elsewhere.
func (d *Dialog) Act(id string) keymap.Wanted {
	if d.Grace {
		return d.tooEarly()
	}
	d.Forget()
	w, why := d.Handlers().Act(id)
	if why != "" {
		return keymap.Saying(why)
	}
	return w
}

// Typed handles a key that is bound to no action.
func (d *Dialog) Typed(k tea.KeyPressMsg) keymap.Wanted {
	switch {
	case d.Grace:
		return d.tooEarly()
	case d.Editor != nil:
		return keymap.Wanted{Cmd: d.Editor.Update(k)}
	default:
		return keymap.Wanted{}
	}
}

// tooEarly restarts the grace time.
func (d *Dialog) tooEarly() keymap.Wanted {
	d.early = true
	return keymap.Wanted{Cmd: d.Wait()}
}

// viewHandlers returns the actions that answer, and those that change the view.
func (d *Dialog) viewHandlers() keymap.Handlers {
	page := max(d.detail-1, 1)
	line := func(by int) keymap.Handler { return keymap.Handler{Do: keymap.Just(func() { d.line += by })} }
	choose := func(i int) keymap.Handler { return keymap.Handler{Do: keymap.Just(func() { d.choose(i) })} }
	return keymap.Handlers{
		"review.run": {Do: func() keymap.Wanted { return d.answer(event.ReviewRun) }},
		"review.refuse": {Do: keymap.Just(func() {
			d.sure = &reviewQuestion{"Refuse this plan? The run ends; a resume shows the plan again.", func() keymap.Wanted { return d.answer(event.ReviewRefuse) }}
		})},
		"dialog.leave": {Do: keymap.Just(func() { d.open = false })},
		"move.page_up": line(-page), "move.half_up": line(-page), "move.page_down": line(page), "move.half_down": line(page),
		"move.up": choose(d.at - 1), "move.down": choose(d.at + 1), "move.first": choose(0), "move.last": choose(len(d.steps) - 1),
	}
}

// answer sends the decision about the plan.
func (d *Dialog) answer(decision event.ReviewDecision) keymap.Wanted {
	d.sent = true
	return keymap.Sending(runner.Review{Run: d.Review.Run, Answer: d.Review.Answer(decision)})
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
	s, v := d.chosen(), d.Review
	change := func(f func() error) keymap.Handler {
		return keymap.Handler{Do: keymap.Just(func() {
			if err := f(); err != nil {
				d.word = sentence(err)
			}
			d.lay()
		})}
	}
	return keymap.Handlers{
		"review.edit":      change(func() error { return d.edit(s) }),
		"review.take_out":  change(func() error { return d.takeOut(s) }),
		"review.move_up":   change(func() error { return v.Move(s.Step.Index, -1) }),
		"review.move_down": change(func() error { return v.Move(s.Step.Index, 1) }),
		"review.approve":   change(func() error { return v.Approve(s.Step.Index, !s.Passes) }),
		"review.approve_all": change(func() error {
			if v.ApproveAll() == 0 {
				return errors.New("no other gate can be approved now")
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
	text := untrusted.Line(err.Error())
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// takeOut removes or restores a step. If other steps depend on it, takeOut asks
// whether to remove them too.
func (d *Dialog) takeOut(s agent.ReviewStep) error {
	v := d.Review
	if s.Out {
		back, err := v.Restore(s.Step.Index)
		if err == nil && len(back) > 1 {
			d.word = "Back are the steps " + untrusted.Line(strings.Join(back, ", ")) + ", which need each other."
		}
		return err
	}
	err := v.Remove(s.Step.Index, false)
	var needed *agent.DependentsError
	if !errors.As(err, &needed) {
		return err
	}
	text := fmt.Sprintf("Step %s is needed by %s. Take all of them out?", untrusted.Line(needed.Step), untrusted.Line(strings.Join(needed.Dependents, ", ")))
	d.sure = &reviewQuestion{text, func() keymap.Wanted {
		if err := v.Remove(needed.Step, true); err != nil {
			d.word = sentence(err)
		}
		d.lay()
		return keymap.Wanted{}
	}}
	return nil
}

// Clicked selects the step drawn at line.
func (d *Dialog) Clicked(line int) {
	if i := line - d.first + d.top; line >= d.first && line < d.first+d.body && i >= 0 && i < len(d.steps) && d.Editor == nil {
		d.choose(i)
	}
}

// Wheeled handles a turn of the mouse wheel.
func (d *Dialog) Wheeled(lines int) { d.line += lines }

// Hints lists the keys that are active now.
func (d *Dialog) Hints() []keymap.Hint {
	switch {
	case d.Editor != nil:
		return []keymap.Hint{d.Keys.Hint("take it", "question.send"), d.Keys.Hint("leave as it was", "dialog.leave")}
	case d.sure != nil:
		return []keymap.Hint{d.Keys.Hint("", "quit.yes"), d.Keys.Hint("", "quit.no")}
	}
	out := "out"
	if d.chosen().Out {
		out = "bring back"
	}
	return []keymap.Hint{
		d.Keys.Hint("run", "review.run"),
		d.Keys.Hint("refuse", "review.refuse"),
		d.Keys.Hint("edit", "review.edit"),
		d.Keys.Hint(out, "review.take_out"),
		d.Keys.Hint("gate", "review.approve"),
		d.Keys.Hint("all gates", "review.approve_all"),
		d.Keys.Hint("move", "review.move_up", "review.move_down"),
		d.Keys.Hint("undo", "review.undo"),
		d.Keys.Hint("look around", "dialog.leave"),
	}
}

// Retheme discards the rendering made with the previous theme.
func (d *Dialog) Retheme() {
	d.doc = nil
	if d.Editor != nil {
		d.Editor.Retheme()
	}
}
