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

// refusal is why an action cannot be done now, "" where it can.
func (a *action) refusal() string {
	if a.refuse == nil {
		return ""
	}
	return a.refuse()
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

// hint is a key and what it does now, "" for what it always does.
type hint struct {
	key  key.Binding
	does string
}

// shownAs is keys that are only shown.
func shownAs(keys string) key.Binding { return key.NewBinding(key.WithHelp(keys, "")) }

// matches is short for the keys of the map.
func matches(k tea.KeyPressMsg, b ...key.Binding) bool { return key.Matches(k, b...) }

// pressOf is a press of the first key of a binding.
func pressOf(b key.Binding) tea.KeyPressMsg {
	if keys := b.Keys(); len(keys) > 0 {
		return keyNamed(keys[0])
	}
	return tea.KeyPressMsg{}
}
