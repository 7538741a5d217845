package ask

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"replan/internal/english"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Update handles a key that no action takes, pasted text, a click on a key or a
// listed request, a turn of the wheel, and the pause after an edit.
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
		if cmd, taken := g.guard.Ignore(msg, g.editor.on()); taken {
			return keymap.Requests{cmd}
		}
		switch {
		case !g.editor.on() && msg.Text != "":
			// A letter of a text: its other letters are no answers.
			return keymap.Requests{keymap.Footer(g.NoAnswer(msg)), g.guard.StartStage()}
		case !g.editor.on() && (msg.Code == tea.KeyTab || msg.Code == tea.KeyEnter):
			return keymap.ShowFooter(g.NoAnswer(msg))
		}
		return keymap.Requests{g.editor.update(msg)}
	case tea.PasteMsg:
		return keymap.Requests{g.editor.update(msg)}
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
		return keymap.ShowFooter(g.noSuchAnswer(id))
	default:
		return keymap.ShowFooter(why)
	}
}

// Actions returns the actions of the dialog in its current state. Moving to another
// request works even while keys are ignored: it answers nothing, and the guard is turned
// on again for the next request.
func (g *Dialog) Actions() keymap.Handlers {
	return g.guard.Hold(g.actions(), g.keys, "gate.next", "gate.previous")
}

func (g *Dialog) actions() keymap.Handlers {
	switch {
	case g.queue.count() == 0:
		return nil
	case g.editor.on():
		return g.editActions()
	case g.confirm != nil:
		return g.confirmActions().With(g.viewActions())
	}
	several := func() bool { return g.queue.count() > 1 }
	hs := keymap.Handlers{
		"dialog.leave":   {Do: keymap.Just(func() { g.open = false })},
		"gate.details":   {When: func() bool { return g.noDetails() == "" }, Do: keymap.Just(g.turnDetails)},
		"gate.editor":    {Refuse: g.noFile, Do: g.editFile},
		"gate.all":       {Refuse: g.notAlike, Do: g.approveAll},
		"gate.leave_out": {When: g.queue.picks, Do: keymap.Just(g.queue.leaveOut)},
		"gate.next":      {When: several, Do: func() keymap.Requests { return g.step(1) }},
		"gate.previous":  {When: several, Do: func() keymap.Requests { return g.step(-1) }},
	}.With(g.viewActions())
	for _, c := range g.current().choices(g.keys) {
		hs[c.id] = keymap.Handler{Refuse: func() string { return c.refuse }, Do: func() keymap.Requests { return g.choose(c) }}
	}
	return hs
}

// editActions returns the actions of the argument editor.
func (g *Dialog) editActions() keymap.Handlers {
	return keymap.Handlers{
		"dialog.leave":            {Do: keymap.Just(func() { g.editor.close() })},
		"gate.editor":             {Refuse: g.noFile, Do: g.editFile},
		"question.send":           {Do: g.sendEdited},
		"question.next_field":     {Do: keymap.Just(func() { g.editor.move(1) })},
		"question.previous_field": {Do: keymap.Just(func() { g.editor.move(-1) })},
		"question.undo_edit":      {Do: g.editor.undo},
	}
}

// viewActions returns the actions that scroll the document or toggle its diffs.
func (g *Dialog) viewActions() keymap.Handlers {
	return keymap.Scrolling(g.reading.inView(), g.reading.scroll).With(keymap.Handlers{
		"move.last": {Do: keymap.Just(g.reading.toEnd)},
		"gate.sides": {
			When: func() bool { return g.noSides() == "" },
			Do:   func() keymap.Requests { return keymap.ShowFooter(g.turnDiffs()) },
		},
	})
}

