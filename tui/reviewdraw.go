package tui

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/agent/rule"
	"replan/planning/plan"
	planlayout "replan/planning/plan/layout"
	"replan/tui/plain"
	"replan/tui/untrusted"
)

// lay lays the plan out as it is now, and stays with the step that was chosen.
func (d *reviewDialog) lay() {
	kept := ""
	if d.at < len(d.steps) {
		kept = d.chosen().Step.Index
	}
	d.steps, d.doc, d.limit = d.review.Steps(), nil, 0
	graph := plan.NewGraph(d.review.Plan())
	d.parallel = planlayout.Parallel(graph)
	d.needs = make([][]string, len(d.steps))
	for i, s := range d.steps {
		if !s.Out {
			d.needs[i] = graph.Dependencies(s.Step.Index)
		}
		if s.Step.Index == kept {
			d.at = i
		}
	}
	d.at = max(min(d.at, len(d.steps)-1), 0)
}

// layRails lays out the rails for a pane of that width.
func (d *reviewDialog) layRails(width int) {
	if d.limit == laneLimit(width) {
		return
	}
	d.limit = laneLimit(width)
	at := make(map[string]int, len(d.steps))
	deps := make(planlayout.Graph, len(d.steps))
	for i, s := range d.steps {
		at[s.Step.Index] = i
		for _, need := range d.needs[i] {
			if p, ok := at[need]; ok && p < i {
				deps[i] = append(deps[i], p)
			}
		}
	}
	d.rails = planlayout.NewRails(deps.Reduce(), d.limit)
}

// draw draws the dialog in exactly height lines of screenWidth cells.
func (d *reviewDialog) draw(width, height int) []string {
	l := d.look
	if d.editor != nil {
		return l.block(d.drawEditor(width, height), width, height)
	}
	bar := d.bar(width)
	if width < wideFrom {
		return l.block(d.drawStacked(width, height, bar), width, height)
	}
	left := width * 11 / 20
	right := width - left
	bar = d.bar(left)
	rows := d.drawRows(left-2, max(height-3-len(bar), 1))
	title, note := d.title()
	plan := l.frame(left, l.Warning,
		section{title: title, note: note, lines: rows, style: l.Warning},
		section{lines: fitted(l, bar, left), style: l.Warning},
	)
	d.detail = max(height-2, 1)
	d.first = 1
	step := l.frame(right, l.Border, section{title: d.stepTitle(), lines: d.drawDetail(right, d.detail), note: d.doc.place(d.line, d.detail), style: l.Border})
	out := make([]string, 0, height)
	for i := range height {
		out = append(out, at(plan, i)+at(step, i))
	}
	return l.block(out, width, height)
}

// fitted makes lines of a frame of that width.
func fitted(l *look, lines []string, width int) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = l.fit(line, width-4)
	}
	return padded(out)
}

// drawStacked draws the plan over the step that is chosen.
func (d *reviewDialog) drawStacked(width, height int, bar []string) []string {
	l := d.look
	room := max(height-4-len(bar), 2)
	d.layRails(width - 2)
	body := max(min(len(d.steps), room*3/5), 1)
	d.detail = max(room-body, 1)
	rows := d.drawRows(width-2, body)
	title, note := d.title()
	d.first = 1
	return l.frame(width, l.Warning,
		section{title: title, note: note, lines: rows, style: l.Warning},
		section{title: d.stepTitle(), lines: d.drawDetail(width, d.detail), note: d.doc.place(d.line, d.detail), style: l.Warning},
		section{lines: fitted(l, bar, width), style: l.Warning},
	)
}

// title is the title of the dialog, and which of its rows are in view.
func (d *reviewDialog) title() (title, note string) {
	l := d.look
	words := "Review"
	if d.review.Revision > 1 {
		words = fmt.Sprintf("Review of rev %d", d.review.Revision)
	}
	title = l.Warning.Bold(true).Render(l.glyphs.Gate+" "+words) + l.Muted.Render(" "+l.glyphs.Separator+" "+untrusted.Line(d.review.Plan().Title))
	return title, l.span(d.top, min(d.top+d.body, len(d.steps)), len(d.steps))
}

func (d *reviewDialog) stepTitle() string {
	return d.look.Muted.Render(stepTitle(d.look, d.chosen().Step.Index))
}

// bar says what was changed, a word on the last key, or what is asked.
func (d *reviewDialog) bar(width int) []string {
	l := d.look
	most := 4
	lines := func(style lipgloss.Style, text string) []string {
		out := wrap(text, max(width-4, 1))
		if len(out) > most {
			out = append(out[:most-1], out[most-1]+l.glyphs.Ellipsis)
		}
		return paint(style, out)
	}
	switch {
	case d.grace && d.early:
		return lines(l.Warning, "That key came too early. Press it again.")
	case d.sure != nil:
		return lines(l.Warning, d.sure.text+"  "+d.keys.Yes.Help().Key+" yes  "+d.keys.No.Help().Key+" no")
	case d.word != "":
		return lines(l.Warning, d.word)
	}
	changed := strings.ReplaceAll(d.review.Changes().String(), "·", l.glyphs.Separator)
	if changed == "" {
		return lines(l.Faint, "Nothing is changed yet.")
	}
	return lines(l.Accent, changed)
}

