package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/planning"
	"replan/tui/untrusted"
)

// longAgo is how old an event is that no longer speaks of the present.
const longAgo = 10 * time.Second

// takeEvents folds a batch of events and brings the panes up to date.
func (m *Model) takeEvents(b eventsMsg) tea.Cmd {
	for _, e := range b.events {
		m.clock.heard(e.Time, b.arrived)
		m.heard(e)
		m.take(e)
	}
	m.look.now = m.clock.now()
	if b.closed {
		m.closed, m.preparing = true, false
	}
	cmd := m.ask.set(m.asks())
	m.refresh()
	return tea.Batch(cmd, m.animate())
}

// take folds one event: into its run, or into what is known of the session.
func (m *Model) take(e agent.Event) {
	if m.retells(e) {
		m.foldAgain(e)
		return
	}
	if d, ok := e.Data.(agent.RunStarted); ok {
		m.begin(e, d)
		return
	}
	if m.run != nil && e.Run == m.run.ID {
		m.takeRun(e)
		return
	}
	switch d := e.Data.(type) {
	case agent.SessionStatus:
		m.status = d
		m.chat.problem = untrusted.Line(d.Problem)
	case agent.SessionRuns:
		m.runs.take(d.Runs)
	case agent.SessionResuming:
		m.retell(d)
	case agent.ChatUser:
		// What was said long ago, in a session that is gone on with, starts nothing.
		m.preparing = m.going() == "" && m.clock.arrived.Sub(e.Time) < longAgo
		m.chat.settle()
		m.chat.add(m.chat.user(d.Text))
		m.slashed = strings.HasPrefix(d.Text, "/")
		m.input.remember(d.Text)
	case agent.ChatReply:
		m.reply(d)
	case agent.Note:
		m.chat.add(m.chat.note(d.Level, d.Text))
	case agent.GateRequested:
		m.sessionGates = append(m.sessionGates, openGate{run: e.Run, ask: d, session: true})
	case agent.GateResolved:
		kept := m.sessionGates[:0]
		for _, g := range m.sessionGates {
			if g.run != e.Run || g.ask.Gate != d.Gate {
				kept = append(kept, g)
			}
		}
		m.sessionGates = kept
	}
}

// begin shows a run that has started, and tells of it in the chat.
func (m *Model) begin(e agent.Event, d agent.RunStarted) {
	if !m.show(e, d) {
		return
	}
	if len(m.chat.blocks) == 0 && d.Plan == nil {
		// A run that nobody typed here, as in a replay, says itself what it is for.
		m.chat.add(m.chat.user(d.Goal))
	}
	m.told = e.Run
	m.chat.started(m.run, d.Plan != nil)
}

// show shows a run from its first event on, and reports whether it can.
func (m *Model) show(e agent.Event, d agent.RunStarted) bool {
	run := &agent.Run{Planners: m.options.Planners}
	if err := run.Apply(e); err != nil {
		m.chat.add(m.chat.note("error", "A run cannot be shown: "+err.Error()))
		return false
	}
	m.run, m.preparing, m.ended = run, false, false
	if m.options.Replay {
		quits := " " + m.look.glyphs.Separator + " q quits"
		m.input.close("replay of "+untrusted.Line(run.ID)+quits, "replay of "+shortID(run.ID)+quits)
	}
	m.stopping, m.reopened, m.failed, m.blocked = false, nil, "", ""
	m.dry, m.planOnly, m.closing = d.DryRun, d.PlanOnly, false
	clear(m.asked)
	m.dag.show(run)
	return true
}

// takeRun folds an event of the run that is shown, and writes into the chat
// what a reader of the conversation wants to know of it.
func (m *Model) takeRun(e agent.Event) {
	if reply, ok := e.Data.(agent.ChatReply); ok {
		m.reply(reply)
		return
	}
	was := m.moment(e.Data)
	if _, again := e.Data.(agent.RunResumed); again && m.run.Result != nil {
		m.wake()
	}
	if err := m.run.Apply(e); err != nil {
		if !e.Data.Kind().Passing() {
			m.chat.add(m.chat.note("error", "The screen may be behind: "+err.Error()))
		}
		return
	}
	m.tellStep(e.Data, was)
	m.tellRun(e.Data, was)
}

// reply takes the session's reply to what the user sent. What came of a run has
// been shown already, but for where its plan lies now.
func (m *Model) reply(d agent.ChatReply) {
	m.preparing = false
	if m.retold != nil {
		m.retold, m.ended = nil, true // the run could not be taken up after all
	}
	if m.going() == "" {
		m.stopping = false
	}
	if m.run != nil && d.Run == m.run.ID {
		if m.run.Result == nil {
			m.ended = true
			m.chat.settle()
			m.chat.add(m.chat.note("error", d.Text))
			return
		}
		closing := !m.closing
		m.closing = true
		if closing && !m.planOnly || d.Text == m.run.Result.Error {
			return
		}
	}
	switch {
	case d.Text == "":
	case d.Status == agent.StatusFailed:
		m.chat.add(m.chat.note("error", d.Text))
	case d.Status == agent.StatusCancelled:
		m.chat.add(m.chat.note("info", d.Text))
	default:
		answer := m.chat.prose
		if m.slashed {
			answer = m.chat.listing
		}
		m.chat.add(answer(d.Text))
	}
}

