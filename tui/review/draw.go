package review

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
	planlayout "replan/planning/plan/layout"
	"replan/tui/draw"
	"replan/tui/wording"
)

// lay lays out the current plan and keeps the selected step.
func (d *Dialog) lay() {
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

// layRails lays out the rails for a pane of width cells.
func (d *Dialog) layRails(width int) {
	if d.limit == draw.LaneLimit(width) {
		return
	}
	d.limit = draw.LaneLimit(width)
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

// View draws the dialog on exactly size.H lines of size.W cells.
func (d *Dialog) View(size draw.Rect) []string {
	l, width, height := d.styles, size.W, size.H
	if d.editor != nil {
		return l.Block(d.drawEditor(width, height), width, height)
	}
	bar := d.bar(width)
	if width < draw.WideFrom {
		return l.Block(d.drawStacked(width, height, bar), width, height)
	}
	left := width * 11 / 20
	d.layRails(left - 2)
	left += max(min(d.columns(left-2).missing, width*13/20-left), 0)
	right := width - left
	bar = d.bar(left)
	rows := d.drawRows(left-2, max(height-3-len(bar), 1))
	title, note := d.title()
	plan := l.Frame(left, l.Warning,
		draw.Section{Title: title, Note: note, Lines: rows, Style: l.Warning},
		draw.Section{Lines: fitted(l, bar, left), Style: l.Warning},
	)
	d.detail = max(height-2, 1)
	d.first = 1
	step := l.Frame(right, l.Border, draw.Section{Title: d.stepTitle(), Lines: d.drawDetail(right, d.detail), Note: d.doc.Place(d.line, d.detail), Style: l.Border})
	out := make([]string, 0, height)
	for i := range height {
		out = append(out, draw.At(plan, i)+draw.At(step, i))
	}
	return l.Block(out, width, height)
}

// fitted fits lines into a frame of width cells.
func fitted(l *draw.Styles, lines []string, width int) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = l.Fit(line, width-4)
	}
	return draw.Padded(out)
}

// drawStacked draws the plan above the selected step.
func (d *Dialog) drawStacked(width, height int, bar []string) []string {
	l := d.styles
	room := max(height-4-len(bar), 2)
	d.layRails(width - 2)
	lines := len(d.steps)
	if d.columns(width-2).missing > 0 {
		lines++ // the selected row may take two
	}
	body := max(min(lines, room*3/5), 1)
	d.detail = max(room-body, 1)
	rows := d.drawRows(width-2, body)
	title, note := d.title()
	d.first = 1
	return l.Frame(width, l.Warning,
		draw.Section{Title: title, Note: note, Lines: rows, Style: l.Warning},
		draw.Section{Title: d.stepTitle(), Lines: d.drawDetail(width, d.detail), Note: d.doc.Place(d.line, d.detail), Style: l.Warning},
		draw.Section{Lines: fitted(l, bar, width), Style: l.Warning},
	)
}

// title returns the title of the dialog and the range of visible rows.
func (d *Dialog) title() (title, note string) {
	l := d.styles
	words := "Review"
	if d.review.Revision > 1 {
		words = fmt.Sprintf("Review of rev %d", d.review.Revision)
	}
	title = l.Warning.Bold(true).Render(l.Glyphs.Gate+" "+words) + l.Muted.Render(" "+l.Glyphs.Separator+" "+d.review.Plan().Title.Line())
	return title, l.Span(d.top, min(d.top+d.body, len(d.steps)), len(d.steps))
}

func (d *Dialog) stepTitle() string {
	return d.styles.Muted.Render(draw.StepTitle(d.styles, d.chosen().Step.Index))
}

// bar shows the changes, a message about the last key, or a question.
func (d *Dialog) bar(width int) []string {
	l := d.styles
	maxLines := 4
	lines := func(style lipgloss.Style, text string) []string {
		out := draw.Wrap(text, max(width-4, 1))
		if len(out) > maxLines {
			out = append(out[:maxLines-1], out[maxLines-1]+l.Glyphs.Ellipsis)
		}
		return draw.Paint(style, out)
	}
	switch {
	case d.confirm != nil:
		return lines(l.Warning, d.confirm.text+"  "+d.keys.Shown("quit.yes")+" yes  "+d.keys.Shown("quit.no")+" no")
	case d.word != "":
		return lines(l.Warning, d.word)
	}
	changed := strings.ReplaceAll(d.review.Changes().String(), "·", l.Glyphs.Separator)
	if changed == "" {
		return lines(l.Faint, "No edits yet.")
	}
	return lines(l.Accent, changed)
}

// drawRows draws the visible rows, each exactly width cells wide, on height lines.
// The selected one takes two if its title needs them and there is room.
func (d *Dialog) drawRows(width, height int) []string {
	lines, c := height, d.columns(width)
	row, second := d.drawRow(d.at, c, height > 2)
	if d.tall = second != ""; d.tall {
		height--
	}
	d.body = height
	context := min(1, (height-1)/2)
	d.top = max(min(d.top, d.at-context), d.at+context-height+1)
	d.top = max(min(d.top, len(d.steps)-height), 0)
	out := make([]string, 0, lines)
	for at := d.top; at < min(d.top+height, len(d.steps)); at++ {
		switch {
		case at != d.at:
			other, _ := d.drawRow(at, c, false)
			out = append(out, other)
		case d.tall:
			out = append(out, row, second)
		default:
			out = append(out, row)
		}
	}
	return d.styles.Block(out, width, lines)
}

