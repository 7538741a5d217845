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

// Dialog shows a plan that is held and has it looked over: edited, moved,
// steps taken out, gates approved, and run or refused. It opens by itself.
type Dialog struct {
	Look   *draw.Look
	Pauses draw.Pauses
	Keys   *keymap.Map
	Hidden func() bool // something else asks first

	id     string        // which plan: its run, its revision, and how often that was taken up
	Review *agent.Review // nil where no plan waits
	tools  plan.Catalogue
	open   bool
	Fresh  bool // the user was not called for it yet
	sent   bool // the answer is on its way
	Grace  bool // takes no key yet
	early  bool // a key came too early
	Count  int  // of grace times begun

	steps    []agent.ReviewStep
	needs    [][]string        // what each waits for
	rails    *planlayout.Rails // the rows are the steps
	parallel map[string]bool   // steps that may run at the same time as another one
	limit    int               // lanes that the rails are laid out with
	at       int               // the chosen step
	top      int               // the first row in view
	body     int               // rows in view
	first    int               // line of the first row, from the top of the dialog's area

	doc    *draw.Document // of the chosen step
	line   int            // of that at the top
	detail int            // lines of it in view

	Editor *reviewEditor
	sure   *reviewQuestion // what is asked before something is done
	word   string          // on the last key
}

// reviewQuestion is asked before something is done that is more than was said.
type reviewQuestion struct {
	text string
	yes  func() keymap.Wanted
}

// RestMsg says that a grace time has passed since the key numbered count.
type RestMsg struct{ Count int }

// Set takes the plan that waits now, nil where none does. Another one than before
// opens the dialog and begins a grace time.
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

// Wait begins a grace time.
func (d *Dialog) Wait() tea.Cmd {
	d.Grace = true
	d.Count++
	count := d.Count
	return tea.Tick(d.Pauses.Grace, func(time.Time) tea.Msg { return RestMsg{count} })
}

// Rested ends the grace time, unless a key has come since.
func (d *Dialog) Rested(m RestMsg) {
	if m.Count == d.Count {
		d.Grace, d.early = false, false
	}
}

// Waits reports whether a plan waits to be looked over.
func (d *Dialog) Waits() bool { return d.Review != nil && !d.sent }

// Reopen shows it again after the user looked around.
func (d *Dialog) Reopen() tea.Cmd {
	d.open, d.early = true, false
	return d.Wait()
}

// Refused shows it again where the answer was not taken, as a note has said.
func (d *Dialog) Refused(why string) {
	if d.sent {
		d.sent, d.open, d.word = false, true, untrusted.Line(why)
	}
}

// Shown reports whether the dialog is open.
func (d *Dialog) Shown() bool { return d.open && d.Waits() && !d.Hidden() }

// Types reports whether a call is edited in it.
func (d *Dialog) Types() bool { return d.Editor != nil }

// Forget takes away the word on the last key.
func (d *Dialog) Forget() {
	if !d.Grace && d.Editor == nil && d.sure == nil {
		d.word = ""
	}
}

// Handlers are the actions of the dialog, none while it takes no key yet.
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

// Act does an action that was chosen elsewhere.
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

// Typed takes a key that means no action.
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

// tooEarly begins the grace time anew.
func (d *Dialog) tooEarly() keymap.Wanted {
	d.early = true
	return keymap.Wanted{Cmd: d.Wait()}
}

// viewHandlers are the actions that answer, or that move what is shown.
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

// answer sends what becomes of the plan.
func (d *Dialog) answer(decision event.ReviewDecision) keymap.Wanted {
	d.sent = true
	return keymap.Sending(runner.Review{Run: d.Review.Run, Answer: d.Review.Answer(decision)})
}

// chosen is the step that is chosen.
func (d *Dialog) chosen() agent.ReviewStep { return d.steps[d.at] }

// choose chooses a step.
func (d *Dialog) choose(i int) {
	if i = max(min(i, len(d.steps)-1), 0); i != d.at {
		d.at, d.doc, d.line = i, nil, 0
	}
}

// changeHandlers are the actions that change the plan.
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

// sentence is an error as a sentence.
func sentence(err error) string {
	text := untrusted.Line(err.Error())
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// takeOut takes a step out or brings it back. Where others need it, it asks
// whether they go too.
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

// Clicked chooses what is drawn at that line.
func (d *Dialog) Clicked(line int) {
	if i := line - d.first + d.top; line >= d.first && line < d.first+d.body && i >= 0 && i < len(d.steps) && d.Editor == nil {
		d.choose(i)
	}
}

// Wheeled takes a turn of the mouse wheel.
func (d *Dialog) Wheeled(lines int) { d.line += lines }

// Hints lists the keys that do something now.
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

// Retheme draws the dialog anew.
func (d *Dialog) Retheme() {
	d.doc = nil
	if d.Editor != nil {
		d.Editor.Retheme()
	}
}
