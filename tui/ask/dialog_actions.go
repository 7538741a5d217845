package ask

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"replan/tui/draw"
	"replan/tui/keymap"
)

// Update handles a key that no action takes, pasted text, and a click on a key or a listed
// request. It also handles a turn of the wheel, and the pause after an edit.
func (g *Dialog) Update(msg tea.Msg) keymap.Requests {
	switch msg := msg.(type) {
	case CheckMsg:
		return keymap.Requests{g.editor.check(msg, g.Showing(), g.current)}
	case FileMsg:
		return g.fileChange(msg)
	case PreviewedMsg:
		return g.previewed(msg)
	case EditedMsg:
		return g.fileEdited(msg)
	case KeptMsg:
		return g.files.left(msg)
	case tea.KeyPressMsg:
		if cmd, taken := g.guard.Ignore(msg, g.writes()); taken {
			return keymap.Requests{cmd}
		}
		switch {
		case !g.writes() && msg.Text != "":
			// A letter of a text: its other letters are no answers.
			return keymap.Requests{keymap.Footer(g.NoAnswer(msg)), g.guard.StartStage()}
		case !g.writes() && (msg.Code == tea.KeyTab || msg.Code == tea.KeyEnter):
			return keymap.ShowFooter(g.NoAnswer(msg))
		}
		return keymap.Requests{g.write(msg)}
	case tea.PasteMsg:
		return keymap.Requests{g.write(msg)}
	case tea.MouseClickMsg:
		if id, found := g.keyBar.under(msg); found {
			return append(g.act(id), keymap.Clicked{})
		}
		return keymap.Requests{g.chooseAt(msg.Y)}
	case tea.MouseWheelMsg:
		if !g.editor.on() {
			g.reading.scroll(draw.WheelLines(tea.Mouse(msg)))
		}
	}
	return nil
}

// write passes a message to the open text, if there is one.
func (g *Dialog) write(msg tea.Msg) tea.Cmd {
	if g.refusal.on() {
		return g.refusal.update(msg)
	}
	return g.editor.update(msg)
}

// chooseAt displays the request listed at line y of the dialog.
func (g *Dialog) chooseAt(y int) tea.Cmd {
	if !g.Showing() || y < 1 || y > g.listed {
		return nil
	}
	first, _ := g.queue.window(g.listed)
	g.queue.choose(first + y - 1)
	return g.front()
}

// act runs an action, or says why it is unavailable.
func (g *Dialog) act(id string) keymap.Requests {
	w, why := g.Actions().Act(id)
	switch why {
	case "":
		return w
	case keymap.NotHere:
		return keymap.ShowFooter(g.answers.none(id))
	default:
		return keymap.ShowFooter(why)
	}
}

// Actions returns the actions of the dialog in its current state. Moving to another
// request works even while keys are ignored: it answers nothing, and the guard is turned
// on again for the next request.
func (g *Dialog) Actions() keymap.Handlers {
	return g.guard.Hold(g.actions(), g.keys)
}

func (g *Dialog) actions() keymap.Handlers {
	switch {
	case g.queue.count() == 0:
		return nil
	case g.editor.on():
		return editing().For(g)
	case g.refusal.on():
		return refusing().For(g)
	case g.confirm != nil:
		hs := confirming().For(g)
		if g.confirm.picks {
			hs = hs.With(picking().For(g))
		}
		return hs.With(g.scrolling())
	}
	return gateActions().For(g).With(leavingOut().For(g), looking().For(g), questionActions().For(g), hiding().For(g), g.scrolling())
}

// gateActions are the actions that answer a gate.
func gateActions() keymap.Table[*Dialog] {
	return keymap.Table[*Dialog]{
		answering("gate.once", "y", "allow once"),
		answering("gate.run", "r", "allow this tool for the run"),
		answering("gate.always", "a", "allow always; shows the rule first"),
		answering("gate.deny", "n", "deny; opens a line for the reason"),
		answering("gate.edit", "e", "edit the call"),
		{ID: "gate.editor", Keys: "alt+e f4", Does: "edit the file of the call in your editor (also F4)", Refuse: (*Dialog).noFile, Do: (*Dialog).editFile},
		{ID: "gate.all", Keys: "A", Does: "allow all similar calls; lists them first", Refuse: func(g *Dialog) string { return g.answers.notAlike() }, Do: (*Dialog).approveAll},
	}
}

// leavingOut is the action that chooses what a joint approval covers.
func leavingOut() keymap.Table[*Dialog] {
	return keymap.Table[*Dialog]{
		{ID: "gate.leave_out", Keys: "space", Does: "leave a call out of all similar ones, or take it back", KeyOnly: true, When: (*Dialog).picks, Do: keymap.Calls((*Dialog).leaveOut)},
	}
}

