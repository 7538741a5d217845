package tui

import (
	"fmt"
	"slices"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/english"
)

// retelling is a run whose events are told again so that it can be folded.
type retelling struct {
	run  string
	upto uint64
}

// retell begins to fold a run anew. Nothing of what is told again is written
// into the chat, and nothing of it asks the user.
func (m *Model) retell(d session.Resuming) {
	m.retold = &retelling{run: d.Run, upto: d.Upto}
	m.preparing = true
	m.reopened = nil
}

// retells reports whether an event has happened before, and ends the telling
// with the first one that has not.
func (m *Model) retells(e event.Event) bool {
	if m.retold == nil || e.Run != m.retold.run {
		return false
	}
	if _, ok := e.Data.(event.ChatReply); ok || e.Seq > m.retold.upto {
		m.retold, m.preparing = nil, false
		return false
	}
	return true
}

// foldAgain folds an event that has happened before.
func (m *Model) foldAgain(e event.Event) {
	d, starts := e.Data.(event.RunStarted)
	switch {
	case starts:
		m.show(e, d)
		m.preparing = true // until what is new is heard
	case m.run == nil || m.run.ID != e.Run:
	default:
		m.keep(e)
		if err := m.run.Apply(e); err != nil && !e.Data.Kind().Passing() {
			m.chat.Add(m.chat.Note("error", "The screen may be behind: "+err.Error()))
		}
		m.dag.Heard(m.run, e.Data)
	}
}

// keep keeps an event of the run, so that it can be folded again. What streams
// in is kept in a replay alone, which has it in memory anyway.
func (m *Model) keep(e event.Event) {
	if m.options.Replay || !e.Data.Kind().Passing() {
		m.folded = append(m.folded, e)
	}
}

// goesOn writes into the chat that a run is taken up again, and what it is for
// where the chat has not told of it yet.
func (m *Model) goesOn() {
	r := m.run
	m.stopping, m.ended, m.preparing, m.closing, m.reopened = false, false, false, false, nil
	clear(m.asked)
	m.resumes++
	m.ask.Forget(r.ID)
	words := fmt.Sprintf("resumed: %d of %s done", r.Done(), english.Count(len(r.Plan.Steps), "step"))
	switch {
	case r.Answering():
		words = "resumed: the answer is asked for again"
	case r.Chat != nil, r.Synthesis.Direct:
		words = "resumed: the conversation goes on"
	case r.Revision == 0:
		words = "resumed: planning goes on"
	}
	m.chat.Settle()
	goal := ""
	if m.told != r.ID {
		goal = r.Goal
	}
	if !m.inner() {
		m.told = r.ID
	}
	m.chat.Add(m.chat.Resumed(words, goal))
	m.cards = 0
	switch {
	case goal == "" && r.Chat != nil:
		// The chat has told of its planning, and of the calls that have ended.
		for m.cards < len(r.Chat.Calls) && r.Chat.Calls[m.cards].Status.Ended() {
			m.cards++
		}
	case r.Revision == 0:
		m.chat.Add(m.chat.Phases(r))
	}
	m.tellCalls()
}

// wake takes up a run that has ended on the screen without being told again, as
// in a replay. Its events are folded into another run: what the chat has drawn
// keeps the state it was drawn from.
func (m *Model) wake() {
	again := agent.NewRun(m.options.Planners)
	for _, e := range m.folded {
		_ = again.Apply(e) // as it did before
	}
	m.run = again
	// What it had been asked for by stays; what it had asked for is over.
	m.stages = m.stages[:slices.Index(m.stages, m.stage)+1]
	if m.shown != m.stage {
		m.watch(m.stage)
	}
	m.dag.Run = m.run
}