// confirmActions returns the actions while an answer awaits confirmation.
func (g *Dialog) confirmActions() keymap.Handlers {
	back := keymap.Handler{Do: keymap.Just(func() { g.turn(nil) })}
	hs := keymap.Handlers{
		"gate.once": {Do: func() keymap.Requests {
			if !g.reading.drawn() || len(g.reading.unseen()) > 0 {
				return keymap.ShowFooter(g.confirm.unread)
			}
			c := g.confirm
			return append(keymap.Requests{g.answer(c.ids...), keymap.Answered{}}, keymap.SendCommands(c.send...)...)
		}},
		"dialog.leave": back, "gate.deny": back,
	}
	if c := g.confirm; c.refuse != nil {
		hs["gate.deny"] = keymap.Handler{Do: func() keymap.Requests {
			return append(keymap.Requests{g.answer(c.ids...), keymap.Answered{}}, keymap.SendCommands(c.refuse...)...)
		}}
	}
	if g.confirm.picks {
		hs = hs.With(g.pickActions())
	}
	if other := g.confirm.other; other != nil {
		hs["gate.always"] = keymap.Handler{Do: keymap.Just(func() { g.turn(other) })}
	}
	return hs
}

// Answers returns the actions on the displayed request for use elsewhere, as in
// the palette. While the dialog is hidden, an action only shows it: no answer goes
// to an unseen request.
func (g *Dialog) Answers() keymap.Handlers {
	hs := keymap.Handlers{}
	add := func(id string, refuse func() string) {
		hs[id] = keymap.Handler{Refuse: refuse, Do: func() keymap.Requests {
			if !g.Showing() {
				return keymap.Requests{keymap.ShowGate{}}
			}
			return g.act(id)
		}}
	}
	for _, id := range []string{
		"gate.once", "gate.run", "gate.always", "gate.deny", "gate.edit",
		"question.done", "question.rerun", "question.retry", "question.skip", "question.replan", "question.edit", "question.abort",
	} {
		add(id, func() string { return g.refusal(id) })
	}
	add("gate.all", g.notAlike)
	add("gate.editor", g.noFile)
	add("gate.next", g.alone)
	add("gate.previous", g.alone)
	add("gate.sides", g.noSides)
	add("gate.details", g.noDetails)
	return hs
}

// notAlike says why there is no other gate to approve together with the displayed
// one.
func (g *Dialog) notAlike() string {
	switch {
	case g.queue.count() == 0:
		return "No gate and no question is open."
	case len(g.queue.like()) < 2:
		return "No other waiting gate has the same tool and rule."
	default:
		return ""
	}
}

// refusal returns why an answer is unavailable now, or "" if it is available.
func (g *Dialog) refusal(id string) string {
	if g.queue.count() == 0 {
		return "No gate and no question is open."
	}
	for _, c := range g.current().choices(g.keys) {
		if c.id == id {
			return c.refuse
		}
	}
	return g.noSuchAnswer(id)
}

// noSuchAnswer says that the displayed request does not accept this answer, and
// which keys it accepts.
func (g *Dialog) noSuchAnswer(id string) string {
	if g.queue.count() == 0 {
		return "No gate and no question is open."
	}
	return g.keys.LeadingName(id) + " does nothing here: use " + english.List(g.answerKeys(), "or") + "."
}

// answerKeys lists the keys that answer the displayed request.
func (g *Dialog) answerKeys() (keys []string) {
	for _, c := range g.current().choices(g.keys) {
		if c.refuse == "" && !c.hidden {
			keys = append(keys, g.keys.Name(c.id))
		}
	}
	return keys
}

// NoAnswer says that a key answers nothing, and which keys do; "" if no request is
// displayed.
func (g *Dialog) NoAnswer(k tea.KeyPressMsg) string {
	if !g.Showing() || g.confirm != nil {
		return ""
	}
	name := keymap.NameOf(k)
	if len(name) > 1 {
		name = english.Capital(name)
	}
	return fmt.Sprintf("%s is no answer: use %s. %s looks around.", name, english.List(g.answerKeys(), "or"), g.keys.LeadingName("dialog.leave"))
}

// alone returns why there is no other request to move to.
func (g *Dialog) alone() string {
	if g.queue.count() < 2 {
		return "Nothing else waits for an answer."
	}
	return ""
}

// noDetails returns why the dialog has no details to show.
func (g *Dialog) noDetails() string {
	if g.queue.count() == 0 {
		return "No gate and no question is open."
	}
	if gate, ok := g.current().(OpenGate); !ok || gate.Session || !g.reading.drawn() {
		return "All that is known is in view."
	}
	return ""
}

// noSides returns why the dialog cannot toggle its diff.
func (g *Dialog) noSides() string {
	if !g.reading.diffs() {
		return "No diff in view can be shown side by side."
	}
	return ""
}
