package tui

import (
	"fmt"
	"strings"

	"replan/agent"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/dag"
	"replan/tui/draw"
	"replan/tui/telling"
)

// activity returns one line each for current work and for open questions, for
// users who see only the chat.
func (m *Model) activity(width int) []string {
	l := m.look
	if !m.running() {
		return nil
	}
	spin := l.Running.Render(l.Spinner()) + " "
	if m.stopping {
		return []string{spin + l.Muted.Render("stopping"+l.Glyphs.Ellipsis)}
	}
	if m.preparing {
		return []string{spin + l.Muted.Render(l.Cut(m.getsReady(), max(width-3, 1))+l.Glyphs.Ellipsis)}
	}
	var lines []string
	if line := m.goesOnNow(spin, width); line != "" {
		lines = append(lines, line)
	}
	const most = 3
	var open []agent.Question
	for _, s := range m.stages {
		open = append(open, s.run.Questions()...)
	}
	for i, q := range open[:min(len(open), most)] {
		text := telling.QuestionWords(q)
		if more := len(open) - most; i == most-1 && more > 0 {
			text += fmt.Sprintf(" (and %d more)", more)
		}
		lines = append(lines, m.waitingWords(l.Glyphs.Doubt, text, max(width-2, 1)))
	}
	return lines
}

// goesOnNow returns one line about the run's current work, "" if it only waits
// for the answer to a question.
func (m *Model) goesOnNow(spin string, width int) string {
	l, r := m.look, m.run
	width = max(width-2, 1)
	if r.Replanning != nil {
		return spin + l.Muted.Render("replanning") + " " + l.Faint.Render(telling.Ticking(l.Since(r.Replanning.StartedAt)))
	}
	if r.Synthesis.Started {
		return m.answers(spin, width)
	}
	if _, ok := m.busyWith(prompt.PurposeRepair); ok {
		return spin + l.Muted.Render("repairing the plan")
	}
	if m.review.Waits() {
		return m.waitingWords(l.Glyphs.Gate, "the plan waits to be looked over", width)
	}
	s := dag.Following(r)
	if asked := r.Step(m.askedIn(r)); asked != nil && asked.Status == agent.StepWaiting {
		s = asked
	}
	if s != nil {
		switch s.Status {
		case agent.StepWaiting:
			return m.gateWords(s, width)
		case agent.StepRunning:
			took := " " + l.Faint.Render(telling.Ticking(l.Since(s.StartedAt)))
			return spin + l.Muted.Render(l.Cut(m.runningWords(), width-draw.VisibleWidth(took))) + took
		}
	}
	if step, ok := m.busyWith(prompt.PurposeStep); ok {
		return spin + l.Muted.Render("the model works out step "+untrusted.Line(step))
	}
	return ""
}

// answers returns one line about an answer that is not visible yet: a model
// that works on it, or a call that waits.
func (m *Model) answers(spin string, width int) string {
	l, r := m.look, m.run
	if r.Chat != nil {
		if asked := r.Step(m.askedIn(r)); asked != nil && asked.Status == agent.StepWaiting {
			return m.gateWords(asked, width)
		}
		for _, c := range r.Chat.Calls {
			if c.Status == agent.StepWaiting {
				return m.gateWords(c, width)
			}
		}
	}
	at, ok := m.asked[errand{purpose: prompt.PurposeSynthesis}]
	if !ok {
		at, ok = m.asked[errand{purpose: prompt.PurposeChat}]
	}
	words := "writing the answer"
	if m.cards > 0 {
		words = "the model goes on"
	}
	if !ok || m.turn != nil && !m.turn.Done && m.turn.Text != "" {
		return ""
	}
	return spin + l.Muted.Render(words) + " " + l.Faint.Render(telling.Ticking(l.Since(at)))
}

// askedIn returns the step of a run that the question dialog is about, "" for
// none. The dialog may be hidden until ctrl+g.
func (m *Model) askedIn(r *agent.Run) string {
	if m.options.Replay {
		return ""
	}
	return m.ask.StepOf(r.ID)
}

// gateWords returns a line for a step that waits at its gate.
func (m *Model) gateWords(s *agent.StepState, width int) string {
	words := telling.StepWords(s.Step.Index) + " waits for your answer"
	if m.options.Replay {
		words = telling.StepWords(s.Step.Index) + " waited for an answer"
	}
	return m.waitingWords(m.look.Glyphs.Gate, words, width)
}

// waitingWords returns a line that something waits for the user, with the key
// that leads there. The text after the glyph fits into width cells.
func (m *Model) waitingWords(glyph, text string, width int) string {
	l := m.look
	if m.options.Replay {
		return l.Warning.Render(glyph) + " " + l.Cut(l.Muted.Render(text), width)
	}
	leads := "  " + m.keys.Name("gate")
	return l.Warning.Render(glyph) + " " + l.Muted.Render(l.Cut(text, width-len(leads))) + l.Faint.Render(leads)
}

// runningWords lists the running steps.
func (m *Model) runningWords() string {
	var running []string
	for _, s := range m.run.Steps {
		if s.Status == agent.StepRunning {
			words := untrusted.Line(s.Step.Index) + " " + untrusted.Line(s.Step.Title)
			if c := telling.Newest(s.Loop); c != nil && c.Status == agent.StepRunning {
				words += " (" + untrusted.Line(c.Step.Title) + ")"
			}
			running = append(running, words)
		}
	}
	return strings.Join(running, " "+m.look.Glyphs.Separator+" ")
}