// drawRows draws the rows in view, each exactly width cells wide.
func (d *reviewDialog) drawRows(width, height int) []string {
	d.layRails(width)
	d.body = height
	context := min(1, (height-1)/2)
	d.top = max(min(d.top, d.at-context), d.at+context-height+1)
	d.top = max(min(d.top, len(d.steps)-height), 0)
	c := d.columns(width)
	out := make([]string, height)
	for i := range out {
		if d.top+i < len(d.steps) {
			out[i] = d.drawRow(d.top+i, c)
		} else {
			out[i] = strings.Repeat(" ", max(width, 0))
		}
	}
	return out
}

// reviewColumns are the widths of the parts of a row.
type reviewColumns struct{ width, index, title, tool, parallel, state int }

func (d *reviewDialog) columns(width int) reviewColumns {
	c := reviewColumns{width: width, state: 10}
	longest, widest := 0, 0
	for i := range d.steps {
		c.index = max(c.index, min(ansi.StringWidth(untrusted.Line(d.steps[i].Step.Index)), 6))
		longest = max(longest, ansi.StringWidth(reviewTool(d.steps[i].Step)))
		title := ansi.StringWidth(untrusted.Line(d.steps[i].Step.Title)) + ansi.StringWidth(d.tail(&d.steps[i]))
		widest = max(widest, title)
	}
	if width >= 56 {
		c.tool = min(longest, 16)
	}
	if width < 44 {
		c.state = 2
	}
	c.title = width - 1 - 2 - railsWidth(d.rails) - 1 - 1 - c.index - 1 - c.state - 2 - 1
	if c.tool > 0 {
		c.title -= c.tool + 2
	}
	c.parallel = d.look.parallelWidth(d.parallel)
	c.title -= c.parallel
	c.title = max(min(c.title, widest), 4)
	return c
}

// reviewTool names what carries a step out.
func reviewTool(s plan.Step) string {
	switch s.Executor {
	case plan.ExecutorTool:
		return untrusted.Line(s.Tool)
	case plan.ExecutorAgent:
		return "agent " + untrusted.Line(s.Profile)
	default:
		return "model"
	}
}

func (d *reviewDialog) drawRow(at int, c reviewColumns) string {
	l, s := d.look, d.steps[at]
	p := &painter{litLine: l.line(at == d.at, true)}
	p.b.WriteString(p.cursor)
	p.width = 1
	if s.Edited && !s.Out {
		p.add(l.Warning, l.glyphs.Revised+" ")
	} else {
		p.gap(2)
	}
	var rail strings.Builder
	for _, cell := range d.rails.Row(at) {
		rail.WriteString(l.glyphs.Lanes.Cell(cell.Sides))
	}
	p.add(l.Border, rail.String())
	p.gap(railsWidth(d.rails) - d.rails.Width)
	glyph, style := d.sign(&s)
	p.add(style, glyph)
	d.drawStep(p, &s, c)
	p.gap(c.width - p.width)
	return l.fit(p.take(), c.width)
}

// drawStep draws index, title, tool and gate of a step.
func (d *reviewDialog) drawStep(p *painter, s *agent.ReviewStep, c reviewColumns) {
	l := d.look
	title, tool := l.Text, l.Faint
	switch {
	case s.Out:
		title, tool = l.Struck, l.Struck
	case s.Settled:
		title = l.Muted
	}
	number := l.cut(untrusted.Line(s.Step.Index), c.index)
	p.gap(1 + c.index - ansi.StringWidth(number))
	p.add(l.Muted, number)
	p.gap(1)
	text, tail := untrusted.Line(s.Step.Title), d.tail(s)
	if ansi.StringWidth(text)+ansi.StringWidth(tail) > c.title {
		tail = l.cut(tail, c.title/2)
	}
	text = l.cut(text, c.title-ansi.StringWidth(tail))
	p.add(title, text)
	p.add(l.Accent, tail)
	p.gap(c.title - ansi.StringWidth(text) - ansi.StringWidth(tail))
	if c.tool > 0 {
		name := l.cut(reviewTool(s.Step), c.tool)
		p.gap(2)
		p.add(tool, name)
		p.gap(c.tool - ansi.StringWidth(name))
	}
	l.paintParallel(p, c.parallel, !s.Out && d.parallel[s.Step.Index])
	word, style := d.gateWord(s)
	if c.state < 4 {
		word = ""
		if s.Passes {
			word = l.glyphs.Done
		}
	}
	p.gap(2)
	word = l.cut(word, c.state)
	p.add(style, word)
}

