package ask

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/planning/plan"
	"replan/tui/keymap"
)

// choose gives an answer, or first shows what the answer covers.
func (g *Dialog) choose(c choice) keymap.Requests {
	ask := g.current()
	key := g.keys.Shown(c.id)
	switch {
	case c.allows && len(g.reading.unseen()) > 0:
		g.reading.reveal()
		g.reading.note()
		words := ""
		switch {
		case len(g.reading.unseen()) == 0:
			words = "This is the rest of it; " + key + " again allows it."
		default:
			g.reading.saySize()
			words = g.reading.unseenCount() + "; " + key + " shows the next, or " + key + " after " + g.keys.Name("move.last") + " allows it."
		}
		// A key held down must not answer what it has just revealed. The buttons
		// count what is unseen after it.
		return keymap.Requests{keymap.Footer(words), g.guard.StartStage()}
	case c.says:
		gate, _ := ask.(OpenGate)
		g.refusal.open(c.send.(session.Resolve), key, gate.Heard) //nolint:forcetypeassert // only a gate asks why not
		return nil
	case c.send == nil:
		if !g.editor.open(c) {
			return keymap.ShowFooter("These arguments are too long to be edited here.")
		}
		return keymap.Requests{g.guard.StartStage()}
	case c.saves != nil:
		g.turn(savingRule(g.keys, ask, c))
		return keymap.Requests{g.guard.StartStage()}
	default:
		return keymap.Requests{g.answer(ask.id()), keymap.Answered{}, c.send}
	}
}

// sendEdited answers with the edited arguments.
func (g *Dialog) sendEdited() keymap.Requests {
	args := g.editor.args()
	if args == nil {
		return nil
	}
	ask := g.current()
	gate, isGate := ask.(OpenGate)
	if isGate && plan.EqualValues(args, gate.Ask.Args) {
		g.editor.close()
		return keymap.ShowFooter("No changes: the call stays as it was.")
	}
	answer, err := ask.with(args)
	if err != nil {
		g.editor.refuse(notSent(err))
		return nil
	}
	if isGate {
		return keymap.Requests{g.editor.preview(gate, answer, args)}
	}
	return keymap.Requests{g.answer(ask.id()), keymap.Answered{}, answer}
}

// answer removes answered requests from the queue.
func (g *Dialog) answer(ids ...string) tea.Cmd {
	g.queue.answer(ids)
	g.reading.forget(ids)
	g.stopTyping()
	g.confirm = nil
	return tea.Batch(g.files.leave(), g.front())
}

// turn shows the scope of an answer, or the question again if c is nil.
func (g *Dialog) turn(c *confirmation) {
	g.confirm = c
	g.reading.restart()
	g.guard.Disarm()
}

// approveAll shows which calls a joint approval of all similar gates would let
// pass.
func (g *Dialog) approveAll() keymap.Requests {
	c := jointApproval(g.keys, g.queue)
	if c == nil {
		return keymap.ShowFooter("All of them are left out: " + g.keys.Name("gate.leave_out") + " takes this one back, and " + g.keys.Name("gate.deny") + " denies it")
	}
	g.turn(c)
	return keymap.Requests{g.guard.StartStage()}
}

// picking are the actions that leave a call out of a joint approval.
func picking() keymap.Table[*Dialog] {
	return keymap.Table[*Dialog]{
		{ID: "gate.next", Early: true, Do: keymap.Calls(func(g *Dialog) { g.pickNext(1) })},
		{ID: "gate.previous", Early: true, Do: keymap.Calls(func(g *Dialog) { g.pickNext(-1) })},
		{ID: "gate.leave_out", Do: (*Dialog).leaveOutHere},
	}
}

// leaveOutHere leaves the chosen call out of the joint approval, or takes it back.
func (g *Dialog) leaveOutHere() keymap.Requests {
	g.queue.leaveOut()
	c := jointApproval(g.keys, g.queue)
	if c == nil {
		g.queue.leaveOut()
		return keymap.ShowFooter("All others are left out: " + g.keys.Name("gate.deny") + " denies all of them")
	}
	g.confirm = c
	g.reading.redraw()
	return nil
}

// pickNext chooses another call of a joint approval and scrolls to it.
func (g *Dialog) pickNext(by int) {
	g.reading.toCall(g.queue.stepWithin(g.confirm.ids, by))
	g.reading.redraw()
}

// step moves to another request.
func (g *Dialog) step(by int) keymap.Requests {
	g.queue.step(by)
	g.guard.ClearMessage()
	return keymap.Requests{g.front()}
}

// previewed sends edited arguments after their preview, unless the user has gone on.
func (g *Dialog) previewed(m PreviewedMsg) keymap.Requests {
	switch {
	case !g.editor.previewed(m) || !g.queue.is(m.gate):
		return nil
	case m.err != nil:
		g.editor.refuse(notSent(m.err))
		return nil
	default:
		return keymap.Requests{g.answer(m.gate), keymap.Answered{}, m.answer}
	}
}

// noFile returns why the displayed request cannot be edited as a file.
func (g *Dialog) noFile() string {
	if g.queue.count() == 0 {
		return nothingOpen
	}
	gate, ok := g.current().(OpenGate)
	if !ok || gate.Session {
		return g.answers.none("gate.editor")
	}
	return g.files.refusal(gate)
}

// editFile asks for the file as it would be after the displayed call.
func (g *Dialog) editFile() keymap.Requests {
	if g.files.busy() {
		return keymap.ShowFooter("One file at a time: the last one is still being checked.")
	}
	gate := g.current().(OpenGate) //nolint:forcetypeassert // noFile says so
	args := gate.Ask.Args
	if g.editor.on() {
		if args = g.editor.args(); args == nil {
			return nil
		}
	}
	return g.files.begin(gate, args)
}

// fileChange takes what a call would do to the file that is edited.
func (g *Dialog) fileChange(m FileMsg) keymap.Requests {
	next, call := g.files.change(m)
	if call == nil {
		return next
	}
	return keymap.Requests{g.answer(m.gate()), keymap.Answered{}, call}
}

// fileEdited takes the file that the editor left. Keys typed for the editor answer nothing.
func (g *Dialog) fileEdited(m EditedMsg) keymap.Requests {
	next, taken := g.files.edited(m)
	if !taken {
		return nil
	}
	return append(next, g.guard.StartStage())
}
