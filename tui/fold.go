package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/ask"
	"replan/tui/chat"
	"replan/tui/dag"
	"replan/tui/keymap"
	"replan/tui/plain"
	"replan/tui/step"
	"replan/tui/telling"
)

// takeEvents applies a batch of events and updates the panes.
func (m *Model) takeEvents(b eventsMsg) tea.Cmd {
	before := m.going()
	for _, e := range b.events {
		m.clock.heard(e.Time, b.arrived)
		m.heard(e)
		m.take(e)
	}
	m.look.Now = m.clock.now()
	if b.closed {
		m.closed, m.preparing = true, false
	}
	faced := m.review.Shown()
	cmd := tea.Batch(m.ask.Set(m.asks()), m.review.Set(m.heldRun(), m.resumes), m.faced(faced))
	if m.servers.stale {
		m.servers.stale = false
		cmd = tea.Batch(cmd, m.outbox.ask(keymap.QueryServers))
	}
	m.refresh()
	return tea.Batch(cmd, m.attend(before), m.suggestAnew(), m.Animate())
}

// take applies one event to its run or to the state of the session.
func (m *Model) take(e event.Event) {
	if m.retells(e) {
		m.foldAgain(e)
		return
	}
	m.notices(e)
	if d, ok := e.Data.(event.RunStarted); ok {
		m.begin(e, d)
		return
	}
	if s := m.stageOf(e.Run); s != nil {
		m.stage = s
		m.chat.Inset = m.inner()
		m.takeRun(e)
		m.stage = m.front()
		m.chat.Inset = false
		return
	}
	switch d := e.Data.(type) {
	case session.Status:
		m.takeStatus(d)
	case session.UndoRefused:
		m.undo.Take(d.Undo)
	case event.ChatUndone:
		m.undone(d)
	case session.Returned:
		m.returned(d)
	case session.History:
		m.input.Restore(d)
	case session.Queue:
		m.heardNow = true
		if d.Doing != "" && m.going() == "" {
			m.preparing = true // even if sent before the session's first status
		}
		m.queued(d)
	case event.ChatCompacted:
		m.chat.Add(m.chat.Compacted(d))
	case session.Resuming:
		m.retell(d)
	case event.ChatUser:
		m.takeUser(d)
	case event.ChatReply:
		m.reply(d)
		m.introduce()
	case event.Note:
		m.tellNote(d)
	case event.GateRequested:
		m.sessionGates = append(m.sessionGates, ask.OpenGate{Run: e.Run, Ask: d, Session: true})
	case event.GateResolved:
		m.sessionGates = slices.DeleteFunc(m.sessionGates, func(g ask.OpenGate) bool { return g.Run == e.Run && g.Ask.Gate == d.Gate })
	}
}

// tellNote shows a note of the session in the chat.
func (m *Model) tellNote(d event.Note) {
	m.chosen = nil // the note says why the choice failed
	m.review.Refused(d.Text)
	m.chat.Add(m.chat.Note(d.Level, d.Text))
}

// takeStatus applies the session's status.
func (m *Model) takeStatus(d session.Status) {
	m.heardNow = true
	m.status, m.servers.looking = d, false
	m.servers.changed(d.Servers)
	m.chat.Problem, m.chat.Notes = untrusted.Line(d.Problem), untrusted.Line(d.Instructions)
	m.chat.Words = d.Planner.ByWords()
	m.tellChosen()
	if len(m.chat.Blocks) > 0 {
		m.introduce()
	}
}

// takeUser shows what the user sent.
func (m *Model) takeUser(d event.ChatUser) {
	// Repeated history of a continued session arrives before the first status
	// and starts nothing.
	if m.heardNow {
		m.preparing = m.going() == ""
	}
	m.sent = d.Text
	if m.going() == "" {
		m.chat.Settle()
	}
	m.introduce()
	m.chat.Add(m.chat.User(d.Text))
	if len(d.Mentions) > 0 {
		m.chat.Add(m.chat.Mentioned(d.Mentions))
	}
	m.input.Remember(d.Text)
}

// introduce adds to the chat what the welcome page shows: the project's notes,
// once, and why no run can start, unless a reply is about to say so.
func (m *Model) introduce() {
	if m.chat.Notes != "" && !m.introduced {
		m.introduced = true
		m.chat.Add(m.chat.Note("info", chat.NotesWords+m.chat.Notes))
	}
	if p := m.chat.Problem; p != m.troubled && (p == "" || m.slashed() || !m.preparing) {
		if m.troubled = p; p != "" {
			m.chat.Add(m.chat.Note("warn", p))
		}
	}
}

// slashed reports whether the last text sent is a command to the session.
func (m *Model) slashed() bool { return strings.HasPrefix(m.sent, "/") }

// answered records that the session finished a request.
func (m *Model) answered() {
	m.preparing = false
	if m.going() == "" {
		m.stopping = false
	}
}

// begin shows a started run and announces it in the chat.
func (m *Model) begin(e event.Event, d event.RunStarted) {
	if !m.show(e, d) {
		return
	}
	if len(m.chat.Blocks) == 0 && d.Plan == nil {
		// A run not typed here, as in a replay, states its own goal.
		m.chat.Add(m.chat.User(d.Goal))
		if len(d.Prompting.Mentions) > 0 {
			m.chat.Add(m.chat.Mentioned(d.Prompting.Mentions))
		}
	}
	if !m.inner() {
		m.told = e.Run
	}
	m.chat.Inset = m.inner()
	m.chat.Started(m.run, d.Plan != nil)
	m.chat.Inset = false
}