// tail says what a step waits for since it, or that, was moved.
func (d *reviewDialog) tail(s *agent.ReviewStep) string {
	if len(s.After) == 0 {
		return ""
	}
	return " after " + untrusted.Line(strings.Join(s.After, ", "))
}

// sign is how a step stands, in a sign.
func (d *reviewDialog) sign(s *agent.ReviewStep) (string, lipgloss.Style) {
	l := d.look
	switch {
	case s.Out:
		return l.glyphs.Removed, l.Removed
	case s.Settled:
		return stateGlyph(l, nil, &agent.StepState{Status: s.Status})
	case s.Gate != nil && s.Gate.Rule.Verdict == rule.VerdictBlock:
		return l.glyphs.Failed, l.Danger
	case s.Gate != nil && s.Passes:
		return l.glyphs.Gate, l.Success
	case s.Gate != nil:
		return l.glyphs.Gate, l.Warning
	default:
		return l.glyphs.Pending, l.Muted
	}
}

// gateWord says what its gate would do.
func (d *reviewDialog) gateWord(s *agent.ReviewStep) (string, lipgloss.Style) {
	l := d.look
	switch {
	case s.Out:
		return "out", l.Faint
	case s.Settled:
		return "stays", l.Faint
	case s.Gate == nil:
		return "", l.Faint
	case s.Gate.Rule.Verdict == rule.VerdictBlock:
		return "denied", l.Danger
	case s.Passes:
		return l.glyphs.Done + " approved", l.Success
	case s.Gate.Closed != "":
		return "asks later", l.Muted
	default:
		return "asks", l.Warning
	}
}

// drawDetail draws the chosen step in exactly height lines of a frame of that
// width.
func (d *reviewDialog) drawDetail(width, height int) []string {
	if d.doc == nil || d.doc.width != width-4 {
		d.doc = &document{look: d.look, width: width - 4}
		s := d.chosen()
		d.write(d.doc, &s)
		d.doc.planNotes(d.review.Plan())
	}
	return padded(d.look.block(d.doc.rows(&d.line, height), width-4, height))
}

// write writes all there is to know of a step before it runs.
func (d *reviewDialog) write(doc *document, s *agent.ReviewStep) {
	l := d.look
	server := ""
	if s.Gate != nil {
		server = s.Gate.Tool.Server
	}
	doc.call(untrusted.Line(s.Step.Title), reviewTool(s.Step), server, "")
	switch {
	case s.Out:
		doc.field("out", l.Removed, "it will not run; "+d.keys.TakeOut.Help().Key+" brings it back")
	case s.Settled:
		doc.field("stays", l.Muted, "it was carried out already, or is under way")
	case s.Gate != nil:
		d.writeGate(doc, s)
	case s.Step.Executor == plan.ExecutorTool:
		doc.field("gate", l.Faint, "none: it runs unasked")
	}
	if needs := d.needs[d.at]; len(needs) > 0 {
		doc.field("after", l.Text, strings.Join(needs, ", "))
	}
	if len(s.After) > 0 {
		doc.field("moved", l.Accent, "it waits for "+strings.Join(s.After, ", ")+" since one of them was moved")
	}
	if s.Step.ExpectedOutcome != "" {
		doc.field("expects", l.Text, s.Step.ExpectedOutcome)
	}
	if s.Step.Executor != plan.ExecutorTool {
		return
	}
	doc.heading("the whole call")
	switch {
	case s.Step.Args == nil:
		doc.prose(l.Muted, "A model writes its arguments when it is ready.")
	case s.Gate != nil && s.Gate.Closed == "":
		doc.object(s.Gate.Args)
	default:
		doc.object(s.Step.Args)
	}
}

// writeGate writes why the call would ask, and whether that can be answered now.
func (d *reviewDialog) writeGate(doc *document, s *agent.ReviewStep) {
	l, g := d.look, s.Gate
	word := "asks"
	if g.Rule.Verdict == rule.VerdictBlock {
		word = "denied"
	}
	doc.field(word, l.Text, g.Rule.Why)
	doc.field("rule", l.Text, plain.Rule(g.Rule))
	switch {
	case g.Rule.Verdict == rule.VerdictBlock:
	case s.Passes:
		doc.field("gate", l.Success, "approved, once, for exactly this call; "+d.keys.PassGate.Help().Key+" takes it back")
	case g.Closed != "":
		doc.field("gate", l.Muted, g.Closed)
	default:
		words := d.keys.PassGate.Help().Key + " approves it for exactly this call"
		if g.Tool.Previews {
			words += "; what it would change is only shown if it asks when it runs"
		}
		doc.field("gate", l.Warning, words)
	}
	for _, from := range textSources(g.Provenance, d.tools) {
		doc.field("beware", l.Warning, from.words)
	}
}
