package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/prompt"
	"replan/tui/chat"
	"replan/tui/draw"
	"replan/tui/frame"
	"replan/tui/keymap"
	"replan/tui/panes"
)

// frameState returns what the frame around the panes shows.
func (m *Model) frameState() frame.State {
	run := m.live.Current()
	s := frame.State{
		Past: m.past, Session: m.status, Pull: m.pull, Reported: m.caughtUp, Looking: m.servers.looking, Closed: m.closed,
		Run: run.State, Active: run.Active(), Preparing: m.live.Preparing, Stopping: m.live.Stopping,
		Waiting: m.ask.WaitsFor(), Reviewing: m.review.Waits(),
	}
	if s.Preparing {
		s.Preparation = m.input.Preparing(m.chat.CommandSent())
		if holdsGoals(m) {
			s.Preparation = "waiting for your answer (" + m.keys.Name("gate") + ")"
		}
	}
	if !s.Active {
		return s
	}
	for _, r := range m.live.All() {
		s.Runs = append(s.Runs, r.State)
	}
	s.AskedStep = m.ask.StepOf(run.State.ID) // also while the dialog is hidden
	_, _, s.Requests.Tools = run.Requested(prompt.PurposeTools)
	_, _, s.Requests.Repair = run.Requested(prompt.PurposeRepair)
	s.Requests.ArgumentsOf, _, s.Requests.Arguments = run.Requested(prompt.PurposeStep)
	if run.State.Synthesis.Started {
		_, s.Requests.AnswerSince, s.Requests.Answer = run.Requested(prompt.PurposeSynthesis)
		if !s.Requests.Answer {
			_, s.Requests.AnswerSince, s.Requests.Answer = run.Requested(prompt.PurposeChat)
		}
		narrator := m.chat.Narrator(run.State.ID)
		s.Requests.Writing, s.Requests.CallsShown = narrator.Writing(), narrator.Cards() > 0
	}
	return s
}

// tabs returns the tabs of a narrow screen.
func (m *Model) tabs() frame.Tabs {
	return frame.Tabs{Plan: m.dag.Title(), Step: m.dag.ChosenTitle(), Focus: m.panes.Focus()}
}

// tabBody draws the visible tab.
func (m *Model) tabBody() []string {
	switch m.panes.Focus() {
	case panes.Plan:
		return m.dag.View()
	case panes.Step:
		return draw.Padded(m.detail.View())
	}
	out := m.input.ListOver(draw.Padded(m.chat.View()), m.panes.Layout().Width)
	if m.panes.Layout().Input.H > 0 {
		l, bar := m.look, m.look.Glyphs.Rule
		title, note := m.chat.EdgeLabels()
		out = append(out, l.Edge(bar, bar, bar, title, note, m.panes.Layout().Width, l.Border))
		out = append(out, draw.Padded(m.input.View(m.panes.Layout().Input))...)
	}
	return out
}

// footer returns the contents of the last line.
func (m *Model) footer() frame.Footer {
	message := m.message.Text
	switch over := m.dialogs.front(); {
	case message != "":
	case over == m.review:
		message = m.review.Guard().Message()
	case over == nil && m.ask.Showing():
		message = m.ask.Guard().Message()
	}
	return frame.Footer{Quitting: m.quitting, Message: message, Hints: m.hints()}
}

// hints returns the keys available now, the most useful first.
func (m *Model) hints() []keymap.Hint {
	over := m.dialogs.front()
	switch {
	case over != nil:
		return armed(over.Actions().Offered(over.Hints()), m.review.Guard().Waiting())
	case m.searching():
		return chat.SearchHints(m.keys)
	case m.ask.Showing():
		return armed(m.ask.Hints(), m.ask.Guard().Waiting())
	case m.input.Listing():
		return m.input.Hints()
	}
	run := m.live.Current().State
	k := frame.Keys{
		Focus: m.panes.Focus(), Waiting: m.ask.WaitsFor(), Reviewing: m.review.Waits(), Typed: !m.input.Empty(), Active: m.live.Active() != "",
		Busy: m.live.Busy(), Resumable: run != nil && run.Resumable() && !m.options.Elsewhere, Mapped: m.mapping(),
	}
	switch m.panes.Focus() {
	case panes.Chat:
		k.Input, k.Queue = m.input.Hints(), m.input.QueueHints()
	case panes.Plan:
		k.Plan = m.dag.Hints(!m.live.Recorded, m.dialogs.undoable())
	}
	if p := m.control; p != nil {
		k.Played = &frame.Played{Paused: p.Paused, Over: p.Paused && p.At == len(p.Events)}
	}
	return m.frame.Hints(k)
}

// armed marks the hint of an action that acts in a moment.
func armed(hints []keymap.Hint, id string) []keymap.Hint {
	for i := range hints {
		hints[i].Armed = slices.Contains(hints[i].IDs, id)
	}
	return hints
}

// spins reports whether the screen needs animation.
func (m *Model) spins() bool {
	growing := m.dialogs.timeline.Shown() && !m.closed && m.live.Shown().Active()
	return !m.frozen && (m.live.Preparing || growing || m.live.Animated())
}

// lookAgain asks the session to look again for a model and its servers.
func (m *Model) lookAgain() tea.Cmd {
	m.servers.looking = true
	m.message.SetUntilEvent("Looking for the model and the servers again" + m.look.Glyphs.Ellipsis)
	m.chat.Invalidate()
	return m.outbox.send(session.Recheck{})
}

// alert alerts the user to what a batch of events brought: new questions, or
// the end of the run with id before, which was under way until then.
func (m *Model) alert(before string) tea.Cmd {
	if m.pending.Muted || m.live.Repeating() {
		return nil
	}
	now := m.options.Now()
	if fresh := m.ask.TakeFresh(); len(fresh) > 0 {
		step, subject, _ := fresh[0].Brief()
		text := strings.TrimSpace(fresh[0].Name() + " " + subject + " " + step)
		if n := len(fresh); n > 1 {
			text = fmt.Sprintf("%d questions wait: %s", n, text)
		}
		return m.notify.Ask(text, now)
	}
	if title, fresh := m.review.TakeFresh(); fresh {
		return m.notify.Ask("Review: "+title, now)
	}
	run := m.live.Current().State
	if before == "" || m.live.Active() == before || run == nil || run.ID != before {
		return nil
	}
	r := run.Result
	if r == nil || r.Status == event.StatusCancelled {
		return nil // the user cancelled it
	}
	return m.notify.Alert(fmt.Sprintf("%s: %s", r.Status, run.Goal.FirstLine()), now)
}