// looking are the actions that show another request, or more of this one.
func looking() keymap.Table[*Dialog] {
	return keymap.Table[*Dialog]{
		{ID: "gate.next", Keys: "tab", Does: "next gate or question", KeyOnly: true, Early: true, When: (*Dialog).several, Refuse: (*Dialog).alone, Do: step(1)},
		{ID: "gate.previous", Keys: "shift+tab", Does: "previous gate or question", KeyOnly: true, Early: true, When: (*Dialog).several, Refuse: (*Dialog).alone, Do: step(-1)},
		sides(),
		{ID: "gate.details", Keys: "i", Does: "show why it asks, and the call", When: (*Dialog).hasDetails, Refuse: (*Dialog).noDetails, Do: keymap.Calls((*Dialog).turnDetails)},
	}
}

// sides is the row of the action that toggles the diff.
func sides() keymap.Row[*Dialog] {
	return keymap.Row[*Dialog]{
		ID: "gate.sides", Like: "diff.sides", KeyOnly: true,
		When: (*Dialog).turns, Refuse: (*Dialog).noSides, Do: keymap.Says((*Dialog).turnDiffs),
	}
}

// hiding is the action that hides the dialog.
func hiding() keymap.Table[*Dialog] {
	return keymap.Table[*Dialog]{
		{ID: "dialog.leave", Do: keymap.Calls((*Dialog).leave)},
	}
}

// leave goes back from the details to the request, and from there hides the dialog.
func (g *Dialog) leave() {
	if g.reading.detailed() {
		g.turnDetails()
		return
	}
	g.LookAround()
}

// questionActions are the actions that answer a question.
func questionActions() keymap.Table[*Dialog] {
	return keymap.Table[*Dialog]{
		answering("question.done", "d", "accept the step in doubt as done"),
		answering("question.rerun", "r", "run the step in doubt again"),
		answering("question.retry", "r", "retry the failed step"),
		answering("question.skip", "s", "skip the failed step"),
		answering("question.replan", "p", "replan after the failure"),
		answering("question.edit", "e", "edit the failed step's arguments"),
		answering("question.abort", "a", "abort the run"),
	}
}

// editing are the actions of the argument editor.
func editing() keymap.Table[*Dialog] {
	return keymap.Table[*Dialog]{
		{ID: "question.send", Keys: "ctrl+s", Does: "send edited arguments", KeyOnly: true, Do: (*Dialog).sendEdited},
		{ID: "question.undo_edit", Keys: "ctrl+z", Does: "undo an edit of arguments", KeyOnly: true, Do: func(g *Dialog) keymap.Requests { return g.editor.undo() }},
		{ID: "question.next_field", Keys: "tab", Does: "edit the next argument", KeyOnly: true, Do: keymap.Calls(func(g *Dialog) { g.editor.move(1) })},
		{ID: "question.previous_field", Keys: "shift+tab", Does: "edit the previous argument", KeyOnly: true, Do: keymap.Calls(func(g *Dialog) { g.editor.move(-1) })},
		{ID: "gate.editor", Refuse: (*Dialog).noFile, Do: (*Dialog).editFile},
		{ID: "dialog.leave", Do: keymap.Calls(func(g *Dialog) { g.editor.close() })},
	}
}

// refusing are the actions of the line.
func refusing() keymap.Table[*Dialog] {
	return keymap.Table[*Dialog]{
		{ID: "gate.refuse", Keys: "enter", Does: "deny: send the no, with the reason that you typed", KeyOnly: true, Do: (*Dialog).refuse},
		{ID: "dialog.leave", Do: keymap.Calls(func(g *Dialog) { g.refusal.close() })},
	}
}

// refuse sends the no that the line is for.
func (g *Dialog) refuse() keymap.Requests {
	answer := g.refusal.answer()
	return keymap.Requests{g.answer(g.current().id()), keymap.Answered{}, answer}
}

// GateLines returns the keys and words of the actions on a gate.
func GateLines() keymap.Lines {
	return slices.Concat(gateActions().Lines(), refusing().Lines(), leavingOut().Lines(), looking().Lines(), hunks().Lines())
}

// QuestionLines returns those of the actions that answer a question, and of the argument
// editor.
func QuestionLines() keymap.Lines { return slices.Concat(questionActions().Lines(), editing().Lines()) }

