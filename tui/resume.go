package tui

import (
	"fmt"
	"slices"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/english"
)

// retelling is a run whose past events the session repeats so that the screen
// can apply them.
type retelling struct {
	run  string
	upto uint64
}

// retell starts to apply a run's past events. They add nothing to the chat and
// open no questions.
func (m *Model) retell(d session.Resuming) {
	m.retold = &retelling{run: d.Run, upto: d.Upto}
	m.preparing = true
	m.reopened = nil
}

// retells reports whether an event repeats a past one. The first new event ends
// the retelling.
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

// foldAgain applies a repeated event.
func (m *Model) foldAgain(e event.Event) {
	d, starts := e.Data.(event.RunStarted)
	switch {
	case starts:
		m.show(e, d)
		m.preparing = true // until a new event arrives
	case m.run == nil || m.run.ID != e.Run:
	default:
		m.keep(e)
		if err := m.run.Apply(e); err != nil && !e.Data.Kind().Passing() {
			m.chat.Add(m.chat.Note("error", "The screen may be behind: "+err.Error()))
		}
		m.dag.Heard(m.run, e.Data)
	}
}

// keep stores an event of the run so that it can be applied again. It stores
// streamed events only in a replay, which holds them in memory anyway.
func (m *Model) keep(e event.Event) {
	if m.options.Replay || !e.Data.Kind().Passing() {
		m.folded = append(m.folded, e)
	}
}

// goesOn writes to the chat that a run was resumed, with its goal if the chat
// has not shown it yet.
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
		// The chat has shown its planning and the ended calls.
		for m.cards < len(r.Chat.Calls) && r.Chat.Calls[m.cards].Status.Ended() {
			m.cards++
		}
	case r.Revision == 0:
		m.chat.Add(m.chat.Phases(r))
	}
	m.tellCalls()
}

// wake resumes an ended run on the screen without a retelling, as in a replay.
// It applies the stored events to a new run: the chat keeps the state it was
// drawn from.
func (m *Model) wake() {
	again := agent.NewRun(m.options.Planners)
	for _, e := range m.folded {
		_ = again.Apply(e) // any error was handled the first time
	}
	m.run = again
	// Keep the runs around it; drop those that it started.
	m.stages = m.stages[:slices.Index(m.stages, m.stage)+1]
	if m.shown != m.stage {
		m.watch(m.stage)
	}
	m.dag.Run = m.run
}
