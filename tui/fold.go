package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/planning"
	"replan/tui/untrusted"
)

// takeEvents folds a batch of events and brings the panes up to date.
func (m *Model) takeEvents(b eventsMsg) tea.Cmd {
	for _, e := range b.events {
		m.clock.heard(e.Time, b.arrived)
		m.take(e)
	}
	m.look.now = m.clock.now()
	if b.closed {
		m.closed, m.preparing = true, false
	}
	m.refresh()
	return tea.Batch(m.gate.set(m.openGates()), m.animate())
}

// take folds one event: into its run, or into what is known of the session.
func (m *Model) take(e agent.Event) {
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
	case agent.ChatUser:
		m.preparing = true
		m.chat.settle()
		m.chat.add(m.chat.user(d.Text))
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

// begin shows a run that has started.
func (m *Model) begin(e agent.Event, d agent.RunStarted) {
	run := &agent.Run{}
	if err := run.Apply(e); err != nil {
		m.chat.add(m.chat.note("error", "A run cannot be shown: "+err.Error()))
		return
	}
	if m.goalShown != d.Goal && len(m.chat.blocks) == 0 {
		// A run that nobody typed here, as in a replay, says itself what it is for.
		m.chat.add(m.chat.user(d.Goal))
	}
	m.run, m.preparing, m.ended = run, false, false
	m.stopping = false
	clear(m.asked)
	m.chat.started(run)
	m.dag.show(run)
}

// takeRun folds an event of the run that is shown, and writes into the chat
// what a reader of the conversation wants to know of it.
func (m *Model) takeRun(e agent.Event) {
	if reply, ok := e.Data.(agent.ChatReply); ok {
		m.reply(reply)
		return
	}
	gate, replanning := m.gateOf(e.Data), m.run.Replanning != nil
	if err := m.run.Apply(e); err != nil {
		if !e.Data.Kind().Passing() {
			m.chat.add(m.chat.note("error", "The screen may be behind: "+err.Error()))
		}
		return
	}
	c := m.chat
	switch d := e.Data.(type) {
	case agent.ModelRequested:
		m.asked[d.Purpose] = d.Step
	case agent.ModelReplied:
		delete(m.asked, d.Purpose)
		if d.Error != "" && !m.run.Paused {
			c.add(c.note("warn", d.Error))
		}
	case agent.ReplanStarted:
		failed := c.remark(failedGlyph, dangerStyle, fmt.Sprintf("step %s failed: %s", d.Step, untrusted.FirstLine(d.Error)))
		failed.gap = true
		c.add(failed)
	case agent.ReplanRefused:
		c.add(c.note("warn", "The new plan was refused: "+d.Reason))
	case agent.PlanDiff:
		c.add(c.revision(d, replanning))
	case agent.GateResolved:
		c.add(c.remark(gateGlyph, warningStyle, resolvedWords(gate, d)))
	case agent.StepInDoubt:
		c.add(c.note("warn", fmt.Sprintf("step %s is in doubt: %s", d.Index, d.Reason)))
	case agent.GuardBlocked:
		c.add(c.note("error", d.Reason))
	case agent.BudgetWarned:
		c.add(c.note("warn", fmt.Sprintf("%s: %d of %d used", d.Guard, d.Used, d.Limit)))
	case agent.Note:
		c.add(c.note(d.Level, d.Text))
	case agent.SynthesisStarted:
		c.add(c.answer(m.run))
	case agent.SynthesisCompleted:
		switch {
		case d.Error == "":
		case d.Text != "":
			c.add(c.note("warn", "The answer was cut off: "+d.Error))
		case !m.run.Paused:
			c.add(c.note("warn", "No answer could be written: "+d.Error))
		}
	case agent.RunCompleted:
		m.finish(&d.Result)
	}
}

// finish writes how the run ended. An answer that did not stream is written
// first.
func (m *Model) finish(r *agent.Result) {
	m.stopping = false
	clear(m.asked)
	m.chat.touch()
	m.chat.settle()
	if r.Answer != "" && m.run.Synthesis.Text == "" {
		m.chat.add(m.chat.prose(r.Answer))
	}
	m.chat.add(m.chat.outcome(m.run.ID, r))
}

// reply takes the session's reply to what the user sent. What came of a run has
// been shown already.
func (m *Model) reply(d agent.ChatReply) {
	m.preparing = false
	if m.run != nil && d.Run == m.run.ID {
		if m.run.Result == nil {
			m.ended = true
			m.chat.settle()
			m.chat.add(m.chat.note("error", d.Text))
		}
		return
	}
	switch {
	case d.Text == "":
	case d.Status == agent.StatusFailed:
		m.chat.add(m.chat.note("error", d.Text))
	case d.Status == agent.StatusCancelled:
		m.chat.add(m.chat.note("info", d.Text))
	default:
		m.chat.add(m.chat.prose(d.Text))
	}
}

// gateOf is the open gate that an answer belongs to.
func (m *Model) gateOf(d agent.Data) *agent.Gate {
	if r, ok := d.(agent.GateResolved); ok {
		for _, g := range m.run.Gates {
			if g.Gate == r.Gate {
				return g
			}
		}
	}
	return nil
}

func resolvedWords(g *agent.Gate, d agent.GateResolved) string {
	what := "the call"
	if g != nil {
		what = untrusted.Line(g.Tool)
		if g.Step != "" {
			what += " in step " + untrusted.Line(g.Step)
		}
	}
	words := "allowed " + what
	switch {
	case d.Decision == agent.Deny:
		words = "denied " + what
	case d.Scope == agent.ScopeRun:
		words += ", and later calls of it in this run"
	}
	if d.By != "" && d.By != "user" {
		words += " (by " + untrusted.Line(d.By) + ")"
	}
	return words
}

// openGates are all gates that wait: the session's own and the run's.
func (m *Model) openGates() []openGate {
	gates := append([]openGate{}, m.sessionGates...)
	if m.run != nil && m.runs() {
		for _, g := range m.run.Gates {
			gates = append(gates, openGate{run: m.run.ID, ask: g.GateRequested})
		}
	}
	return gates
}

// refresh brings the panes up to date with what was folded.
func (m *Model) refresh() {
	m.chat.touch()
	m.dag.touch()
	m.detail.show(m.run, m.dag.chosen())
	m.detail.touch()
}

// activity is one line on what goes on, for those who look at the chat alone.
func (m *Model) activity(width int) string {
	l := m.look
	if !m.runs() {
		return ""
	}
	spin := l.Running.Render(l.spinner()) + " "
	if m.stopping {
		return spin + l.Muted.Render("stopping"+l.glyphs.Ellipsis)
	}
	if m.preparing {
		return spin + l.Muted.Render("getting ready"+l.glyphs.Ellipsis)
	}
	r := m.run
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
			text := fmt.Sprintf("step %s waits for your answer", untrusted.Line(s.Step.Index))
			return l.Warning.Render(l.glyphs.Gate) + " " + l.cut(l.Muted.Render(text)+l.Faint.Render("  ctrl+g"), width)
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
