package tui

import (
	"slices"

	"replan/planning/prompt"
	"replan/tui/ask"
	"replan/tui/chat"
	"replan/tui/dag"
	"replan/tui/frame"
	"replan/tui/input"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/panes"
	"replan/tui/review"
)

// edges gathers what the lines around the panes show: the session and its runs in the
// header, messages and keys in the footer.
type edges struct {
	keys     *keymap.Map
	focus    *keyFocus
	panes    *panes.Arrangement
	dialogs  *dialogs
	frame    *frame.Frame
	message  *frame.Message
	live     *live.Runs
	session  *sessionFeed
	playback *playback
	exits    *exits

	chat   *chat.Pane
	input  *input.Pane
	dag    *dag.Pane
	ask    *ask.Dialog
	review *review.Dialog
}

// state returns what the frame around the panes shows.
func (e *edges) state() frame.State {
	run := e.live.Current()
	s := e.session.frameState()
	s.Run, s.Active, s.Preparing, s.Stopping = run.State, run.Active(), e.live.Preparing(), e.live.Stopping()
	s.Waiting, s.Reviewing = e.ask.WaitsFor(), e.review.Waits()
	if s.Preparing {
		s.Preparation = e.input.Preparing(e.chat.CommandSent())
		if e.session.holdsGoals() {
			s.Preparation = "waiting for your answer (" + e.keys.Name("gate") + ")"
		}
	}
	if !s.Active {
		return s
	}
	for _, r := range e.live.All() {
		s.Runs = append(s.Runs, r.State)
	}
	s.AskedStep = e.ask.StepOf(run.State.ID) // also while the dialog is hidden
	_, _, s.Requests.Tools = run.Requested(prompt.PurposeTools)
	_, _, s.Requests.Repair = run.Requested(prompt.PurposeRepair)
	s.Requests.ArgumentsOf, _, s.Requests.Arguments = run.Requested(prompt.PurposeStep)
	if run.State.Synthesis.Started {
		_, s.Requests.AnswerSince, s.Requests.Answer = run.Requested(prompt.PurposeSynthesis)
		if !s.Requests.Answer {
			_, s.Requests.AnswerSince, s.Requests.Answer = run.Requested(prompt.PurposeChat)
		}
		narrator := e.chat.Narrator(run.State.ID)
		s.Requests.Writing, s.Requests.CallsShown = narrator.Writing(), narrator.Cards() > 0
	}
	return s
}

// footer returns the contents of the last line.
func (e *edges) footer() frame.Footer {
	message := e.message.Text
	switch over := e.dialogs.front(); {
	case message != "":
	case over == e.review:
		message = e.review.Guard().Message()
	case over == nil && e.ask.Showing():
		message = e.ask.Guard().Message()
	}
	return frame.Footer{Quitting: e.focus.quitting(), Message: message, Hints: e.hints()}
}

// hints returns the keys available now, the most useful first.
func (e *edges) hints() []keymap.Hint {
	over := e.dialogs.front()
	switch {
	case over != nil:
		return armed(over.Actions().Offered(over.Hints()), e.review.Guard().Waiting())
	case e.focus.searching():
		return chat.SearchHints(e.keys)
	case e.ask.Showing():
		return armed(e.ask.Hints(), e.ask.Guard().Waiting())
	case e.input.Listing():
		return e.input.Hints()
	}
	run := e.live.Current().State
	k := frame.Keys{
		Focus: e.panes.Focus(), Waiting: e.ask.WaitsFor(), Reviewing: e.review.Waits(), Typed: !e.input.Empty(), Active: e.live.Active() != "",
		Busy: e.live.Busy(), Resumable: run != nil && run.Resumable() && e.live.Can.NoResume == "", Mapped: e.exits.mapping(),
	}
	switch e.panes.Focus() {
	case panes.Chat:
		k.Input, k.Queue = e.input.Hints(), e.input.QueueHints()
	case panes.Plan:
		k.Plan = e.dag.Hints(!e.live.Recorded, e.dialogs.undoable())
	}
	k.Played = e.playback.state()
	return e.frame.Hints(k)
}

// armed marks the hint of an action that acts in a moment.
func armed(hints []keymap.Hint, id string) []keymap.Hint {
	for i := range hints {
		hints[i].Armed = slices.Contains(hints[i].IDs, id)
	}
	return hints
}
