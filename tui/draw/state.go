package draw

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/planning/plan"
	"replan/tui/wording"
)

// StepTitle returns the name of a step with a capital first letter, to start a
// title.
func StepTitle(l *Styles, index string) string {
	name, number, _ := strings.Cut(wording.StepWords(index), " ")
	return english.Capital(name) + " " + l.Cut(number, 8)
}

// StateGlyph returns the glyph of a step's state, and its style.
func StateGlyph(l *Styles, run *agent.Run, s *agent.StepState) (string, lipgloss.Style) {
	switch {
	case wording.Halted(run, s):
		return l.Glyphs.Stopped, l.Warning
	case wording.Fruitless(s) != "":
		return l.Glyphs.Failed, l.Danger
	}
	switch s.Status {
	case agent.StepCompleted:
		if s.DryRun {
			return l.Glyphs.Pending, l.Muted // it did nothing
		}
		return EvidenceGlyph(l, wording.EvidenceOf(run, s))
	case agent.StepRunning, agent.StepChecking:
		return l.Spinner(), l.Running
	case agent.StepWaiting:
		return l.Glyphs.Gate, l.Warning
	case agent.StepFailed:
		if wording.IsDeclined(s) {
			return l.Glyphs.Declined, l.Text
		}
		return l.Glyphs.Failed, l.Danger
	case agent.StepSkipped:
		return l.Glyphs.Skipped, l.Faint
	case agent.StepInDoubt:
		return l.Glyphs.Doubt, l.Warning
	default:
		if !s.RetryAt.IsZero() {
			return l.Glyphs.Retry, l.Warning
		}
		return l.Glyphs.Pending, l.Muted
	}
}

// StateWord returns the word for a step's state, or the time the step took, and
// its style. It returns "" if the step has not started.
func StateWord(l *Styles, run *agent.Run, s *agent.StepState) (string, lipgloss.Style) {
	switch {
	case wording.Halted(run, s):
		return "stopped", l.Warning
	case wording.Fruitless(s) != "":
		return "failed", l.Danger
	}
	switch s.Status {
	case agent.StepCompleted:
		switch {
		case s.DryGate != nil:
			return l.Glyphs.Gate + " dry run", l.Warning
		case s.DryRun:
			return "dry run", l.Faint
		}
		if state := wording.EvidenceOf(run, s); state != "" {
			_, style := EvidenceGlyph(l, state)
			return string(state), style
		}
		return wording.DoneIn(s.MS), l.Faint
	case agent.StepChecking:
		return "checking", l.Running
	case agent.StepRunning:
		return wording.Ticking(l.Since(s.StartedAt)), l.Running
	case agent.StepWaiting:
		return l.Glyphs.Gate + " gate", l.Warning
	case agent.StepFailed:
		if wording.IsDeclined(s) {
			return "declined", l.Text
		}
		switch s.Failure {
		case event.FailureDenied:
			return "denied", l.Danger
		case event.FailureCheck:
			return string(plan.StateRefuted), l.Danger
		}
		return "failed", l.Danger
	case agent.StepSkipped:
		if s.NotTaken {
			return "not taken", l.Faint
		}
		return "skipped", l.Faint
	case agent.StepInDoubt:
		return "in doubt", l.Warning
	}
	switch {
	case s.RetryAt.IsZero():
		return "", l.Faint
	case s.Polls > 0:
		return fmt.Sprintf("poll %d", s.Polls+1), l.Running
	default:
		return fmt.Sprintf("retry %d", s.Attempt+1), l.Warning
	}
}

// EvidenceGlyph returns the glyph for how far something is shown to hold, and its style.
func EvidenceGlyph(l *Styles, state plan.EvidenceState) (string, lipgloss.Style) {
	switch state {
	case plan.StateClaimed:
		return l.Glyphs.Claimed, l.Muted
	case plan.StateUnchecked:
		return l.Glyphs.Unchecked, l.Warning
	case plan.StateRefuted:
		return l.Glyphs.Failed, l.Danger
	default:
		return l.Glyphs.Done, l.Success
	}
}

// RunGlyph returns the glyph of a run's state, and its style.
func RunGlyph(l *Styles, s agent.Summary) (string, lipgloss.Style) {
	switch {
	case s.Undone:
		return l.Glyphs.Removed, l.Muted
	case s.Status == agent.StatusRunning:
		return l.Glyphs.Folded, l.Running
	case s.Status == agent.StatusWaiting:
		return l.Glyphs.Pending, l.Muted
	case s.Status == agent.StatusUnfinished:
		return l.Glyphs.Warning, l.Warning
	case s.Status == event.StatusCompleted && s.Reason == event.ReasonPartial:
		return l.Glyphs.Partial, l.Warning
	case s.Status == event.StatusCompleted && s.Reason.Nothing():
		return l.Glyphs.Separator, l.Muted
	case s.Status == event.StatusCompleted:
		return l.Glyphs.Done, l.Success
	case s.Status == event.StatusCanceled:
		return l.Glyphs.Stopped, l.Warning
	case s.Declined:
		return l.Glyphs.Declined, l.Text
	default:
		return l.Glyphs.Failed, l.Danger
	}
}
