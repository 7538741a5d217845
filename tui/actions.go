package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// action is one thing that the user can have the screen do, by a key or from the
// palette. Help, palette and the keys of the configuration are made from the
// tables of actions, so that none of them can know another set.
type action struct {
	id     string         // "plan.follow", as the configuration names it
	key    *key.Binding   // in the key map, with what it does in words
	when   func() bool    // whether the key is meant for it now, else it is another's or text; nil: always
	refuse func() string  // why it cannot be done now, "" where it can; nil: it always can
	do     func() tea.Cmd // nil for a key that a dialog takes by itself
	opens  bool           // opens a dialog, over an open gate too
}

// place is where the keys of a group of actions act.
type place int

// The places there are, in the order of help.
const (
	placeEverywhere place = iota
	placeChat
	placeWriting // the list over the input
	placePlan
	placeStep
	placeMoving // in plan, step and dialogs
	placeGate
	placeQuestion
	placeReview
	placeDialog
	placeQuit    // the question whether to quit
	placeCommand // a command of the chat, which has no key
	placeReplay  // while a run is played again
)

// group is the actions of one place.
type group struct {
	place   place
	title   string
	actions []action
}

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

// refusal is why an action cannot be done now, "" where it can.
func (a *action) refusal() string {
	if a.refuse == nil {
		return ""
	}
	return a.refuse()
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

// unless refuses while something does not hold.
func unless(holds func() bool, why string) func() string {
	return func() string {
		if holds() {
			return ""
		}
		return why
	}
}

// just is an action that leaves nothing to do afterwards.
func just(f func()) func() tea.Cmd {
	return func() tea.Cmd {
		f()
		return nil
	}
}
