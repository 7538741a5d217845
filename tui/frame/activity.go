package frame

import (
	"fmt"
	"strings"

	"replan/agent"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// activity describes current work for the chat.
type activity struct {
	styles *draw.Styles
	keys   *keymap.Map
	replay bool // a past run is replayed, which asks no questions
}

// Activity returns one line each for current work and for open questions, for
// users who see only the chat. No line is wider than width cells.
func (a *activity) Activity(s State, width int) []string {
	l := a.styles
	if !s.busy() {
		return nil
	}
	spinner := l.Running.Render(l.Spinner()) + " "
	if s.Stopping {
		return []string{spinner + l.Muted.Render("stopping"+l.Glyphs.Ellipsis)}
	}
	if s.Preparing {
		return []string{spinner + l.Muted.Render(l.Cut(s.Preparation, max(width-3, 1))+l.Glyphs.Ellipsis)}
	}
	var lines []string
	if line := a.currentWork(s, spinner, width); line != "" {
		lines = append(lines, line)
	}
	const maxRows = 3
	var open []agent.Question
	for _, r := range s.Runs {
		open = append(open, r.Questions()...)
	}
	for i, q := range open[:min(len(open), maxRows)] {
		text := wording.QuestionWords(q)
		if more := len(open) - maxRows; i == maxRows-1 && more > 0 {
			text += fmt.Sprintf(" (and %d more)", more)
		}
		lines = append(lines, a.waitingLine(l.Glyphs.Doubt, text, max(width-2, 1)))
	}
	return lines
}

// currentWork returns one line about the run's current work, "" if it only
// waits for the answer to a question.
func (a *activity) currentWork(s State, spinner string, width int) string {
	l, r := a.styles, s.Run
	width = max(width-2, 1)
	switch {
	case s.Requests.Tools:
		return spinner + l.Muted.Render(l.Cut(a.reading(r, "choosing tools for the plan"), width))
	case s.Requests.Repair:
		return spinner + l.Muted.Render(l.Cut(a.reading(r, "repairing the plan"), width))
	case r.Replanning != nil:
		return "" // the chat shows what the model writes
	case r.Synthesis.Started:
		return a.answering(s, spinner, width)
	case s.Reviewing:
		return a.waitingLine(l.Glyphs.Gate, wording.ReviewWaits, width)
	}
	step := wording.CurrentStep(r)
	if asked := r.Step(s.AskedStep); asked != nil && asked.Status == agent.StepWaiting {
		step = asked
	}
	switch {
	case step != nil && step.Status == agent.StepWaiting:
		return a.gateLine(step, width)
	case step != nil && step.Status == agent.StepRunning:
		elapsed := " " + l.Faint.Render(wording.Ticking(l.Since(step.StartedAt)))
		room := width - draw.VisibleWidth(elapsed)
		return spinner + l.Muted.Render(l.Cut(a.runningSteps(r, room), room)) + elapsed
	case s.Requests.Arguments:
		return spinner + l.Muted.Render(l.Cut(a.reading(r, "the model works out step "+untrusted.Line(s.Requests.ArgumentsOf)), width))
	}
	return ""
}

// reading adds how far the model has read the prompt of a request whose reply does
// not show.
func (a *activity) reading(r *agent.Run, words string) string {
	if far := wording.ReadingUnseen(wording.Open(r), a.styles.Now); far != "" {
		return words + ": reading " + far
	}
	return words
}

// answering returns one line about an answer that is not visible yet: a model that works
// on it, or a call that waits. It is "" if there is neither.
func (a *activity) answering(s State, spinner string, width int) string {
	l, r := a.styles, s.Run
	if r.Chat != nil {
		if asked := r.Step(s.AskedStep); asked != nil && asked.Status == agent.StepWaiting {
			return a.gateLine(asked, width)
		}
		for _, call := range r.Chat.Calls {
			if call.Status == agent.StepWaiting {
				return a.gateLine(call, width)
			}
		}
	}
	if !s.Requests.Answer || s.Requests.Writing {
		return ""
	}
	words := "writing the answer"
	if s.Requests.CallsShown {
		words = "the model continues"
	}
	if far := wording.Reading(wording.Open(r), l.Now); far != "" {
		words += ": reading " + far
	}
	elapsed := " " + l.Faint.Render(wording.Ticking(l.Since(s.Requests.AnswerSince)))
	return spinner + l.Muted.Render(l.Cut(words, width-draw.VisibleWidth(elapsed))) + elapsed
}

// gateLine returns a line about a step that waits at its gate.
func (a *activity) gateLine(s *agent.StepState, width int) string {
	words := wording.StepWords(s.Step.Index) + " waits for your answer"
	if a.replay {
		words = wording.StepWords(s.Step.Index) + " waited for an answer"
	}
	return a.waitingLine(a.styles.Glyphs.Gate, words, width)
}

// waitingLine returns a line that something waits for the user, with the key
// that leads there. The text after the glyph fits into width cells.
func (a *activity) waitingLine(glyph, text string, width int) string {
	l := a.styles
	if a.replay {
		return l.Warning.Render(glyph) + " " + l.Cut(l.Muted.Render(text), width)
	}
	key := "  " + a.keys.Name("gate")
	return l.Warning.Render(glyph) + " " + l.Muted.Render(l.Cut(text, width-len(key))) + l.Faint.Render(key)
}

// runningSteps lists the running steps of a run, as many as are needed to fill a
// width.
func (a *activity) runningSteps(r *agent.Run, width int) string {
	var running []string
	filled := 0
	for _, s := range r.Steps {
		if filled > width {
			break
		}
		if s.Status == agent.StepRunning {
			words := s.Step.Name() + " " + s.Step.Title.Line()
			if call := wording.Newest(wording.Inner(s)); call != nil && call.Status == agent.StepRunning {
				words += " (" + wording.InnerTitle(call, s) + ")"
			} else if s.Progress.Message != "" {
				words += " (" + s.Progress.Message.FirstLine() + ")"
			} else if far := wording.ReadingUnseen(wording.OpenFor(r, s), a.styles.Now); far != "" {
				words += " (reading " + far + ")"
			}
			running = append(running, words)
			filled += draw.VisibleWidth(words)
		}
	}
	return strings.Join(running, " "+a.styles.Glyphs.Separator+" ")
}