// asks is all that waits for the user's word: the session's own gates, the
// run's, and the steps of which only the user can say how to go on.
func (m *Model) asks() []asking {
	var out []asking
	for _, g := range m.sessionGates {
		out = append(out, g)
	}
	switch {
	case m.retold != nil || m.run == nil || m.options.Replay:
	case m.running():
		for _, g := range m.run.Gates {
			out = append(out, openGate{run: m.run.ID, ask: g.GateRequested})
		}
		out = append(out, m.openQuestions()...)
	case m.reopened != nil:
		out = append(out, *m.reopened)
	}
	return out
}

// refresh brings the panes up to date with what was folded.
func (m *Model) refresh() {
	m.chat.touch()
	m.dag.asked = m.askedStep()
	m.dag.touch()
	m.detail.show(m.run, m.dag.chosen())
	m.detail.touch()
}

// askedStep is the step that the user is asked about first, "" for none. In a
// replay, where nobody is asked, it is the one that was asked about.
func (m *Model) askedStep() string {
	if m.options.Replay && m.run != nil {
		for _, q := range m.run.Questions() {
			return q.Step
		}
	}
	return m.ask.step()
}

// activity is what goes on and what waits for the user, each on one line, for
// those who look at the chat alone.
func (m *Model) activity(width int) []string {
	l := m.look
	if !m.running() {
		return nil
	}
	spin := l.Running.Render(l.spinner()) + " "
	if m.stopping {
		return []string{spin + l.Muted.Render("stopping"+l.glyphs.Ellipsis)}
	}
	if m.preparing {
		return []string{spin + l.Muted.Render("getting ready"+l.glyphs.Ellipsis)}
	}
	var lines []string
	if line := m.goesOnNow(spin, width); line != "" {
		lines = append(lines, line)
	}
	const most = 3
	open := m.run.Questions()
	for i, q := range open[:min(len(open), most)] {
		text := questionWords(q)
		if more := len(open) - most; i == most-1 && more > 0 {
			text += fmt.Sprintf(" (and %d more)", more)
		}
		lines = append(lines, m.waitingWords(l.glyphs.Doubt, text, max(width-2, 1)))
	}
	return lines
}

// goesOnNow is one line on what the run is about, "" where it only waits for
// the answer to a question.
func (m *Model) goesOnNow(spin string, width int) string {
	l, r := m.look, m.run
	width = max(width-2, 1)
	if r.Replanning != nil {
		return spin + l.Muted.Render("replanning") + " " + l.Faint.Render(seconds(l.since(r.Replanning.StartedAt)))
	}
	if r.Synthesis.Started {
		if r.Synthesis.Done || r.Synthesis.Text != "" {
			return ""
		}
		return spin + l.Muted.Render("writing the answer") + " " + l.Faint.Render(seconds(l.since(r.Synthesis.StartedAt)))
	}
	if _, ok := m.asked[planning.PurposeRepair]; ok {
		return spin + l.Muted.Render("repairing the plan")
	}
	if s := following(r); s != nil {
		switch s.Status {
		case agent.StepWaiting:
			words := "step %s waits for your answer"
			if m.options.Replay {
				words = "step %s waited for an answer"
			}
			return m.waitingWords(l.glyphs.Gate, fmt.Sprintf(words, untrusted.Line(s.Step.Index)), width)
		case agent.StepActive:
			took := " " + l.Faint.Render(seconds(l.since(s.StartedAt)))
			return spin + l.Muted.Render(l.cut(m.runningWords(), width-visibleWidth(took))) + took
		}
	}
	if step, ok := m.asked[planning.PurposeStep]; ok {
		return spin + l.Muted.Render("the model works out step "+untrusted.Line(step))
	}
	return ""
}

// waitingWords says that the user is waited for, and which key leads there, in
// width cells behind the glyph.
func (m *Model) waitingWords(glyph, text string, width int) string {
	l := m.look
	if m.options.Replay {
		return l.Warning.Render(glyph) + " " + l.cut(l.Muted.Render(text), width)
	}
	const leads = "  ctrl+g"
	return l.Warning.Render(glyph) + " " + l.Muted.Render(l.cut(text, width-len(leads))) + l.Faint.Render(leads)
}

// runningWords says which steps run.
func (m *Model) runningWords() string {
	var running []string
	for _, s := range m.run.Steps {
		if s.Status == agent.StepActive {
			running = append(running, untrusted.Line(s.Step.Index)+" "+untrusted.Line(s.Step.Title))
		}
	}
	return strings.Join(running, " "+m.look.glyphs.Separator+" ")
}
