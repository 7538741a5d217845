package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/tui/chat"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/panes"
	"replan/tui/replay"
)

// newGroups returns every action with its handler. The handlers in replaced take
// the place of others.
func (m *Model) newGroups(replaced keymap.Handlers) keymap.Groups {
	ofRun := m.dialogs.runActions()
	byPlace := map[keymap.Place]keymap.Handlers{
		keymap.PlaceEverywhere: m.everywhereActions().With(m.panes.Actions(), m.dialogActions(), m.chat.Actions(), m.input.Actions()),
		keymap.PlaceChat:       m.input.Actions(),
		keymap.PlacePlan:       m.dag.Actions().With(m.detail.Actions(), ofRun),
		keymap.PlaceStep:       m.detail.Actions().With(ofRun),
		keymap.PlaceMoving:     m.movingActions(),
		keymap.PlaceGate:       m.ask.Answers(),
		keymap.PlaceQuestion:   m.ask.Answers(),
		keymap.PlaceReview:     m.review.Answers(),
		keymap.PlaceReplay:     replay.Actions(m.control, m.keys),
	}
	groups := m.keys.Actions()
	for _, g := range groups {
		for i := range g.Actions {
			a := &g.Actions[i]
			h, ok := byPlace[g.Place][a.ID]
			if !ok {
				h = m.dialogs.relayed(a.ID)
			} else if r, ok := replaced[a.ID]; ok {
				h = r
			}
			a.Handler = h
		}
	}
	return groups
}

// offered returns every action, and the chat commands, which have no keys.
func (m *Model) offered() keymap.Groups { return append(slices.Clip(m.groups), m.input.Commands()) }

// do runs an action, or says why it cannot. It first focuses the pane of a place,
// if at has one. Without an action, it does nothing.
func (m *Model) do(a *keymap.Action, at keymap.Place) tea.Cmd {
	if a == nil {
		return nil // a chat command that is gone by now
	}
	if why := a.Refusal(); why != "" {
		m.message.Set(why)
		return nil
	}
	m.panes.FocusPlace(at)
	return m.carryOut(a.Do())
}

// everywhereActions returns the actions of every pane.
func (m *Model) everywhereActions() keymap.Handlers {
	never := func() bool { return false }
	notReplayed := func() string { return "This is not a replay: " + m.keys.Name("quit") + " quits." }
	reopen := func() { // gates and questions come before a plan
		if m.ask.Waiting() == 0 {
			m.review.Reopen()
			return
		}
		m.ask.Reopen()
	}
	asked := func() bool { return m.ask.Waiting() > 0 || m.review.Waits() }
	cited := func() string {
		opened := ""
		if r := m.dag.Chosen(); r != nil && r.Step != nil && m.panes.Focus() == panes.Step {
			opened = r.Step.Step.Index
		}
		return chat.NextCited(m.live.Shown().State, opened)
	}
	return keymap.Handlers{
		"chat.cited": {
			Refuse: keymap.Unless(func() bool { return cited() != "" }, "The answer cites no step."),
			Do:     func() keymap.Request { return keymap.Request{Step: cited()} },
		},
		"gate":        {Refuse: keymap.Unless(asked, "No gate is open."), Do: keymap.Just(reopen)},
		"review.next": {Do: m.holdPlans},
		"run.stop":    {Refuse: m.nothingToStop, Do: keymap.Command(m.stop)},
		"look":        {Do: keymap.Command(m.lookAgain)},
		"quit":        {Do: keymap.Command(m.leave)},
		"replay.quit": {When: never, Refuse: notReplayed, Do: keymap.Just(func() {})},
	}
}

// movingActions returns the actions that move the focused pane. In the input,
// letters and arrows edit the text instead.
func (m *Model) movingActions() keymap.Handlers {
	beside := func() bool { return m.panes.Focus() != panes.Chat || !m.input.TakesText() }
	hs := keymap.Handlers{}
	for id := range keymap.Moving(nil, nil) {
		hs[id] = keymap.Handler{When: beside, Do: func() keymap.Request { return m.paneOf(m.panes.Focus()).Actions()[id].Do() }}
	}
	for id, when := range map[string]func() bool{
		"move.page_up": nil, "move.page_down": nil, "move.half_up": func() bool { return beside() || m.input.Empty() },
	} {
		h := hs[id]
		h.When = when
		hs[id] = h
	}
	return hs
}

// nothingToStop returns why there is nothing to stop or leave.
func (m *Model) nothingToStop() string {
	switch {
	case m.live.Stopping || m.panes.Focus() != panes.Chat || m.ask.Waiting() > 0:
		return ""
	case !m.live.Busy():
		return "Nothing is running."
	default:
		return ""
	}
}

// holdPlans toggles the review of the next plans before they run.
func (m *Model) holdPlans() keymap.Request {
	on := !m.status.Review
	word := "The next plans run at once."
	if on {
		word = "The next plans wait for your review."
	}
	return keymap.Request{Footer: word, Send: []session.Command{session.Hold{On: on}}}
}

// leave clears the input, else quits. It asks first during a run.
func (m *Model) leave() tea.Cmd {
	switch {
	case m.panes.Focus() == panes.Chat && !m.input.Empty() && !m.covered():
		m.input.Clear()
		return nil
	case m.live.Busy() && !m.options.Elsewhere:
		m.quitting = true
		return nil
	default:
		return tea.Quit
	}
}

// stop stops the run; without one, it leads back from the step to the plan and
// to the chat. If the run only waits at a gate, stop asks for a second press:
// the first may have been meant for the gate.
func (m *Model) stop() tea.Cmd {
	run := m.live.Current().State
	switch {
	case m.mapping():
		m.dag.TurnMap()
	case m.live.Stopping:
		m.message.SetUntilEvent("The run is stopping.")
	case m.ask.Waiting() > 0 && !m.live.Busy() && m.panes.Focus() == panes.Chat:
		m.message.Set("A " + m.ask.WaitsFor() + " is open: " + m.keys.Name("gate") + " returns to it.")
	case m.ask.Waiting() > 0 && !m.confirmStop && (run == nil || !run.Busy()):
		m.stopWarned = true
		m.message.Set(stopAgain(m, "A "+m.ask.WaitsFor()+" is open", "the "+m.ask.WaitsFor()))
	case m.review.Waits() && !m.confirmStop:
		m.stopWarned = true
		m.message.Set(stopAgain(m, "A plan waits for review", "it"))
	case m.live.Busy():
		m.live.Stopping = true
		m.chat.Invalidate()
		return m.outbox.send(session.Stop{})
	default:
		m.leadBack()
	}
	return nil
}

// leadBack returns from the map to the pane, from the step to the plan, and to
// the chat.
func (m *Model) leadBack() {
	switch {
	case m.mapping():
		m.dag.TurnMap()
	case m.panes.Focus() == panes.Step:
		m.panes.SetFocus(panes.Plan) // the step was opened from it
	default:
		m.panes.SetFocus(panes.Chat)
	}
}

// stopAgain says that a second press stops the run although something waits for an
// answer; a narrow screen says only what the keys do.
func stopAgain(m *Model, waits, back string) string {
	again, returns := m.keys.Name("run.stop")+" again stops the run, ", m.keys.Name("gate")+" returns"
	if full := waits + ": " + again + returns + " to " + back + "."; draw.VisibleWidth(full) < m.panes.Layout().Width-1 {
		return full
	}
	return again + returns
}
