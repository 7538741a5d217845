package chat

import (
	"fmt"
	"strings"

	"replan/agent"
	"replan/internal/english"
	"replan/tui/draw"
	"replan/tui/wording"
)

// Kinds of blocks that collapse in the chat.
const (
	foldThinking = "thinking"
	foldCard     = "card"
)

// Maximum number of lines of an expanded card; the step pane shows the rest.
const (
	mostOfCard = 24
	mostOfPlan = 40
)

// foldsAs makes a block collapsible and returns a pointer to its state.
func (b *Block) foldsAs(thing string, can func() bool) (unfolded *bool) {
	unfolded = new(bool)
	b.folds = &folding{thing: thing, can: can, open: func() bool { return *unfolded }, turn: func() { *unfolded = !*unfolded }}
	return unfolded
}

// foldSign returns the sign that follows an expanded or collapsed title.
func foldSign(l *draw.Styles, unfolded bool) string {
	if unfolded {
		return " " + l.Faint.Render(l.Glyphs.Unfolded)
	}
	return " " + l.Faint.Render(l.Glyphs.Folded)
}

// card returns a block for a model's call in the chat: one line, and a second
// one with the error if it failed. Expanded, the card shows the call and its
// result.
func (c *Pane) card(run *agent.Run, s *agent.StepState) *Block {
	b := &Block{live: true, card: true, until: func() bool { return s.Status.Ended() }}
	can := func() bool { return len(wording.CallArgs(s)) > 0 || s.Result != nil || s.Error != "" }
	unfolded := b.foldsAs(foldCard, can)
	b.lay = func(width int) []draw.TextLine {
		l := c.Styles
		glyph, style := draw.StateGlyph(l, run, s)
		state, how := draw.StateWord(l, run, s)
		tail := ""
		if state != "" {
			tail = "  " + how.Render(state)
		}
		if can() {
			tail += foldSign(l, *unfolded)
		}
		name := l.Cut(s.Step.Title.Line(), max(width-2, 1))
		line := style.Render(glyph) + " " + l.Text.Render(name)
		room := width - draw.VisibleWidth(line) - draw.VisibleWidth(tail) - 2
		if arg := wording.MainArgument(wording.CallArgs(s)); arg != "" && room > 3 {
			line += "  " + l.Muted.Render(l.Cut(arg, room))
		}
		lines := []draw.TextLine{{Text: l.Cut(line+tail, width), Lead: 2}}
		if *unfolded {
			return append(lines, c.cardBody(s, width)...)
		}
		if failure := wording.FailureOf(s); failure != "" {
			const maxLines = 2
			why := l.AtMost(draw.Wrap(failure.FirstLine(), width-2), maxLines, width-2)
			lines = append(lines, draw.Set(draw.Paint(l.Muted, draw.Indent(why)))...)
		}
		return lines
	}
	return b
}

// cardBody draws the complete call and its result.
func (c *Pane) cardBody(s *agent.StepState, width int) []draw.TextLine {
	l := c.Styles
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
		writeResult(d, s.Result)
	}
	return c.guided(draw.Set(l.Shorten(d.Whole(), mostOfCard, d.Width)))
}

// writeResult adds the result of a call: text as it is, an object by its
// members.
func writeResult(d *draw.Document, result any) {
	if text, ok := wording.ResultText(result); ok {
		result = text
	}
	switch result := result.(type) {
	case string:
		d.Output(d.Styles.Text, draw.Clip(strings.TrimRight(result, "\n")))
	case map[string]any:
		d.Object(result)
	default:
		text, _ := wording.ValueText(result)
		d.Code(d.Styles.Text, text)
	}
}

// planSteps draws the current steps of a plan, one per line.
func (c *Pane) planSteps(run *agent.Run, width int) []draw.TextLine {
	l := c.Styles
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
	return c.guided(draw.Set(lines))
}

// narrateCalls adds a card for each call that has none.
func (n *Narrator) narrateCalls() {
	if n.run.Chat == nil {
		return
	}
	for ; n.cards < len(n.run.Chat.Calls); n.cards++ {
		card := n.pane.card(n.run, n.run.Chat.Calls[n.cards])
		card.Gap = n.cards == 0 || !n.pane.endsInCard()
		n.add(card)
	}
}
