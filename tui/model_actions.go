package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"replan/tui/chat"
	"replan/tui/keymap"
	"replan/tui/panes"
)

// table returns the table of actions: key, words, who carries it out, and why not. Help,
// palette, footer and keys are made from it. The handlers in replaced take the place of
// others.
func (m *Model) table(replaced keymap.Handlers) keymap.Groups {
	ofRun := m.dialogs.runActions()
	byPlace := map[keymap.Place]keymap.Handlers{
		keymap.PlaceEverywhere: m.everywhereActions().With(m.panes.Actions(), m.exits.actions(), m.dialogs.actions(m.contents()), m.chat.Actions(), m.input.Actions()),
		keymap.PlaceChat:       m.input.Actions(),
		keymap.PlacePlan:       m.dag.Actions().With(m.detail.Actions(), ofRun),
		keymap.PlaceStep:       m.detail.Actions().With(ofRun),
		keymap.PlaceMoving:     m.movingActions(),
		keymap.PlaceGate:       m.ask.Answers(),
		keymap.PlaceQuestion:   m.ask.Answers(),
		keymap.PlaceReview:     m.review.Answers(),
		keymap.PlaceReplay:     m.playback.actions(m.keys),
	}
	for _, handlers := range byPlace {
		for id, h := range replaced {
			if _, ok := handlers[id]; ok {
				handlers[id] = h
			}
		}
	}
	return m.keys.Table(byPlace, m.dialogs.relayed)
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
			Do:     func() keymap.Requests { return keymap.Requests{keymap.ShowStep(cited())} },
		},
		"gate":        {Refuse: keymap.Unless(asked, "No gate is open."), Do: keymap.Just(reopen)},
		"review.next": {Do: m.session.holdPlans},
		"look":        {Do: keymap.Command(m.session.lookAgain)},
	}
}

// movingActions returns the actions that move the focused pane. In the input,
// letters and arrows edit the text instead.
func (m *Model) movingActions() keymap.Handlers {
	beside := func() bool { return m.panes.Focus() != panes.Chat || !m.input.TakesText() }
	hs := keymap.Handlers{}
	for id := range keymap.Moving(nil, nil) {
		hs[id] = keymap.Handler{When: beside, Do: func() keymap.Requests { return m.focus.pane(m.panes.Focus()).Actions()[id].Do() }}
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

// contents returns what dialogs show of the screen when they open.
func (m *Model) contents() contents {
	return contents{
		help: m.helpPage, palette: m.palettePage, settings: m.settingValues, themes: m.appearance.chosenTheme,
		status: m.session.now,
	}
}
