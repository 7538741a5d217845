package step

import (
	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
)

// drawChecks draws the checks of the step, and what each saw.
func drawChecks(p *draw.Document, run *agent.Run, s *agent.StepState) {
	l := p.Styles
	if s.Step.ForEach != nil && len(s.Step.Checks) > 0 {
		drawItemChecks(p, s)
		return
	}
	checks := agent.ChecksOf(s.Step)
	if len(checks) == 0 {
		words := "This step only reads, and has no check."
		if run.StateOf(s) == plan.StateClaimed || s.Status != agent.StepCompleted {
			words = "No check covers this step."
		}
		p.Prose(l.Faint, words)
		return
	}
	for i, check := range checks {
		found := event.CheckCompleted{State: plan.StateUnchecked}
		if i < len(s.Checked) {
			found = s.Checked[i]
		}
		if i > 0 {
			p.Add("")
		}
		glyph, style := draw.EvidenceGlyph(l, found.State)
		p.Prose(style, glyph+" "+string(found.State)+": "+check.Name())
		p.Field("expects", l.Text, untrusted.Line(check.Expect))
		if check.Tool != "" {
			args := found.Args
			if args == nil {
				args = check.Args
			}
			p.Field("calls", l.Text, untrusted.Line(check.Tool+" "+plan.CanonicalJSON(args)))
		}
		for _, sight := range found.Saw {
			p.Field("saw", l.Text, untrusted.Line(sight.Path+" is "+plan.CanonicalJSON(sight.Value)))
		}
		if found.Reason != "" {
			p.Field("why", style, found.Reason.Line())
		}
	}
}
