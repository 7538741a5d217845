package review

import (
	"strings"

	"replan/agent"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// stepPage describes the selected step: all that is known about it before it runs.
type stepPage struct {
	styles *draw.Styles
	keys   *keymap.Map
	tools  plan.Catalog
	doc    *draw.Document // nil until it is drawn again
	line   int            // first line in view
	height int            // lines in view
}

// setTools sets the tools that the plan may call.
func (p *stepPage) setTools(tools plan.Catalog) { p.tools = tools }

// redraw drops the drawing.
func (p *stepPage) redraw() { p.doc = nil }

// restart shows the start.
func (p *stepPage) restart() { p.line = 0 }

// scroll scrolls by lines.
func (p *stepPage) scroll(lines int) { p.line += lines }

// lines returns how many lines are in view.
func (p *stepPage) lines() int { return p.height }

// draw draws the selected step of a table in exactly height lines of a frame of width
// cells. It returns also which part of it is in view.
func (p *stepPage) draw(t *stepTable, reviewed plan.Plan, width, height int) (lines []string, place string) {
	p.height = height
	if p.doc == nil || p.doc.Width != width-4 {
		p.doc = &draw.Document{Styles: p.styles, Width: width - 4}
		s := t.chosen()
		p.write(p.doc, &s, t.chosenNeeds(), reviewed)
		p.doc.PlanNotes(reviewed, nil)
	}
	lines = draw.Padded(p.styles.Block(p.doc.Rows(&p.line, height), width-4, height))
	return lines, p.doc.Place(p.line, height)
}

// write writes all that is known about a step before it runs.
func (p *stepPage) write(doc *draw.Document, s *agent.ReviewStep, needs []string, reviewed plan.Plan) {
	l := p.styles
	server := ""
	if s.Gate != nil {
		server = s.Gate.Tool.Server
	}
	doc.Call(s.Step.Title.Line(), wording.StepTool(&s.Step), server, "")
	switch {
	case s.Out:
		doc.Field("out", l.Removed, "it will not run; "+p.keys.Shown("review.take_out")+" restores it")
	case s.Settled:
		doc.Field("stays", l.Muted, "it has already started")
	case s.Gate != nil:
		p.writeGate(doc, s)
	case s.Step.Executor == plan.ExecutorTool:
		doc.Field("gate", l.Faint, "none: it runs without asking")
	}
	if len(needs) > 0 {
		doc.Field("after", l.Text, strings.Join(needs, ", "))
	}
	if len(s.After) > 0 {
		doc.Field("moved", l.Accent, "it waits for "+strings.Join(s.After, ", ")+" because one of them was moved")
	}
	if s.Step.ExpectedOutcome != "" {
		doc.FieldLines("expects", func(width int) []string {
			return draw.Texts(draw.NewMarkdown(l).Lines(s.Step.ExpectedOutcome.Markdown(), width))
		})
	}
	if f := s.Step.ForEach; f != nil {
		doc.Field("for each", l.Text, wording.EachWords(f))
		doc.Field("items", l.Text, wording.EstimateWords(reviewed, f))
	}
	if s.Step.When != "" {
		doc.Field("when", l.Text, untrusted.Line(s.Step.When))
	}
	if u := s.Step.Until; u != nil {
		doc.Field("until", l.Text, wording.UntilWords(*u))
	}
	for _, c := range s.Step.Checks {
		doc.Field("check", l.Text, wording.CheckWords(c))
	}
	p.writeArgs(doc, s)
	if acceptance := reviewed.Acceptance; len(acceptance) > 0 {
		doc.Heading("the goal is met if")
		for _, c := range acceptance {
			doc.Prose(l.Text, wording.CheckWords(c))
		}
	}
}

// writeArgs writes the arguments of a step's call.
func (p *stepPage) writeArgs(doc *draw.Document, s *agent.ReviewStep) {
	l := p.styles
	if s.Step.Executor != plan.ExecutorTool {
		return
	}
	doc.Heading("arguments")
	doc.ShowExact()
	switch {
	case s.Step.Args == nil:
		doc.Prose(l.Muted, "A model writes its arguments when it is ready.")
	case s.Gate != nil && s.Gate.Closed == "":
		doc.Object(s.Gate.Args)
	default:
		doc.Object(s.Step.Args)
	}
}

// writeGate writes why the call needs an answer, and whether the user can give it
// now.
func (p *stepPage) writeGate(doc *draw.Document, s *agent.ReviewStep) {
	l, g := p.styles, s.Gate
	word := "asks"
	if g.Rule.Verdict == rule.VerdictBlock {
		word = "denied"
	}
	doc.Field(word, l.Text, g.Rule.Why.Visible())
	doc.Field("rule", l.Text, wording.RuleWords(g.Rule))
	switch {
	case g.Rule.Verdict == rule.VerdictBlock:
	case s.Passes:
		doc.Field("gate", l.Success, "approved, once, for exactly this call; "+p.keys.Shown("review.approve")+" takes it back")
	case g.Closed != "":
		doc.Field("gate", l.Muted, g.Closed.Visible())
	default:
		words := p.keys.Shown("review.approve") + " approves it for exactly this call"
		if g.Tool.Previews {
			words += "; its changes are shown only if it asks when it runs"
		}
		doc.Field("gate", l.Warning, words)
	}
	for _, from := range wording.TextSources(g.Provenance, p.tools) {
		doc.Field("beware", l.Warning, from)
	}
}
