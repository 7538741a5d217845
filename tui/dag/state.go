package dag

import (
	"fmt"
	"math"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/telling"
)

// The right end of a row names the step's status in a word, besides the glyph.
// If there is room, a note follows.

// glyph returns the glyph of the step's state, and its style.
func (d *Pane) glyph(r *Row) (string, lipgloss.Style) {
	l := d.Look
	if r.Kind == RowStep {
		switch d.tally.class[r.at] {
		case telling.ClassDraft:
			return l.Glyphs.Draft, l.Muted
		case telling.ClassReady:
			return l.Glyphs.Ready, l.Text
		case telling.ClassRetry:
			return l.Glyphs.Retry, l.Warning
		}
	}
	glyph, style := draw.StateGlyph(l, d.runOf(r), r.Step)
	if r.Kind == RowGone && r.Step.Status != agent.StepFailed {
		style = l.Faint
	}
	return glyph, style
}

// runOf returns the run of a row's step, or nil if the step was removed.
func (d *Pane) runOf(r *Row) *agent.Run {
	if r.Kind == RowGone {
		return nil
	}
	return d.Run
}

// state returns the text at the right end of the row, shortened to room cells
// if possible.
func (d *Pane) state(r *Row, room int) (string, lipgloss.Style) {
	l, s := d.Look, r.Step
	if r.Kind == RowCalls && d.calls[r.owner.Step.Index] {
		return "", l.Faint
	}
	if r.Kind == RowStep {
		switch d.tally.class[r.at] {
		case telling.ClassDraft:
			return "drafting", l.Muted
		case telling.ClassReady:
			return "ready", l.Text
		case telling.ClassHeld:
			return d.tally.held, l.Warning
		case telling.ClassRetry:
			return fmt.Sprintf("retry %d", s.Attempt+1), l.Warning
		case telling.ClassWaits:
			if d.Run.Result != nil {
				return "not run", l.Faint
			}
			return l.Blockers(d.waits(r), room), l.Faint
		}
	}
	if s.Status == agent.StepRunning && !telling.Halted(d.runOf(r), s) {
		return d.runningWords(s, room), l.Running
	}
	return draw.StateWord(l, d.runOf(r), s)
}

// runningWords returns the progress and the running time of a step.
func (d *Pane) runningWords(s *agent.StepState, room int) string {
	took := d.Look.Since(s.StartedAt)
	p := s.Progress
	if p.Total <= 0 {
		return telling.Ticking(took)
	}
	whole := p.Total == math.Trunc(p.Total) && p.Done == math.Trunc(p.Done)
	far := fmt.Sprintf("%.0f%%", 100*max(min(p.Done/p.Total, 1), 0))
	if whole && p.Total > 1 && p.Total < 100 {
		far = fmt.Sprintf("%.0f/%.0f", p.Done, p.Total)
	}
	both := far + " " + telling.Ticking(took)
	if len(both) <= room {
		return both
	}
	return far
}

// waits returns the steps that this one still waits for. A failed step or one
// in doubt blocks it as a running one does.
func (d *Pane) waits(r *Row) []string {
	var waits []string
	for _, p := range d.Chart.deps[r.at] {
		if !d.tally.class[p].Over() {
			waits = append(waits, d.Chart.Steps[p].Step.Index)
		}
	}
	return waits
}

// note returns one line about a step: what a revision changed, why it was
// skipped or failed, or what it is about to do.
func (d *Pane) note(r *Row) string {
	l, s := d.Look, r.Step
	if before := d.versionBefore(s); before != nil && s.Status != agent.StepFailed {
		if words := changeWords(l, before, s); words != "" {
			return words
		}
	}
	switch d.tally.class[r.at] {
	case telling.ClassSkipped:
		return d.skippedFor(r)
	case telling.ClassFailed:
		return untrusted.FirstLine(telling.FailureOf(s))
	case telling.ClassDoubt, telling.ClassRetry:
		return untrusted.FirstLine(s.Error)
	case telling.ClassRuns:
		return d.doing(s)
	default:
		return ""
	}
}

// skippedFor names the steps that caused a step to be skipped.
func (d *Pane) skippedFor(r *Row) string {
	var why []string
	for _, p := range d.Chart.deps[r.at] {
		if c := d.tally.class[p]; c == telling.ClassSkipped || !c.Quiet() {
			s := d.Chart.Steps[p].Step
			why = append(why, untrusted.Line(s.Index+" "+s.Title))
		}
	}
	if len(why) == 0 {
		return untrusted.FirstLine(r.Step.Error)
	}
	return d.Look.Glyphs.Blocker + strings.Join(why, ", ")
}

// doing returns the progress message of a running step.
func (d *Pane) doing(s *agent.StepState) string {
	words := untrusted.FirstLine(s.Progress.Message)
	if s.Attempt > 1 {
		attempt := fmt.Sprintf("attempt %d", s.Attempt)
		if words != "" {
			words = attempt + ": " + words
		} else {
			words = attempt
		}
	}
	return words
}