// answering is the row of an answer that the displayed request may accept.
func answering(id, keys, does string) keymap.Row[*Dialog] {
	return keymap.Row[*Dialog]{
		ID: id, Keys: keys, Does: does,
		When:   func(g *Dialog) bool { return g.answers.with(id) != nil },
		Refuse: func(g *Dialog) string { return g.answers.refusal(id) },
		Do:     func(g *Dialog) keymap.Requests { return g.choose(*g.answers.with(id)) },
	}
}

// step makes an action that moves to another request.
func step(by int) func(*Dialog) keymap.Requests {
	return func(g *Dialog) keymap.Requests { return g.step(by) }
}

// scrolling returns the actions that scroll the document or toggle its diffs.
func (g *Dialog) scrolling() keymap.Handlers {
	return keymap.Scrolling(g.reading.inView(), g.reading.scroll).With(viewing().For(g), hunks().For(g))
}

// viewing are the other actions on the document.
func viewing() keymap.Table[*Dialog] {
	return keymap.Table[*Dialog]{
		{ID: "move.last", Do: keymap.Calls(func(g *Dialog) { g.reading.toEnd() })},
		sides(),
	}
}

// confirming are the actions while an answer awaits confirmation.
func confirming() keymap.Table[*Dialog] {
	return keymap.Table[*Dialog]{
		{ID: "gate.once", Do: (*Dialog).sendConfirmed},
		{ID: "gate.deny", Do: (*Dialog).refuseConfirmed},
		{ID: "gate.always", When: func(g *Dialog) bool { return g.confirm.other != nil }, Do: keymap.Calls(func(g *Dialog) { g.turn(g.confirm.other) })},
		{ID: "dialog.leave", Do: keymap.Calls(func(g *Dialog) { g.turn(nil) })},
	}
}

// sendConfirmed gives the confirmed answer, unless the user has not seen all that it covers.
func (g *Dialog) sendConfirmed() keymap.Requests {
	c := g.confirm
	if !g.reading.drawn() || len(g.reading.unseen()) > 0 {
		return keymap.ShowFooter(c.unread)
	}
	return append(keymap.Requests{g.answer(c.ids...), keymap.Answered{}}, keymap.SendCommands(c.send...)...)
}

// refuseConfirmed says no to all that the answer covers, or goes back to the question.
func (g *Dialog) refuseConfirmed() keymap.Requests {
	c := g.confirm
	if c.refuse == nil {
		g.turn(nil)
		return nil
	}
	return append(keymap.Requests{g.answer(c.ids...), keymap.Answered{}}, keymap.SendCommands(c.refuse...)...)
}

// Answers returns the actions on the displayed request for use elsewhere, as in
// the palette. While the dialog is hidden, an action only shows it: no answer goes
// to an unseen request.
func (g *Dialog) Answers() keymap.Handlers {
	hs := gateActions().For(g).With(looking().For(g), questionActions().For(g))
	for id, h := range hs {
		hs[id] = keymap.Handler{Refuse: h.Refuse, Do: func() keymap.Requests {
			if !g.Showing() {
				return keymap.Requests{keymap.ShowGate{}}
			}
			return g.act(id)
		}}
	}
	return hs
}

// NoAnswer says that a key answers nothing, and which keys do; "" if no request is
// displayed.
func (g *Dialog) NoAnswer(k tea.KeyPressMsg) string {
	if !g.Showing() || g.confirm != nil {
		return ""
	}
	return g.answers.noKey(k)
}

// several reports whether there is another request to move to.
func (g *Dialog) several() bool { return g.queue.count() > 1 }

// alone returns why there is no other request to move to.
func (g *Dialog) alone() string {
	if g.queue.count() < 2 {
		return "Nothing else waits for an answer."
	}
	return ""
}

// hasDetails reports whether the dialog has details to show.
func (g *Dialog) hasDetails() bool { return g.noDetails() == "" }

// noDetails returns why the dialog has no details to show.
func (g *Dialog) noDetails() string {
	if g.queue.count() == 0 {
		return nothingOpen
	}
	if gate, ok := g.current().(OpenGate); !ok || gate.Session || !g.reading.drawn() {
		return "All that is known is in view."
	}
	return ""
}

// picks reports whether a call can be left out of all similar ones.
func (g *Dialog) picks() bool { return g.queue.picks() }

// leaveOut leaves the displayed call out of all similar ones, or takes it back.
func (g *Dialog) leaveOut() { g.queue.leaveOut() }

// turns reports whether the dialog can toggle its diff.
func (g *Dialog) turns() bool { return g.noSides() == "" }

// noSides returns why the dialog cannot toggle its diff.
func (g *Dialog) noSides() string {
	if !g.reading.diffs() {
		return "No diff in view can be shown side by side."
	}
	return ""
}
