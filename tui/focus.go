package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/tui/answerguard"
	"replan/tui/ask"
	"replan/tui/chat"
	"replan/tui/dag"
	"replan/tui/input"
	"replan/tui/keymap"
	"replan/tui/panes"
	"replan/tui/step"
)

// keyFocus knows what has the keys. It may be the question whether to quit, a dialog, an
// open gate or question, the search of the chat, or a pane.
type keyFocus struct {
	panes    *panes.Arrangement
	dialogs  *dialogs
	ask      *ask.Dialog
	chat     *chat.Pane
	input    *input.Pane
	dag      *dag.Pane
	detail   *step.Pane
	playback *playback

	asking bool // whether to quit
}

// askToQuit asks whether to quit. The question takes the keys.
func (f *keyFocus) askToQuit() { f.asking = true }

// quitting reports whether that question has the keys.
func (f *keyFocus) quitting() bool { return f.asking }

// inInput reports whether letters are text for the input, unless something covers it.
func (f *keyFocus) inInput() bool { return f.inChat() && f.input.TakesText() }

// focused returns the pane with the focus.
func (f *keyFocus) focused() panes.Pane { return f.panes.Focus() }

// inChat reports whether the chat with the input has the focus.
func (f *keyFocus) inChat() bool { return f.panes.Focus() == panes.Chat }

// onMap reports whether the focused graph fills the screen.
func (f *keyFocus) onMap() bool { return f.dag.Mapped() && f.panes.Focus() == panes.Plan }

// back returns from the map to the pane, from the step to the plan, and to the chat.
func (f *keyFocus) back() {
	switch {
	case f.onMap():
		f.dag.TurnMap()
	case f.panes.Focus() == panes.Step:
		f.panes.SetFocus(panes.Plan) // the step was opened from it
	default:
		f.panes.SetFocus(panes.Chat)
	}
}

// mode returns what has the keys before the actions of the screen: a question, a
// dialog, or the mode of the focused pane.
func (f *keyFocus) mode() keymap.Mode {
	switch over := f.dialogs.front(); {
	case f.asking:
		return f.question()
	case over != nil:
		return keymap.Mode{Actions: over.Actions(), Type: over.Update}
	case f.ask.Showing():
		return keymap.Mode{Actions: f.ask.Actions(), Type: f.ask.Update}
	case f.panes.Focus() == panes.Plan:
		return f.dag.Mode()
	case f.searching():
		return f.chat.Mode()
	default:
		return f.input.Mode()
	}
}

// quitActions are the answers to the question whether to quit.
func quitActions() keymap.Table[*keyFocus] {
	return keymap.Table[*keyFocus]{
		{ID: "quit.yes", Keys: "y ctrl+c", Does: "yes", Do: keymap.Runs(func(*keyFocus) tea.Cmd { return tea.Quit })},
		{ID: "quit.no", Keys: "n esc", Does: "no", Do: keymap.Calls((*keyFocus).stay)},
	}
}

// question returns the mode of the question whether to quit.
func (f *keyFocus) question() keymap.Mode {
	return keymap.Mode{Actions: quitActions().For(f), Type: func(tea.Msg) keymap.Requests { return nil }}
}

// stay takes the question whether to quit back.
func (f *keyFocus) stay() { f.asking = false }

// scene returns what has the keys now.
func (f *keyFocus) scene() answerguard.Scene {
	over := f.dialogs.front()
	s := answerguard.Scene{Covered: over != nil, Small: f.panes.Layout().Small, TakesText: f.inInput(), InputEmpty: f.input.Empty()}
	switch {
	case f.asking:
	case over != nil:
		s.Guard = f.dialogs.guard()
	case f.ask.Showing() && !f.ask.Editing():
		s.Guard = f.ask.Guard()
	}
	return s
}

// opensOver reports whether a key opens a dialog over what has the keys now.
func (f *keyFocus) opensOver(id string, k tea.KeyPressMsg) bool {
	switch {
	case f.dialogs.front() != nil:
		return f.dialogs.opensOver(id, k)
	case f.ask.Showing():
		return f.ask.OpensOver(id, k)
	default:
		return f.searching() && k.Text == ""
	}
}

// here returns the place whose keys are active.
func (f *keyFocus) here() keymap.Place {
	if f.ask.Showing() {
		if f.ask.AtGate() {
			return keymap.PlaceGate
		}
		return keymap.PlaceQuestion
	}
	return f.panes.Place()
}

// topic returns the place that help is about.
func (f *keyFocus) topic() keymap.Place {
	switch over := f.dialogs.front(); {
	case over != nil:
		return over.Place()
	case f.playback.on() && f.inChat():
		return keymap.PlaceReplay
	}
	return f.here()
}

// covered reports whether a dialog receives the keys.
func (f *keyFocus) covered() bool { return f.ask.Open() || f.dialogs.front() != nil }

// searching reports whether the search of the chat takes the keys, if no dialog has them.
func (f *keyFocus) searching() bool {
	return f.chat.Searching() && f.inChat() && !f.covered()
}

// pane returns the pane in a part of the screen.
func (f *keyFocus) pane(p panes.Pane) Pane {
	switch p {
	case panes.Plan:
		return f.dag
	case panes.Step:
		return f.detail
	default:
		return f.chat
	}
}
