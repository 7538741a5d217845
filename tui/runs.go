package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/tui/ask"
	"replan/tui/chat"
	"replan/tui/dag"
	"replan/tui/input"
	"replan/tui/live"
)

// runFeed applies the events of runs to the runs on the screen, and tells the
// panes that show them.
type runFeed struct {
	live    *live.Runs
	pending *ask.Pending
	ask     *ask.Dialog
	chat    *chat.Pane
	dag     *dag.Pane
	input   *input.Pane
}

// handle applies an event of a run. It reports false for an event of the session.
func (f *runFeed) handle(e event.Event) bool {
	if d, ok := e.Data.(event.RunStarted); ok {
		if f.start(e) {
			f.chat.Narrator(e.Run).Start(d)
		}
		return true
	}
	r := f.live.Find(e.Run)
	if r == nil {
		return false
	}
	if reply, ok := e.Data.(event.ChatReply); ok {
		f.reply(reply)
	} else {
		f.apply(r, e)
	}
	return true
}

// start puts a run on the screen at its first event. It reports whether it
// succeeded.
func (f *runFeed) start(e event.Event) bool {
	r, err := f.live.Start(e)
	if err != nil {
		f.chat.Add(f.chat.Note("error", "A run cannot be shown: "+err.Error()))
		return false
	}
	if !r.Nested {
		f.pending.Withdraw()
	}
	f.dag.Show(r.State)
	f.chat.Narrate(r.State, r.Nested)
	return true
}

// apply applies an event to its run and has the chat tell it.
func (f *runFeed) apply(r *live.Run, e event.Event) {
	narrator := f.chat.Narrator(e.Run)
	before := narrator.Before(e.Data)
	if _, resumed := e.Data.(event.RunResumed); resumed && r.State.Result != nil {
		f.restart(r)
		narrator.Follow(r.State)
	}
	if err := f.live.Apply(r, e); err != nil {
		if !e.Data.Kind().Passing() {
			narrator.ApplyFailed(err)
		}
		return
	}
	f.dag.ApplyEvent(r.State, e.Data)
	switch d := e.Data.(type) {
	case event.RunResumed:
		f.pending.Withdraw()
		f.ask.Forget(e.Run)
	case event.RunSteered:
		f.input.Remember(string(d.Text))
	}
	narrator.Narrate(e.Data, before)
}

// restart prepares an ended run on the screen for being resumed without its past
// events, as in a replay.
func (f *runFeed) restart(r *live.Run) {
	shown := f.live.Shown() == r
	f.live.Restart(r)
	if !shown {
		f.dag.Show(r.State)
	}
	f.dag.Continue(r.State)
}

// announce prepares for the past events of a run that the session resumes.
func (f *runFeed) announce(d session.Resuming) {
	f.live.Repeat(d)
	f.pending.Withdraw()
}

// repeat applies a past event of a run that the session resumes. It adds nothing
// to the chat and asks nothing.
func (f *runFeed) repeat(e event.Event) {
	if _, ok := e.Data.(event.RunStarted); ok {
		f.start(e)
		f.live.Await(true) // until a new event arrives
		return
	}
	r, err := f.live.ApplyRepeated(e)
	if r == nil {
		return
	}
	if err != nil && !e.Data.Kind().Passing() {
		f.chat.Narrator(e.Run).ApplyFailed(err)
	}
	f.dag.ApplyEvent(r.State, e.Data)
}

// gate takes a question that the session itself asks, or its answer.
func (f *runFeed) gate(e event.Event) {
	switch d := e.Data.(type) {
	case event.GateRequested:
		f.pending.Open(e.Run, d)
	case event.GateResolved:
		f.pending.Resolve(e.Run, d.Gate)
	}
}

// reply handles the session's reply to the user, which may be about a run.
func (f *runFeed) reply(d event.ChatReply) {
	f.live.GiveUp()
	f.live.Finish()
	if r := f.live.Find(d.Run); r != nil && r.State.Result == nil {
		r.Abandon()
	}
	f.input.Suggest()
	f.chat.Reply(d)
}

// drawnMsg tells that the first frame is out.
type drawnMsg struct{}

// pastRunsMsg carries the runs that the screen's greeting may tell about.
type pastRunsMsg []agent.Summary

// pastRuns requests the runs for the greeting, which does without them on errors.
func pastRuns(ctx context.Context, s session.Queries) tea.Msg {
	runs, _ := s.Runs(ctx)
	return pastRunsMsg(runs)
}