// reviewColumns holds the column widths of a row, in cells, and the cells that the
// longest title misses.
type reviewColumns struct {
	width, index, title, tool, parallel, state, missing int

	signs bool // the state is a sign
}

// columns returns the columns of rows of width cells. Titles get the room of the tool
// and of blank states first: the pane beside the rows shows both for the chosen step.
func (d *Dialog) columns(width int) reviewColumns {
	const enough, leastTool = 24, 8 // cells of a title, and of a tool's name
	c := reviewColumns{width: width}
	longest, widest, words := 0, 0, 0
	for i := range d.steps {
		c.index = max(c.index, min(ansi.StringWidth(d.steps[i].Step.Name()), 6))
		longest = max(longest, ansi.StringWidth(wording.StepTool(&d.steps[i].Step)))
		title := ansi.StringWidth(d.steps[i].Step.Title.Line()) + ansi.StringWidth(d.tail(&d.steps[i]))
		widest = max(widest, title)
		if g := d.steps[i].Gate; g != nil && g.Rule.Verdict != rule.VerdictBlock {
			c.state = len("asks later") // as wide as the sign and "approved"
		} else if g != nil {
			c.state = max(c.state, len("denied"))
		}
		word, _ := d.gateWord(&d.steps[i])
		words = max(words, ansi.StringWidth(word))
	}
	c.state = max(c.state, words)
	if width >= 56 {
		c.tool = min(longest, 16)
	}
	if width < 44 {
		c.state, c.signs = 2, true
	}
	c.parallel = d.styles.ParallelWidth(d.parallel)
	c.title = width - 1 - 2 - draw.RailsWidth(d.rails) - 1 - 1 - c.index - 1 - c.state - 2 - 1 - c.parallel
	if c.tool > 0 {
		c.title -= c.tool + 2
	}
	if least := min(widest, enough); c.title < least && !c.signs {
		c.title, c.state = c.title+c.state-words, words
		switch shorter := c.tool - (least - c.title); {
		case c.tool == 0 || c.title >= least:
		case shorter < leastTool:
			c.title, c.tool = c.title+c.tool+2, 0
		default:
			c.title, c.tool = least, shorter
		}
	}
	c.missing = widest - c.title
	c.title = max(min(c.title, widest), 4)
	return c
}

// drawRow draws a row, and if whole the rest of a title that does not fit as a
// second one.
func (d *Dialog) drawRow(at int, c reviewColumns, whole bool) (row, second string) {
	l, s := d.styles, d.steps[at]
	p := &draw.Painter{LitLine: l.Line(at == d.at, true), Lights: at == d.at}
	p.Start()
	if s.Edited && !s.Out {
		p.Add(l.Warning, l.Glyphs.Revised+" ")
	} else {
		p.Gap(2)
	}
	d.drawRail(p, d.rails.Row(at))
	glyph, style := d.sign(&s)
	p.Add(style, glyph)
	rest := d.drawStep(p, &s, c, whole)
	p.Gap(c.width - p.Width)
	row = l.Fit(p.Take(), c.width)
	if rest.Text == "" {
		return row, ""
	}
	p.Start()
	p.Gap(2)
	d.drawRail(p, d.rails.Below(at))
	p.Gap(1 + 1 + c.index + 1)
	p.Add(rest.Style, l.Cut(rest.Text, c.width-p.Width-1))
	p.Gap(c.width - p.Width)
	return row, l.Fit(p.Take(), c.width)
}

// drawRail draws the lanes of a row.
func (d *Dialog) drawRail(p *draw.Painter, cells []planlayout.Cell) {
	var rail strings.Builder
	for _, cell := range cells {
		rail.WriteString(d.styles.Glyphs.Lanes.Cell(cell.Sides))
	}
	p.Add(d.styles.Border, rail.String())
	p.Gap(draw.RailsWidth(d.rails) - d.rails.Width)
}

// drawStep draws the index, title, tool and gate of a step. If whole, it returns the
// rest of a title that does not fit.
func (d *Dialog) drawStep(p *draw.Painter, s *agent.ReviewStep, c reviewColumns, whole bool) (rest draw.StepCell) {
	l := d.styles
	title, tool := l.Text, l.Faint
	switch {
	case s.Out:
		title, tool = l.Struck, l.Struck
	case s.Settled:
		title = l.Muted
	}
	text, tail := s.Step.Title.Line(), d.tail(s)
	columns := draw.StepColumns{Index: c.index, Title: c.title, Tool: c.tool}
	if ansi.StringWidth(text)+ansi.StringWidth(tail) > columns.Title {
		tail = l.Cut(tail, columns.Title/2)
	}
	text, rest.Text = l.BreakTitle(text, columns.Title-ansi.StringWidth(tail), whole)
	rest.Style = title
	p.Step(columns,
		draw.StepCell{Style: l.Muted, Text: s.Step.Name()}, draw.StepCell{Style: title, Text: text},
		draw.StepCell{Style: l.Accent, Text: tail}, draw.StepCell{Style: tool, Text: wording.StepTool(&s.Step)})
	l.PaintParallel(p, c.parallel, !s.Out && d.parallel[s.Step.Index])
	word, style := d.gateWord(s)
	if c.signs {
		word = ""
		if s.Passes {
			word = l.Glyphs.Done
		}
	}
	p.Gap(2)
	word = l.Cut(word, c.state)
	p.Add(style, word)
	return rest
}

