package tui

import (
	"fmt"
	"math"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/tui/untrusted"
)

// How a step stands is said at the right end of its row, in a word as well as by
// the glyph, with what is worth knowing besides where there is room.

// glyph is the sign of the step's state.
func (d *dagPane) glyph(r *row) (string, lipgloss.Style) {
	l := d.look
	if r.kind == rowStep {
		switch d.tally.class[r.at] {
		case classDraft:
			return l.glyphs.Draft, l.Muted
		case classReady:
			return l.glyphs.Ready, l.Text
		case classRetry:
			return l.glyphs.Retry, l.Warning
		}
	}
	glyph, style := stateGlyph(l, d.runOf(r), r.step)
	if r.kind == rowGone && r.step.Status != agent.StepBroken {
		style = l.Faint
	}
	return glyph, style
}

// runOf is the run that a row's step belongs to, nil where it is gone.
func (d *dagPane) runOf(r *row) *agent.Run {
	if r.kind == rowGone {
		return nil
	}
	return d.run
}

// state is what stands at the right end of the row, in that many cells where it
// can be said in them.
func (d *dagPane) state(r *row, room int) (string, lipgloss.Style) {
	l, s := d.look, r.step
	if r.kind == rowCalls && d.calls[r.owner.Step.Index] {
		return "", l.Faint
	}
	if r.kind == rowStep {
		switch d.tally.class[r.at] {
		case classDraft:
			return "drafting", l.Muted
		case classReady:
			return "ready", l.Text
		case classHeld:
			return d.tally.held, l.Warning
		case classRetry:
			return fmt.Sprintf("retry %d", s.Attempt+1), l.Warning
		case classWaits:
			if d.run.Result != nil {
				return "not run", l.Faint
			}
			return l.blockers(d.waits(r), room), l.Faint
		}
	}
	if s.Status == agent.StepActive && !halted(d.runOf(r), s) {
		return d.runningWords(s, room), l.Running
	}
	return stateWord(l, d.runOf(r), s)
}

// runningWords are how far a step that runs has come, and for how long it has.
func (d *dagPane) runningWords(s *agent.StepState, room int) string {
	took := d.look.since(s.StartedAt)
	p := s.Progress
	if p.Total <= 0 {
		return ticking(took)
	}
	whole := p.Total == math.Trunc(p.Total) && p.Done == math.Trunc(p.Done)
	far := fmt.Sprintf("%.0f%%", 100*max(min(p.Done/p.Total, 1), 0))
	if whole && p.Total > 1 && p.Total < 100 {
		far = fmt.Sprintf("%.0f/%.0f", p.Done, p.Total)
	}
	both := far + " " + ticking(took)
	if len(both) <= room {
		return both
	}
	return far
}

// waits is the steps that this one still waits for: one that failed or is in
// doubt holds it up as one that runs does.
func (d *dagPane) waits(r *row) []string {
	var waits []string
	for _, p := range d.chart.deps[r.at] {
		if !d.tally.class[p].over() {
			waits = append(waits, d.chart.steps[p].Step.Index)
		}
	}
	return waits
}

// note is what is worth knowing of a step besides, in one line: what a revision
// changed in it, why it was skipped or failed, what it is about to do.
func (d *dagPane) note(r *row) string {
	l, s := d.look, r.step
	if before := d.versionBefore(s); before != nil && s.Status != agent.StepBroken {
		if words := changeWords(l, before, s); words != "" {
			return words
		}
	}
	switch d.tally.class[r.at] {
	case classSkipped:
		return d.skippedFor(r)
	case classFailed:
		return untrusted.FirstLine(failureOf(s))
	case classDoubt, classRetry:
		return untrusted.FirstLine(s.Error)
	case classRuns:
		return d.doing(s)
	default:
		return ""
	}
}

// skippedFor says because of which steps one is left out, by their names.
func (d *dagPane) skippedFor(r *row) string {
	var why []string
	for _, p := range d.chart.deps[r.at] {
		if c := d.tally.class[p]; c == classSkipped || !c.quiet() {
			s := d.chart.steps[p].Step
			why = append(why, untrusted.Line(s.Index+" "+s.Title))
		}
	}
	if len(why) == 0 {
		return untrusted.FirstLine(r.step.Error)
	}
	return d.look.glyphs.Blocker + strings.Join(why, ", ")
}

// doing is what a running step says of itself.
func (d *dagPane) doing(s *agent.StepState) string {
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
