package tui

import (
	"slices"

	"replan/tui/answerguard"
	"replan/tui/chat"
	"replan/tui/frame"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/panes"
)

// footer is the last line of the screen: a message about the last key, else the keys that
// are active now. It only reads.
type footer struct {
	keys     *keymap.Map
	frame    *frame.Frame
	focus    *keyFocus
	message  *frame.Message
	live     *live.Runs
	playback *playback
	waiting  *waiting
	ask      asking
	input    interface {
		Hints() []keymap.Hint
		QueueHints() []keymap.Hint
		Listing() bool
		Empty() bool
		AsksSide() bool
	}
	chat interface {
		OrderHints(k *keymap.Map) []keymap.Hint
		SideQuestions() *chat.SideCards
	}
	plan interface {
		Hints(acts, undoable bool) []keymap.Hint
	}
	dialogs interface {
		front() overlay
		undoable() bool
	}
}

// guarded is a dialog with a guard against keys that were not meant for it.
type guarded interface{ Guard() *answerguard.Guard }

// asking is the dialog of gates and questions.
type asking interface {
	guarded
	Hints() []keymap.Hint
	Showing() bool
	Editing() bool
}

// contents returns the contents of the line.
func (f *footer) contents() frame.Footer {
	message := f.message.Text
	switch over := f.dialogs.front(); {
	case message != "":
	case over != nil:
		if g := guardOf(over); g != nil {
			message = g.Message()
		}
	case f.ask.Showing():
		message = f.ask.Guard().Message()
	}
	return frame.Footer{Quitting: f.focus.quitting(), Message: message, Hints: f.hints()}
}

// action returns the action whose key stands in a column of the line, "" for none.
func (f *footer) action(x, width int) string {
	id, _ := f.frame.FooterAction(f.contents(), x, width)
	return id
}

// draw draws the line.
func (f *footer) draw(width int) string { return f.frame.Footer(f.contents(), width) }

// hints returns the keys available now, the most useful first.
func (f *footer) hints() []keymap.Hint {
	over := f.dialogs.front()
	switch {
	case over != nil:
		return armed(over.Actions().Offered(over.Hints()), guardOf(over))
	case f.focus.searching():
		return chat.SearchHints(f.keys)
	case f.ask.Showing():
		hints := f.ask.Hints()
		if f.live.Current().State != nil && f.live.Can.NoSideQuestions == "" && !f.ask.Editing() {
			hints = append(hints, f.keys.Hint("ask about it", "run.ask"))
		}
		return armed(hints, f.ask.Guard())
	case f.input.Listing():
		return f.input.Hints()
	}
	run := f.live.Current().State
	k := frame.Keys{
		Focus: f.focus.focused(), Waiting: f.waiting.asked(), Reviewing: f.waiting.reviewing(), Typed: !f.input.Empty(), Active: f.live.Active() != "",
		Busy: f.live.Busy(), Resumable: run != nil && run.Resumable() && f.live.Can.NoResume == "", Mapped: f.focus.onMap(),
		Side: f.chat.SideQuestions().Asked() || f.input.AsksSide(),
	}
	switch f.focus.focused() {
	case panes.Chat:
		k.Input, k.Queue = append(f.chat.OrderHints(f.keys), f.input.Hints()...), f.input.QueueHints()
	case panes.Plan:
		k.Plan = f.plan.Hints(!f.live.Recorded, f.dialogs.undoable())
	}
	k.Played = f.playback.state()
	return f.frame.Hints(k)
}

// guardOf returns the guard of a dialog against keys that were not meant for it, nil for
// none.
func guardOf(d overlay) *answerguard.Guard {
	if d, ok := d.(guarded); ok {
		return d.Guard()
	}
	return nil
}

// armed marks the hint of the action whose answer waits at a guard; nil guards nothing.
func armed(hints []keymap.Hint, g *answerguard.Guard) []keymap.Hint {
	for i := range hints {
		hints[i].Armed = g != nil && slices.Contains(hints[i].IDs, g.Waiting())
	}
	return hints
}