// tail names the steps that s waits for because one of them was moved.
func (d *Dialog) tail(s *agent.ReviewStep) string {
	if len(s.After) == 0 {
		return ""
	}
	return " after " + untrusted.Line(strings.Join(s.After, ", "))
}

// sign returns the glyph and style for the state of a step.
func (d *Dialog) sign(s *agent.ReviewStep) (string, lipgloss.Style) {
	l := d.styles
	switch {
	case s.Out:
		return l.Glyphs.Removed, l.Removed
	case s.Settled:
		return draw.StateGlyph(l, nil, &agent.StepState{Status: s.Status})
	case s.Gate != nil && s.Gate.Rule.Verdict == rule.VerdictBlock:
		return l.Glyphs.Failed, l.Danger
	case s.Gate != nil && s.Passes:
		return l.Glyphs.Gate, l.Success
	case s.Gate != nil:
		return l.Glyphs.Gate, l.Warning
	default:
		return l.Glyphs.Pending, l.Muted
	}
}

// gateWord says what the step's gate would do.
func (d *Dialog) gateWord(s *agent.ReviewStep) (string, lipgloss.Style) {
	l := d.styles
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
		return l.Glyphs.Done + " approved", l.Success
	case s.Gate.Closed != "":
		return "asks later", l.Muted
	default:
		return "asks", l.Warning
	}
}

// drawDetail draws the selected step in exactly height lines of a frame of width
// cells.
func (d *Dialog) drawDetail(width, height int) []string {
	if d.doc == nil || d.doc.Width != width-4 {
		d.doc = &draw.Document{Styles: d.styles, Width: width - 4}
		s := d.chosen()
		d.write(d.doc, &s)
		d.doc.PlanNotes(d.review.Plan(), nil)
	}
	return draw.Padded(d.styles.Block(d.doc.Rows(&d.line, height), width-4, height))
}

// write writes all that is known about a step before it runs.
func (d *Dialog) write(doc *draw.Document, s *agent.ReviewStep) {
	l := d.styles
	server := ""
	if s.Gate != nil {
		server = s.Gate.Tool.Server
	}
	doc.Call(s.Step.Title.Line(), wording.StepTool(&s.Step), server, "")
	switch {
	case s.Out:
		doc.Field("out", l.Removed, "it will not run; "+d.keys.Shown("review.take_out")+" restores it")
	case s.Settled:
		doc.Field("stays", l.Muted, "it has already started")
	case s.Gate != nil:
		d.writeGate(doc, s)
	case s.Step.Executor == plan.ExecutorTool:
		doc.Field("gate", l.Faint, "none: it runs without asking")
	}
	if needs := d.needs[d.at]; len(needs) > 0 {
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
		doc.Field("items", l.Text, wording.EstimateWords(d.review.Plan(), f))
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
	d.writeArgs(doc, s)
	if acceptance := d.review.Plan().Acceptance; len(acceptance) > 0 {
		doc.Heading("the goal is met if")
		for _, c := range acceptance {
			doc.Prose(l.Text, wording.CheckWords(c))
		}
	}
}

// writeArgs writes the arguments of a step's call.
func (d *Dialog) writeArgs(doc *draw.Document, s *agent.ReviewStep) {
	l := d.styles
	if s.Step.Executor != plan.ExecutorTool {
		return
	}
	doc.Heading("arguments")
	doc.Exact = true
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
func (d *Dialog) writeGate(doc *draw.Document, s *agent.ReviewStep) {
	l, g := d.styles, s.Gate
	word := "asks"
	if g.Rule.Verdict == rule.VerdictBlock {
		word = "denied"
	}
	doc.Field(word, l.Text, g.Rule.Why.Visible())
	doc.Field("rule", l.Text, wording.RuleWords(g.Rule))
	switch {
	case g.Rule.Verdict == rule.VerdictBlock:
	case s.Passes:
		doc.Field("gate", l.Success, "approved, once, for exactly this call; "+d.keys.Shown("review.approve")+" takes it back")
	case g.Closed != "":
		doc.Field("gate", l.Muted, g.Closed.Visible())
	default:
		words := d.keys.Shown("review.approve") + " approves it for exactly this call"
		if g.Tool.Previews {
			words += "; its changes are shown only if it asks when it runs"
		}
		doc.Field("gate", l.Warning, words)
	}
	for _, from := range wording.TextSources(g.Provenance, d.tools) {
		doc.Field("beware", l.Warning, from)
	}
}