// show puts a run on the screen at its first event. It reports whether it
// succeeded.
func (m *Model) show(e event.Event, d event.RunStarted) bool {
	run := agent.NewRun(m.options.Planners)
	if err := run.Apply(e); err != nil {
		m.chat.Add(m.chat.Note("error", "A run cannot be shown: "+err.Error()))
		return false
	}
	m.preparing = false
	if !m.input.TakesText() {
		quits := " " + m.look.Glyphs.Separator + " " + m.keys.Name("replay.quit") + " quits"
		m.input.Close("replay of "+untrusted.Line(run.ID)+quits, "replay of "+telling.ShortID(run.ID)+quits)
	}
	s := newStage(run)
	s.folded = []event.Event{e}
	s.dry, s.planOnly = d.DryRun, d.PlanOnly
	m.enter(s)
	return true
}

// takeRun applies an event to the current run and writes to the chat what a
// reader of the conversation wants to know.
func (m *Model) takeRun(e event.Event) {
	if reply, ok := e.Data.(event.ChatReply); ok {
		m.reply(reply)
		return
	}
	was := m.moment(e.Data)
	if _, again := e.Data.(event.RunResumed); again && m.run.Result != nil {
		m.wake()
	}
	m.keep(e)
	if err := m.run.Apply(e); err != nil {
		if !e.Data.Kind().Passing() {
			m.chat.Add(m.chat.Note("error", "The screen may be behind: "+err.Error()))
		}
		return
	}
	m.dag.Heard(m.run, e.Data)
	m.tellStep(e.Data, was)
	m.tellRun(e.Data, was)
}

// reply handles the session's reply to the user. A run's outcome has been shown
// already, except where its plan is stored.
func (m *Model) reply(d event.ChatReply) {
	if m.retold != nil {
		m.retold, m.ended = nil, true // the run could not be resumed
	}
	m.answered()
	if untrusted.Line(d.Text) == m.chat.Problem {
		m.troubled = m.chat.Problem
	}
	if s := m.stageOf(d.Run); s != nil {
		if s.run.Result == nil {
			s.ended = true
			m.chat.Settle()
			m.chat.Add(m.chat.Note("error", d.Text))
			return
		}
		closing := !s.closing
		s.closing = true
		if closing && !s.planOnly || d.Text == s.run.Result.Error {
			return
		}
	}
	switch {
	case d.Text == "":
	case d.Status == event.StatusFailed:
		m.chat.Add(m.chat.Note("error", d.Text))
	case d.Status == event.StatusCancelled:
		m.chat.Add(m.chat.Note("info", d.Text))
	default:
		answer := m.chat.Prose
		if m.slashed() {
			answer = m.chat.Listing
		}
		m.chat.Add(answer(d.Text)...)
		if d.Results != "" {
			m.chat.Add(m.chat.ResultsTold(d.Results))
		}
	}
}

// asks returns all that waits for the user: the session's gates, the runs'
// gates, and steps that only the user can decide about.
func (m *Model) asks() []ask.Asking {
	var out []ask.Asking
	for _, g := range m.sessionGates {
		out = append(out, g)
	}
	switch {
	case m.retold != nil || m.run == nil || m.options.Replay:
	case m.running():
		for _, s := range m.stages {
			if !s.goes() {
				continue
			}
			allowed := plain.Allowed(s.run)
			for _, g := range s.run.Gates {
				out = append(out, ask.OpenGate{
					Run: s.run.ID, Ask: g.GateRequested, Tools: s.run.Catalogue, Fits: s.run.EditCheck(g.Gate), Allowed: allowed,
				})
			}
			out = append(out, m.openQuestions(s.run)...)
		}
	case m.reopened != nil:
		out = append(out, *m.reopened)
	}
	return out
}

// refresh updates the panes after events.
func (m *Model) refresh() {
	m.chat.Touch()
	m.dag.Asked = m.askedStep()
	m.dag.Touch()
	m.detail.Show(m.shown.run, subjectOf(m.dag.Chosen()))
	m.detail.Touch()
}

// askedStep returns the step of the first question to the user, "" for none. In
// a replay, which asks nobody, it is the step of the recorded question.
func (m *Model) askedStep() string {
	r := m.shown.run
	if m.options.Replay && r != nil {
		for _, q := range r.Questions() {
			return q.Step
		}
	}
	if r == nil {
		return ""
	}
	return m.ask.StepOf(r.ID)
}

// subjectOf returns the subject of the step pane for a row of the plan, nil for
// none.
func subjectOf(r *dag.Row) *step.Subject {
	if r == nil {
		return nil
	}
	s := &step.Subject{Key: r.Key, Step: r.Step, Revision: r.Revision}
	switch r.Kind {
	case dag.RowStep:
		s.Kind = step.SubjectStep
	case dag.RowGone:
		s.Kind = step.SubjectGone
	case dag.RowRevision:
		s.Kind = step.SubjectRevision
	case dag.RowCalls, dag.RowCall:
		s.Kind = step.SubjectCall
	case dag.RowRoll:
		g := r.Roll
		s.Kind = step.SubjectGroup
		s.Group = &step.Group{Label: g.Label, First: g.First, Last: g.Last, Open: g.Open, Steps: g.Steps, Counts: g.Counts, Class: g.Class}
	}
	return s
}
