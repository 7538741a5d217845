package review

import (
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

// stepTable is the steps of the reviewed plan as rows with lanes beside them. One of them is
// selected.
type stepTable struct {
	styles *draw.Styles
	steps  []agent.ReviewStep
	needs  [][]string        // dependencies of each step
	rails  *planlayout.Rails // one row per step
	limit  int               // number of lanes the rails are laid out with
	at     int               // selected step
	top    int               // first visible row
	body   int               // visible rows
	tall   bool              // the selected row has two lines
}

// set takes the steps of a plan, and keeps the selected one.
func (t *stepTable) set(review *agent.Review) {
	kept := ""
	if t.at < len(t.steps) {
		kept = t.chosen().Step.Index
	}
	t.steps, t.limit = review.Steps(), 0
	graph := plan.NewGraph(review.Plan())
	t.needs = make([][]string, len(t.steps))
	for i, s := range t.steps {
		if !s.Out {
			t.needs[i] = graph.Dependencies(s.Step.Index)
		}
		if s.Step.Index == kept {
			t.at = i
		}
	}
	t.at = max(min(t.at, len(t.steps)-1), 0)
}

// chosen returns the selected step.
func (t *stepTable) chosen() agent.ReviewStep { return t.steps[t.at] }

// chosenNeeds returns the dependencies of the selected step.
func (t *stepTable) chosenNeeds() []string { return t.needs[t.at] }

// count returns the number of steps.
func (t *stepTable) count() int { return len(t.steps) }

// place returns the position of the selected step.
func (t *stepTable) place() int { return t.at }

// choose selects a step, and reports whether it is another one.
func (t *stepTable) choose(i int) bool {
	i = max(min(i, len(t.steps)-1), 0)
	other := i != t.at
	t.at = i
	return other
}

// rowAt returns the step drawn at line y of the table.
func (t *stepTable) rowAt(y int) (i int, found bool) {
	i = y + t.top
	if t.tall && i > t.at {
		i--
	}
	return i, i >= t.top && i < min(t.top+t.body, len(t.steps))
}

// inView says which rows are in view.
func (t *stepTable) inView() string {
	return t.styles.Span(t.top, min(t.top+t.body, len(t.steps)), len(t.steps))
}

// layRails lays out the rails for a table of width cells.
func (t *stepTable) layRails(width int) {
	if t.limit == draw.LaneLimit(width) {
		return
	}
	t.limit = draw.LaneLimit(width)
	at := make(map[string]int, len(t.steps))
	deps := make(planlayout.Graph, len(t.steps))
	for i, s := range t.steps {
		at[s.Step.Index] = i
		for _, need := range t.needs[i] {
			if p, ok := at[need]; ok && p < i {
				deps[i] = append(deps[i], p)
			}
		}
	}
	t.rails = planlayout.NewRails(deps.Reduce(), t.limit)
}

// missing returns how many cells the longest title misses in a table of width cells.
func (t *stepTable) missing(width int) int {
	t.layRails(width)
	return t.columns(width).missing
}

// draw draws the visible rows, each exactly width cells wide, on height lines.
// The selected one takes two if its title needs them and there is room.
func (t *stepTable) draw(width, height int) []string {
	lines, c := height, t.columns(width)
	row, second := t.drawRow(t.at, c, height > 2)
	if t.tall = second != ""; t.tall {
		height--
	}
	t.body = height
	context := min(1, (height-1)/2)
	t.top = max(min(t.top, t.at-context), t.at+context-height+1)
	t.top = max(min(t.top, len(t.steps)-height), 0)
	out := make([]string, 0, lines)
	for at := t.top; at < min(t.top+height, len(t.steps)); at++ {
		switch {
		case at != t.at:
			other, _ := t.drawRow(at, c, false)
			out = append(out, other)
		case t.tall:
			out = append(out, row, second)
		default:
			out = append(out, row)
		}
	}
	return t.styles.Block(out, width, lines)
}

// tableColumns holds the column widths of a row, in cells, and the cells that the
// longest title misses.
type tableColumns struct {
	width, index, title, tool, state, missing int

	signs bool // the state is a sign
}

// columns returns the columns of rows of width cells. Titles get the room of the tool
// and of blank states first: the pane beside the rows shows both for the chosen step.
func (t *stepTable) columns(width int) tableColumns {
	const enough, leastTool = 24, 8 // cells of a title, and of a tool's name
	c := tableColumns{width: width}
	longest, widest, words := 0, 0, 0
	for i := range t.steps {
		c.index = max(c.index, min(ansi.StringWidth(t.steps[i].Step.Name()), 6))
		longest = max(longest, ansi.StringWidth(wording.StepTool(&t.steps[i].Step)))
		title := ansi.StringWidth(t.steps[i].Step.Title.Line()) + ansi.StringWidth(afterWords(&t.steps[i]))
		widest = max(widest, title)
		if g := t.steps[i].Gate; g != nil && g.Rule.Verdict != rule.VerdictBlock {
			c.state = len("asks later") // as wide as the sign and "approved"
		} else if g != nil {
			c.state = max(c.state, len("denied"))
		}
		word, _ := t.gateWord(&t.steps[i])
		words = max(words, ansi.StringWidth(word))
	}
	c.state = max(c.state, words)
	if width >= 56 {
		c.tool = min(longest, 16)
	}
	if width < 44 {
		c.state, c.signs = 2, true
	}
	c.title = width - 1 - 2 - t.rails.Width - 1 - c.index - 1 - c.state - 2 - 1
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
func (t *stepTable) drawRow(at int, c tableColumns, whole bool) (row, second string) {
	l, s := t.styles, t.steps[at]
	p := &draw.Painter{LitLine: l.Line(at == t.at, true), Lights: at == t.at}
	p.Start()
	if s.Edited && !s.Out {
		p.Add(l.Warning, l.Glyphs.Revised+" ")
	} else {
		p.Gap(2)
	}
	cells, mark := t.rails.Row(at), t.rails.Mark(at)
	l.Rail(p, cells[:mark], nil)
	glyph, style := t.sign(&s)
	p.Add(style, glyph)
	l.Rail(p, cells[mark+1:], nil)
	rest := t.drawStep(p, &s, c, whole)
	p.Gap(c.width - p.Width)
	row = l.Fit(p.Take(), c.width)
	if rest.Text == "" {
		return row, ""
	}
	p.Start()
	p.Gap(2)
	l.Rail(p, t.rails.Below(at), nil)
	p.Gap(1 + c.index + 1)
	p.Add(rest.Style, l.Cut(rest.Text, c.width-p.Width-1))
	p.Gap(c.width - p.Width)
	return row, l.Fit(p.Take(), c.width)
}

// drawStep draws the index, title, tool and gate of a step. If whole, it returns the
// rest of a title that does not fit.
func (t *stepTable) drawStep(p *draw.Painter, s *agent.ReviewStep, c tableColumns, whole bool) (rest draw.StepCell) {
	l := t.styles
	title, tool := l.Text, l.Faint
	switch {
	case s.Out:
		title, tool = l.Struck, l.Struck
	case s.Settled:
		title = l.Muted
	}
	text, tail := s.Step.Title.Line(), afterWords(s)
	columns := draw.StepColumns{Index: c.index, Title: c.title, Tool: c.tool}
	if ansi.StringWidth(text)+ansi.StringWidth(tail) > columns.Title {
		tail = l.Cut(tail, columns.Title/2)
	}
	text, rest.Text = l.BreakTitle(text, columns.Title-ansi.StringWidth(tail), whole)
	rest.Style = title
	p.Step(columns,
		draw.StepCell{Style: l.Muted, Text: s.Step.Name()}, draw.StepCell{Style: title, Text: text},
		draw.StepCell{Style: l.Accent, Text: tail}, draw.StepCell{Style: tool, Text: wording.StepTool(&s.Step)})
	word, style := t.gateWord(s)
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

// afterWords names the steps that s waits for because one of them was moved.
func afterWords(s *agent.ReviewStep) string {
	if len(s.After) == 0 {
		return ""
	}
	return " after " + untrusted.Line(strings.Join(s.After, ", "))
}

// sign returns the glyph and style for the state of a step.
func (t *stepTable) sign(s *agent.ReviewStep) (string, lipgloss.Style) {
	l := t.styles
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
func (t *stepTable) gateWord(s *agent.ReviewStep) (string, lipgloss.Style) {
	l := t.styles
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
