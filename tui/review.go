package tui

import (
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner"
	"replan/planning/plan"
	planlayout "replan/planning/plan/layout"
	"replan/tui/untrusted"
)

// reviewDialog shows a plan that is held and has it looked over: edited, moved,
// steps taken out, gates approved, and run or refused. It opens by itself.
type reviewDialog struct {
	look   *look
	pauses Pauses
	keys   *keyMap
	hidden func() bool // something else asks first

	id     string        // which plan: its run, its revision, and how often that was taken up
	review *agent.Review // nil where no plan waits
	tools  plan.Catalogue
	open   bool
	fresh  bool // the user was not called for it yet
	sent   bool // the answer is on its way
	grace  bool // takes no key yet
	early  bool // a key came too early
	count  int  // of grace times begun

	steps    []agent.ReviewStep
	needs    [][]string        // what each waits for
	rails    *planlayout.Rails // the rows are the steps
	parallel map[string]bool   // steps that may run at the same time as another one
	limit    int               // lanes that the rails are laid out with
	at       int               // the chosen step
	top      int               // the first row in view
	body     int               // rows in view
	first    int               // line of the first row, from the top of the dialog's area

	doc    *document // of the chosen step
	line   int       // of that at the top
	detail int       // lines of it in view

	editor *reviewEditor
	sure   *reviewQuestion // what is asked before something is done
	word   string          // on the last key
}

// reviewQuestion is asked before something is done that is more than was said.
type reviewQuestion struct {
	text string
	yes  func() wanted
}

// reviewRestMsg says that a grace time has passed since the key numbered count.
type reviewRestMsg struct{ count int }

// set takes the plan that waits now, nil where none does. Another one than before
// opens the dialog and begins a grace time.
func (d *reviewDialog) set(run *agent.Run, times int) tea.Cmd {
	id := ""
	if run != nil {
		id = fmt.Sprintf("%s %d %d", run.ID, run.Revision, times)
	}
	if id == d.id {
		return nil
	}
	*d = reviewDialog{look: d.look, pauses: d.pauses, keys: d.keys, hidden: d.hidden, count: d.count, id: id}
	if run == nil {
		return nil
	}
	d.review, d.tools, d.open, d.fresh = run.Review(), run.Catalogue, true, true
	d.lay()
	return d.wait()
}

// wait begins a grace time.
func (d *reviewDialog) wait() tea.Cmd {
	d.grace = true
	d.count++
	count := d.count
	return tea.Tick(d.pauses.Grace, func(time.Time) tea.Msg { return reviewRestMsg{count} })
}

// rested ends the grace time, unless a key has come since.
func (d *reviewDialog) rested(m reviewRestMsg) {
	if m.count == d.count {
		d.grace, d.early = false, false
	}
}

// waits reports whether a plan waits to be looked over.
func (d *reviewDialog) waits() bool { return d.review != nil && !d.sent }

// reopen shows it again after the user looked around.
func (d *reviewDialog) reopen() tea.Cmd {
	d.open, d.early = true, false
	return d.wait()
}

// refused shows it again where the answer was not taken, as a note has said.
func (d *reviewDialog) refused(why string) {
	if d.sent {
		d.sent, d.open, d.word = false, true, untrusted.Line(why)
	}
}

func (d *reviewDialog) shown() bool { return d.open && d.waits() && !d.hidden() }

// types reports whether a call is edited in it.
func (d *reviewDialog) types() bool { return d.editor != nil }

// forget takes away the word on the last key.
func (d *reviewDialog) forget() {
	if !d.grace && d.editor == nil && d.sure == nil {
		d.word = ""
	}
}

// handlers are the actions of the dialog, none while it takes no key yet.
func (d *reviewDialog) handlers() handlers {
	switch {
	case d.grace || !d.waits():
		return nil
	case d.editor != nil:
		return handlers{
			"dialog.leave":       {do: just(func() { d.editor = nil })},
			"question.send":      {do: just(d.takeEdit)},
			"question.undo_edit": {do: just(func() { d.editor.undo() })},
		}
	case d.sure != nil:
		return handlers{
			"quit.yes": {do: func() wanted {
				yes := d.sure.yes
				d.sure = nil
				return yes()
			}},
			"quit.no": {do: just(func() { d.sure = nil })},
		}
	}
	return d.changeHandlers().with(d.viewHandlers())
}

// act does an action that was chosen elsewhere.
func (d *reviewDialog) act(id string) wanted {
	if d.grace {
		return d.tooEarly()
	}
	d.forget()
	w, why := d.handlers().act(id)
	if why != "" {
		return saying(why)
	}
	return w
}

