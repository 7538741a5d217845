package tui

import (
	tea "charm.land/bubbletea/v2"
)

// newGroups is every action there is, each with its handler.
func (m *Model) newGroups() []group {
	byPlace := map[place]handlers{
		placeEverywhere: m.everywhereActions().with(m.aroundActions(), m.conversationActions()),
		placeChat:       m.chatActions(),
		placePlan:       m.planActions().with(m.graphActions(), m.inspectActions()),
		placeStep:       m.stepActions().with(m.inspectActions()),
		placeMoving:     m.movingActions(),
		placeGate:       m.gateActions(),
		placeQuestion:   m.questionActions(),
		placeReview:     m.reviewActions(),
		placeReplay:     m.replayActions(),
	}
	groups := m.keys.actions()
	for _, g := range groups {
		for i := range g.actions {
			a := &g.actions[i]
			h, ok := byPlace[g.place][a.id]
			if !ok {
				h = m.inDialog(a.id)
			}
			a.handler = h
		}
	}
	return groups
}

// find is the action that a key means in a place, nil where it means none.
func (m *Model) find(k tea.KeyPressMsg, at place) *action {
	for i := range m.groups {
		if m.groups[i].place != at {
			continue
		}
		for j := range m.groups[i].actions {
			a := &m.groups[i].actions[j]
			if matches(k, *a.key) && (a.when == nil || a.when()) {
				return a
			}
		}
	}
	return nil
}

// do does an action, or says why not.
func (m *Model) do(a *action) tea.Cmd {
	if why := a.refusal(); why != "" {
		m.say(why)
		return nil
	}
	return m.carryOut(a.do())
}

// doFor does an action of a place that was chosen elsewhere than there, so that
// its pane has to take the focus first.
func (m *Model) doFor(a *action, at place) tea.Cmd {
	if why := a.refusal(); why != "" {
		m.say(why)
		return nil
	}
	switch at {
	case placeChat:
		m.focus = paneChat
	case placePlan:
		m.focus = panePlan
	case placeStep:
		m.focus = paneStep
	}
	return m.carryOut(a.do())
}

// mode is the actions that go before those of the panes while something has the
// keys: a question, a dialog, a search. It is nil where nothing has.
func (m *Model) mode() handlers {
	switch over := m.over(); {
	case m.quitting:
		return handlers{
			"quit.yes": {do: command(func() tea.Cmd { return tea.Quit })},
			"quit.no":  {do: just(func() { m.quitting = false })},
		}
	case over != nil:
		return over.handlers()
	case m.ask.showing():
		return m.ask.handlers()
	case m.searching():
		return m.chat.searchHandlers()
	case m.filters():
		return m.dag.filterHandlers().then(m.refresh)
	case m.recalls():
		return m.recallHandlers()
	case m.completes():
		return m.completeHandlers()
	default:
		return nil
	}
}

// doHere does an action as its key would where the user is now.
func (m *Model) doHere(id string) tea.Cmd {
	m.forget(id)
	m.unselect()
	over := m.over()
	if _, ok := m.mode()[id]; ok {
		switch {
		case m.quitting:
		case over != nil:
			m.nextKey(over)
			return m.actOver(over, id)
		case m.ask.showing():
			return m.actInAsk(func() wanted { return m.ask.act(id) })
		}
		w, why := m.mode().act(id)
		if why != "" {
			m.say(why)
		}
		return m.carryOut(w)
	}
	if m.quitting || over != nil {
		return nil
	}
	for _, at := range []place{placeReplay, placeEverywhere, m.here(), placeMoving, placePlan} {
		for i := range m.groups {
			for j := range m.groups[i].actions {
				if a := &m.groups[i].actions[j]; m.groups[i].place == at && a.id == id {
					return m.do(a)
				}
			}
		}
	}
	return nil
}

// here is the place whose keys act now.
func (m *Model) here() place {
	if m.ask.showing() {
		if _, gate := m.ask.current().(openGate); gate {
			return placeGate
		}
		return placeQuestion
	}
	switch m.focus {
	case panePlan:
		return placePlan
	case paneStep:
		return placeStep
	default:
		return placeChat
	}
}
