package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/tui/ask"
	"replan/tui/keymap"
)

// newGroups returns every action with its handler.
func (m *Model) newGroups() []keymap.Group {
	byPlace := map[keymap.Place]keymap.Handlers{
		keymap.PlaceEverywhere: m.everywhereActions().With(m.conversationActions()),
		keymap.PlaceChat:       m.chatActions(),
		keymap.PlacePlan:       m.planActions().With(m.graphActions(), m.inspectActions()),
		keymap.PlaceStep:       m.stepActions().With(m.inspectActions()),
		keymap.PlaceMoving:     m.movingActions(),
		keymap.PlaceGate:       m.gateActions(),
		keymap.PlaceQuestion:   m.questionActions(),
		keymap.PlaceReview:     m.reviewActions(),
		keymap.PlaceReplay:     m.replayActions(),
	}
	if m.options.Replay {
		for id, h := range m.replayCommands() {
			for _, hs := range byPlace {
				if _, ok := hs[id]; ok {
					hs[id] = h
				}
			}
		}
	}
	groups := m.keys.Actions()
	for _, g := range groups {
		for i := range g.Actions {
			a := &g.Actions[i]
			h, ok := byPlace[g.Place][a.ID]
			if !ok {
				h = m.inDialog(a.ID)
			}
			a.Handler = h
		}
	}
	return groups
}

// find returns the action bound to a key in a place, nil for none.
func (m *Model) find(k tea.KeyPressMsg, at keymap.Place) *keymap.Action {
	for i := range m.groups {
		if m.groups[i].Place != at {
			continue
		}
		for j := range m.groups[i].Actions {
			a := &m.groups[i].Actions[j]
			if keymap.Matches(k, *a.Key) && (a.When == nil || a.When()) {
				return a
			}
		}
	}
	return nil
}

// do runs an action, or says why it cannot.
func (m *Model) do(a *keymap.Action) tea.Cmd {
	if why := a.Refusal(); why != "" {
		m.say(why)
		return nil
	}
	return m.carryOut(a.Do())
}

// doFor runs an action of a place that was chosen elsewhere, and first focuses
// that place's pane.
func (m *Model) doFor(a *keymap.Action, at keymap.Place) tea.Cmd {
	if why := a.Refusal(); why != "" {
		m.say(why)
		return nil
	}
	switch at {
	case keymap.PlaceChat:
		m.focus = paneChat
	case keymap.PlacePlan:
		m.focus = panePlan
	case keymap.PlaceStep:
		m.focus = paneStep
	}
	return m.carryOut(a.Do())
}

// mode returns the actions that precede those of the panes while a question,
// dialog or search has the keys. It returns nil otherwise.
func (m *Model) mode() keymap.Handlers {
	switch over := m.over(); {
	case m.quitting:
		return keymap.Handlers{
			"quit.yes": {Do: keymap.Command(func() tea.Cmd { return tea.Quit })},
			"quit.no":  {Do: keymap.Just(func() { m.quitting = false })},
		}
	case over != nil:
		return over.Handlers()
	case m.ask.Showing():
		return m.ask.Handlers()
	case m.searching():
		return m.chat.SearchHandlers()
	case m.filters():
		return m.dag.FilterHandlers().Then(m.refresh)
	case m.recalls():
		return m.recallHandlers()
	case m.completes():
		return m.completeHandlers()
	default:
		return nil
	}
}

// doHere runs an action as its key would in the current state.
func (m *Model) doHere(id string) tea.Cmd {
	m.forget(id)
	m.selected.unselect()
	over := m.over()
	if _, ok := m.mode()[id]; ok {
		switch {
		case m.quitting:
		case over != nil:
			m.nextKey(over)
			return m.actOver(over, id)
		case m.ask.Showing():
			return m.actInAsk(func() keymap.Wanted { return m.ask.Act(id) })
		}
		w, why := m.mode().Act(id)
		if why != "" {
			m.say(why)
		}
		return m.carryOut(w)
	}
	if m.quitting || over != nil {
		return nil
	}
	for _, at := range []keymap.Place{keymap.PlaceReplay, keymap.PlaceEverywhere, m.here(), keymap.PlaceMoving, keymap.PlacePlan} {
		for i := range m.groups {
			for j := range m.groups[i].Actions {
				if a := &m.groups[i].Actions[j]; m.groups[i].Place == at && a.ID == id {
					return m.do(a)
				}
			}
		}
	}
	return nil
}

// here returns the place whose keys are active.
func (m *Model) here() keymap.Place {
	if m.ask.Showing() {
		if _, gate := m.ask.Current().(ask.OpenGate); gate {
			return keymap.PlaceGate
		}
		return keymap.PlaceQuestion
	}
	switch m.focus {
	case panePlan:
		return keymap.PlacePlan
	case paneStep:
		return keymap.PlaceStep
	default:
		return keymap.PlaceChat
	}
}
