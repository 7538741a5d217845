package dag

import (
	"fmt"
	"math"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/wording"
)

// The right end of a row names the step's status in a word, besides the glyph.
// If there is room, a note follows.

// glyph returns the glyph of the step's state, and its style.
func (v *shownPlan) glyph(r *Row) (string, lipgloss.Style) {
	l := v.styles
	if v.lacks(r) != nil {
		return l.Glyphs.Warning, l.Warning
	}
	if r.Kind == RowStep {
		switch v.Counts.of(r.at) {
		case wording.ClassDraft:
			return l.Glyphs.Draft, l.Muted
		case wording.ClassReady:
			return l.Glyphs.Ready, l.Text
		}
	}
	glyph, style := draw.StateGlyph(l, v.runOf(r), r.Step)
	if r.Kind == RowGone && r.Step.Status != agent.StepFailed {
		style = l.Faint
	}
	return glyph, style
}

// runOf returns the run of a row's step, or nil if the step was removed.
func (v *shownPlan) runOf(r *Row) *agent.Run {
	if r.Kind == RowGone {
		return nil
	}
	return v.Run
}

// state returns the text at the right end of the row, shortened to room cells
// if possible.
func (v *shownPlan) state(r *Row, room int) (string, lipgloss.Style) {
	l, s := v.styles, r.Step
	if r.Kind == RowCalls && (r.owner.Items != nil || v.Folds.showsCalls(r.owner.Step.Index)) {
		return "", l.Faint
	}
	if v.lacks(r) != nil {
		return "no tool", l.Warning
	}
	if r.Kind == RowStep {
		switch v.Counts.of(r.at) {
		case wording.ClassDraft:
			return "drafting", l.Muted
		case wording.ClassReady:
			return "ready", l.Text
		case wording.ClassHeld:
			return v.Counts.heldWords(), l.Warning
		case wording.ClassWaits:
			if v.Run.Result != nil {
				return "not run", l.Faint
			}
			return l.Blockers(v.Counts.waitsOn(r.at), room), l.Faint
		}
	}
	if wording.AsksUser(v.runOf(r), s) {
		return "asks you", l.Warning
	}
	if s.Status == agent.StepRunning && !wording.Halted(v.runOf(r), s) {
		return v.runningWords(s, room), l.Running
	}
	return draw.StateWord(l, v.runOf(r), s)
}

// runningWords returns the progress and the running time of a step.
func (v *shownPlan) runningWords(s *agent.StepState, room int) string {
	elapsed := v.styles.Since(s.StartedAt)
	p := s.Progress
	if p.Total <= 0 {
		return wording.Ticking(elapsed)
	}
	whole := p.Total == math.Trunc(p.Total) && p.Done == math.Trunc(p.Done)
	far := fmt.Sprintf("%.0f%%", 100*max(min(p.Done/p.Total, 1), 0))
	if whole && p.Total > 1 && p.Total < 100 {
		far = fmt.Sprintf("%.0f/%.0f", p.Done, p.Total)
	}
	both := far + " " + wording.Ticking(elapsed)
	if len(both) <= room {
		return both
	}
	return far
}

// lacks returns the servers without which a step that is still to come cannot run.
func (v *shownPlan) lacks(r *Row) []string {
	if v.lost.none() || r.Kind != RowStep || v.Run.Result != nil || !wording.ToCome(r.Step) {
		return nil
	}
	return v.lost.ofStep(v.Run, v.Chart, r.at)
}

// losesAny reports whether a step that is still to come cannot run.
func (v *shownPlan) losesAny() bool {
	if v.lost.none() || v.Chart == nil || v.Run.Result != nil {
		return false
	}
	for i, s := range v.Chart.Steps {
		if wording.ToCome(s) && v.lost.ofStep(v.Run, v.Chart, i) != nil {
			return true
		}
	}
	return false
}

// note returns one line about a step: what a revision changed, why it was
// skipped or failed, or what it is about to do.
func (v *shownPlan) note(r *Row) string {
	l, s := v.styles, r.Step
	if before := v.versionBefore(s); before != nil && s.Status != agent.StepFailed {
		if words := changeWords(l, before, s); words != "" {
			return words
		}
	}
	if servers := v.lacks(r); servers != nil {
		return lackWords(servers)
	}
	switch v.Counts.of(r.at) {
	case wording.ClassSkipped:
		return v.skippedFor(r)
	case wording.ClassDeclined:
		why, _ := s.Declined()
		return why.FirstLine()
	case wording.ClassFailed:
		return wording.Cause(wording.FailureOf(s))
	case wording.ClassDoubt, wording.ClassRetry:
		return s.Error.FirstLine()
	case wording.ClassRuns:
		return v.doing(s)
	default:
		return ""
	}
}

// skippedFor names the steps that caused a step to be skipped.
func (v *shownPlan) skippedFor(r *Row) string {
	var why []string
	for _, p := range v.Chart.dependencies(r.at) {
		if c := v.Counts.of(p); c == wording.ClassSkipped || !c.Quiet() {
			s := v.Chart.Steps[p].Step
			why = append(why, untrusted.Line(s.Index+" "+s.Title.Visible()))
		}
	}
	if len(why) == 0 {
		return strings.TrimPrefix(r.Step.Error.FirstLine(), "not taken: ") // the state says that
	}
	return v.styles.Glyphs.Blocker + strings.Join(why, ", ")
}

// doing returns the progress message of a running step.
func (v *shownPlan) doing(s *agent.StepState) string {
	words := s.Progress.Message.FirstLine()
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
