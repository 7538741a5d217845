package tui

import (
	tea "charm.land/bubbletea/v2"
)

// actionGroups is every action there is.
func (m *Model) actionGroups() []group {
	return []group{
		{placeEverywhere, "Everywhere", m.everywhereActions()},
		{placeChat, "Chat", m.chatActions()},
		{placeEverywhere, "Conversation", m.conversationActions()},
		{placeWriting, "Writing", m.writingActions()},
		{placePlan, "Plan", m.planActions()},
		{placeStep, "Step", m.stepActions()},
		{placeMoving, "Moving", m.movingActions()},
		{placeGate, "Gate", m.gateActions()},
		{placeQuestion, "Question", m.questionActions()},
		{placeReview, "Review of a plan", m.reviewActions()},
		{placeDialog, "Dialogs", append(m.keys.dialogKeys(), m.keys.aroundKeys.dialogKeys()...)},
		{placeReplay, "Replay", m.replayActions()},
		{placeQuit, "Quitting", []action{
			{id: "quit.yes", key: &m.keys.Yes},
			{id: "quit.no", key: &m.keys.No},
		}},
	}
}

// find is the action that a key means in a place, nil where it means none.
func (m *Model) find(k tea.KeyPressMsg, at place) *action {
	for i := range m.groups {
		if m.groups[i].place != at {
			continue
		}
		for j := range m.groups[i].actions {
			a := &m.groups[i].actions[j]
			if a.do != nil && matches(k, *a.key) && (a.when == nil || a.when()) {
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
	return a.do()
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
	return a.do()
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
