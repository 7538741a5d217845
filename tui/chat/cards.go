package chat

import (
	"fmt"
	"strings"

	"replan/agent"
	"replan/internal/english"
	"replan/tui/draw"
	"replan/tui/wording"
)

// Maximum number of lines of an expanded card; the step pane shows the rest.
const (
	mostOfCard = 24
	mostOfPlan = 40
)

// cardBlock returns a block for a model's call in the chat: one line, and a second
// one with the error if it failed. Expanded, the card shows the call and its
// result.
func cardBlock(l *draw.Styles, run *agent.Run, s *agent.StepState) *Block {
	fold := newFold(foldCard, false, func() bool { return len(wording.CallArgs(s)) > 0 || s.Result != nil || s.Error != "" })
	return &Block{live: true, card: true, fold: fold, until: func() bool { return s.Status.Ended() }, lay: func(width int) []draw.TextLine {
		glyph, style := draw.StateGlyph(l, run, s)
		state, how := draw.StateWord(l, run, s)
		tail := ""
		if state != "" {
			tail = "  " + how.Render(state)
		}
		if fold.turns("") {
			tail += fold.sign(l)
		}
		name := l.Cut(s.Step.Title.Line(), max(width-2, 1))
		line := style.Render(glyph) + " " + l.Text.Render(name)
		room := width - draw.VisibleWidth(line) - draw.VisibleWidth(tail) - 2
		if arg := wording.MainArgument(wording.CallArgs(s)); arg != "" && room > 3 {
			line += "  " + l.Muted.Render(l.Cut(arg, room))
		}
		lines := []draw.TextLine{{Text: l.Cut(line+tail, width), Lead: 2}}
		if fold.isOpen() {
			return append(lines, cardBody(l, s, width)...)
		}
		if failure := wording.FailureOf(s); failure != "" {
			const maxLines = 2
			why := l.AtMost(draw.Wrap(failure.FirstLine(), width-2), maxLines, width-2)
			lines = append(lines, draw.Set(draw.Paint(l.Muted, draw.Indent(why)))...)
		}
		return lines
	}}
}

// cardBody draws the complete call and its result.
func cardBody(l *draw.Styles, s *agent.StepState, width int) []draw.TextLine {
	d := &draw.Document{Styles: l, Width: max(width-2, 1)}
	if args := wording.CallArgs(s); len(args) > 0 {
		d.Object(args)
	}
	switch failure := wording.FailureOf(s); {
	case failure != "":
		d.Heading("error")
		d.Output(l.Danger, draw.Clip(strings.TrimSpace(failure.Visible())))
	case s.Status == agent.StepCompleted && s.Result != nil:
		d.Heading("result")
		lines, _ := resultExcerpt(l, s)(d.Width, max(mostOfCard-len(d.Lines)-1, linesFolded))
		d.Add(lines...)
	}
	return guided(l, draw.Set(l.Shorten(d.Whole(), mostOfCard, d.Width)))
}

// planSteps draws the current steps of a plan, one per line.
func planSteps(l *draw.Styles, run *agent.Run, width int) []draw.TextLine {
	var lines []string
	for i, s := range run.Steps {
		if more := len(run.Steps) - i; i == mostOfPlan && more > 1 {
			lines = append(lines, l.Faint.Render(l.Cut(english.Count(more, "more step")+" in the plan", width-2)))
			break
		}
		glyph, style := draw.StateGlyph(l, run, s)
		state, how := draw.StateWord(l, run, s)
		if s.Items != nil && s.Status == agent.StepRunning && run.Result == nil {
			state = fmt.Sprintf("%d/%d", s.EndedItems(), len(s.Items))
		}
		left := style.Render(glyph) + " " + l.Muted.Render(s.Step.Name()) + " " + s.Step.Title.Line()
		lines = append(lines, l.Sides(l.Cut(left, max(width-2-draw.VisibleWidth(state)-2, 8)), how.Render(state), max(width-2, 1)))
	}
	return guided(l, draw.Set(lines))
}
