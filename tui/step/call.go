package step

import (
	"cmp"
	"strings"

	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/wording"
)

// drawCall draws the step, its dependencies and its expected outcome.
func drawCall(p *draw.SheetPage, run *agent.Run, shown *Subject, output output) {
	l, s := p.Styles, shown.Step
	p.Field("does", l.Text, wording.StepTool(&s.Step))
	removedBy := 0
	if shown.Kind == SubjectGone {
		removedBy = shown.Revision.Number
	}
	p.Field("state", l.Text, wording.StateSentence(run, s, removedBy, l.Since(s.StartedAt)))
	if shown.Kind == SubjectStep {
		if deps := dependencies(s); len(deps) > 0 {
			p.Field("after", l.Text, strings.Join(deps, ", "))
		}
	}
	drawItem(p, run, s)
	if s.Step.ForEach != nil {
		drawEach(p, s)
	}
	if s.Step.When != "" {
		p.Field("when", l.Text, untrusted.Line(s.Step.When))
	}
	if u := s.Step.Until; u != nil {
		p.Field("until", l.Text, wording.UntilWords(*u))
	}
	if title := wording.Milestone(run.Plan, s.Step.Index); title != "" {
		p.Field("stage", l.Text, title)
	}
	if s.Step.ExpectedOutcome != "" {
		output.drawExpected(&p.Document, s)
	}
	if _, item := s.Item(); s.Step.ResultVariable != "" && !item {
		p.Field("gives", l.Text, s.Step.ResultVariable)
	}
	if loop := s.Loop; loop != nil {
		words := english.Count(loop.Turns, "turn") + ", " + wording.CallsWords(run, loop)
		if loop.Tokens > 0 {
			words += ", " + wording.Tokens(loop.Tokens) + " tokens"
		}
		p.Field("so far", l.Text, words)
	}
	if s.Run != "" {
		p.Field("run", l.Text, s.Run)
	}
	if wording.IsDeclined(s) {
		return // its state says it
	}
	if failure := cmp.Or(s.Error, wording.FailureOf(s)); failure != "" {
		p.Field("error", l.Danger, draw.Clip(strings.TrimSpace(failure.Visible())))
	}
	if s.DryRun && s.DryGate != nil {
		p.Field("gate", l.Warning, wording.WouldWords(*s.DryGate)+": "+wording.RuleReason(*s.DryGate))
	}
}

// dependencies returns the direct dependencies of a step.
func dependencies(s *agent.StepState) []string {
	var out []string
	for _, dep := range s.Step.DependsOn {
		out = append(out, untrusted.Line(dep))
	}
	return out
}
