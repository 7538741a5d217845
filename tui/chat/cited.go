package chat

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/internal/lazyregexp"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// bracketed matches the index of a step in brackets, as an answer names it after a claim.
var bracketed = lazyregexp.New(`\[\d+(?:\.\d+)*\]`)

// citation is the index of a step in a drawn line, in the cells from up to to.
type citation struct {
	step     string
	from, to int
}

// citations returns the steps that a drawn line names in brackets. An index after a word is
// that of a list.
func citations(line string) []citation {
	plain := ansi.Strip(line)
	var out []citation
	for _, at := range bracketed.FindAllStringIndex(plain, -1) {
		if before, _ := utf8.DecodeLastRuneInString(plain[:at[0]]); unicode.IsLetter(before) || unicode.IsDigit(before) || before == '_' || before == ')' {
			continue
		}
		from := ansi.StringWidth(plain[:at[0]])
		out = append(out, citation{plain[at[0]+1 : at[1]-1], from, from + at[1] - at[0]})
	}
	return out
}

// Clicked returns what a click on a cell of a line of the chat requests, nil for nothing.
// That is the action of the line, or the step that it names there in brackets. The step can
// be shown, or is one of another run.
func (c *Pane) Clicked(line draw.TextLine, column int) keymap.Request {
	if line.Action != "" {
		return keymap.DoAction(line.Action)
	}
	step, run := citedStep(line, column), c.state.Shown
	if step == "" || line.Run == "" || run == nil || line.Run == run.ID && run.Step(step) == nil {
		return nil
	}
	return keymap.ShowCited{Run: line.Run, Step: step}
}

// citedStep returns the step that a line of the chat names in brackets at a cell, "" if
// there is none.
func citedStep(line draw.TextLine, column int) string {
	for _, c := range citations(line.Text) {
		if c.from <= column && column < c.to {
			return c.step
		}
	}
	return ""
}

// nextCited returns the step that the answer of a run cites after another one, or the first
// that it cites; "" if it cites none.
func nextCited(run *agent.Run, after string) string {
	if run == nil {
		return ""
	}
	var steps []string
	for _, c := range citations(run.Synthesis.Text) {
		if run.Step(c.step) != nil && !slices.Contains(steps, c.step) {
			steps = append(steps, c.step)
		}
	}
	if len(steps) == 0 {
		return ""
	}
	return steps[(slices.Index(steps, after)+1)%len(steps)]
}

// cites reports whether the answer of the run in the plan pane cites a step.
func (c *Pane) cites() bool { return c.cited() != "" }

// cited returns the index of the step that the answer cites after the opened one, "" for
// none.
func (c *Pane) cited() string { return nextCited(c.state.Shown, c.state.Opened) }

// openCited opens the step that the answer cites after the opened one.
func (c *Pane) openCited() keymap.Requests { return keymap.Requests{keymap.ShowStep(c.cited())} }

// markCitations draws the steps of a run in brackets as links.
func markCitations(l *draw.Styles, lines []draw.TextLine, run string) []draw.TextLine {
	style := l.Accent.Underline(true)
	lines = slices.Clone(lines) // Markdown keeps them
	for i, line := range lines {
		var marks []draw.Mark
		for _, cited := range citations(line.Text) {
			marks = append(marks, draw.Mark{From: cited.from, To: cited.to, Style: style})
		}
		if len(marks) > 0 {
			lines[i].Text, lines[i].Run = draw.Restyle(line.Text, marks...), run
		}
	}
	return lines
}
