package tui

import (
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/plain"
)

// stepTitle is the same where a title begins with it.
func stepTitle(l *look, index string) string {
	words := stepWords(index)
	name, number, _ := strings.Cut(words, " ")
	return strings.ToUpper(name[:1]) + name[1:] + " " + l.cut(number, 8)
}

// stateGlyph is the sign of how a step stands.
func stateGlyph(l *look, run *agent.Run, s *agent.StepState) (string, lipgloss.Style) {
	switch {
	case halted(run, s):
		return l.glyphs.Stopped, l.Warning
	case plain.Fruitless(s) != "":
		return l.glyphs.Failed, l.Danger
	}
	switch s.Status {
	case agent.StepDone:
		if s.DryRun {
			return l.glyphs.Pending, l.Muted // it has done nothing
		}
		return l.glyphs.Done, l.Success
	case agent.StepActive:
		return l.spinner(), l.Running
	case agent.StepWaiting:
		return l.glyphs.Gate, l.Warning
	case agent.StepBroken:
		return l.glyphs.Failed, l.Danger
	case agent.StepLeftOut:
		return l.glyphs.Skipped, l.Faint
	case agent.StepUncertain:
		return l.glyphs.Doubt, l.Warning
	default:
		return l.glyphs.Pending, l.Muted
	}
}

// stateWord is the same in a word, or the time that the step took; "" where it
// has not begun.
func stateWord(l *look, run *agent.Run, s *agent.StepState) (string, lipgloss.Style) {
	switch {
	case halted(run, s):
		return "stopped", l.Warning
	case plain.Fruitless(s) != "":
		return "failed", l.Danger
	}
	switch s.Status {
	case agent.StepDone:
		switch {
		case s.DryGate != nil:
			return l.glyphs.Gate + " dry run", l.Warning
		case s.DryRun:
			return "dry run", l.Faint
		}
		return doneIn(s.MS), l.Faint
	case agent.StepActive:
		return ticking(l.since(s.StartedAt)), l.Running
	case agent.StepWaiting:
		return l.glyphs.Gate + " gate", l.Warning
	case agent.StepBroken:
		if s.Failure == event.FailureDenied {
			return "denied", l.Danger
		}
		return "failed", l.Danger
	case agent.StepLeftOut:
		return "skipped", l.Faint
	case agent.StepUncertain:
		return "in doubt", l.Warning
	default:
		return "", l.Faint
	}
}