// typed takes a key that means no action.
func (d *reviewDialog) typed(k tea.KeyPressMsg) wanted {
	switch {
	case d.grace:
		return d.tooEarly()
	case d.editor != nil:
		return wanted{cmd: d.editor.update(k)}
	default:
		return wanted{}
	}
}

// tooEarly begins the grace time anew.
func (d *reviewDialog) tooEarly() wanted {
	d.early = true
	return wanted{cmd: d.wait()}
}

// viewHandlers are the actions that answer, or that move what is shown.
func (d *reviewDialog) viewHandlers() handlers {
	page := max(d.detail-1, 1)
	line := func(by int) handler { return handler{do: just(func() { d.line += by })} }
	choose := func(i int) handler { return handler{do: just(func() { d.choose(i) })} }
	return handlers{
		"review.run": {do: func() wanted { return d.answer(event.ReviewRun) }},
		"review.refuse": {do: just(func() {
			d.sure = &reviewQuestion{"Refuse this plan? The run ends; a resume shows the plan again.", func() wanted { return d.answer(event.ReviewRefuse) }}
		})},
		"dialog.leave": {do: just(func() { d.open = false })},
		"move.page_up": line(-page), "move.half_up": line(-page), "move.page_down": line(page), "move.half_down": line(page),
		"move.up": choose(d.at - 1), "move.down": choose(d.at + 1), "move.first": choose(0), "move.last": choose(len(d.steps) - 1),
	}
}

// answer sends what becomes of the plan.
func (d *reviewDialog) answer(decision event.ReviewDecision) wanted {
	d.sent = true
	return sending(runner.Review{Run: d.review.Run, Answer: d.review.Answer(decision)})
}

// chosen is the step that is chosen.
func (d *reviewDialog) chosen() agent.ReviewStep { return d.steps[d.at] }

// choose chooses a step.
func (d *reviewDialog) choose(i int) {
	if i = max(min(i, len(d.steps)-1), 0); i != d.at {
		d.at, d.doc, d.line = i, nil, 0
	}
}

// changeHandlers are the actions that change the plan.
func (d *reviewDialog) changeHandlers() handlers {
	s, v := d.chosen(), d.review
	change := func(f func() error) handler {
		return handler{do: just(func() {
			if err := f(); err != nil {
				d.word = sentence(err)
			}
			d.lay()
		})}
	}
	return handlers{
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
func (d *reviewDialog) takeOut(s agent.ReviewStep) error {
	v := d.review
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
	d.sure = &reviewQuestion{text, func() wanted {
		if err := v.Remove(needed.Step, true); err != nil {
			d.word = sentence(err)
		}
		d.lay()
		return wanted{}
	}}
	return nil
}

// clicked chooses what is drawn at that line.
func (d *reviewDialog) clicked(line int) {
	if i := line - d.first + d.top; line >= d.first && line < d.first+d.body && i >= 0 && i < len(d.steps) && d.editor == nil {
		d.choose(i)
	}
}

func (d *reviewDialog) wheeled(lines int) { d.line += lines }

func (d *reviewDialog) hints() []hint {
	switch {
	case d.editor != nil:
		return []hint{d.keys.hint("take it", "question.send"), d.keys.hint("leave as it was", "dialog.leave")}
	case d.sure != nil:
		return []hint{d.keys.hint("", "quit.yes"), d.keys.hint("", "quit.no")}
	}
	out := "out"
	if d.chosen().Out {
		out = "bring back"
	}
	return []hint{
		d.keys.hint("run", "review.run"),
		d.keys.hint("refuse", "review.refuse"),
		d.keys.hint("edit", "review.edit"),
		d.keys.hint(out, "review.take_out"),
		d.keys.hint("gate", "review.approve"),
		d.keys.hint("all gates", "review.approve_all"),
		d.keys.hint("move", "review.move_up", "review.move_down"),
		d.keys.hint("undo", "review.undo"),
		d.keys.hint("look around", "dialog.leave"),
	}
}

// retheme draws the dialog anew.
func (d *reviewDialog) retheme() {
	d.doc = nil
	if d.editor != nil {
		d.editor.retheme()
	}
}

// heldRun is the run whose plan waits to be looked over, nil where none does.
func (m *Model) heldRun() *agent.Run {
	if m.retold != nil || m.options.Replay || !m.running() {
		return nil
	}
	for _, s := range m.stages {
		if s.goes() && s.run.Held() {
			return s.run
		}
	}
	return nil
}

// faced begins a grace time for a review that has come to the screen, where it
// was not there before.
func (m *Model) faced(before bool) tea.Cmd {
	if !before && m.review.shown() && !m.review.grace {
		return m.review.wait()
	}
	return nil
}
