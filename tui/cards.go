package tui

import (
	"fmt"
	"strings"

	"replan/agent"
	"replan/tui/untrusted"
)

// The kinds of things that fold in the chat.
const (
	foldThinking = "thinking"
	foldCard     = "card"
)

// The most lines that an unfolded card shows: the step's own pane has the rest.
const (
	mostOfCard = 24
	mostOfPlan = 40
)

// foldsAs makes a block fold and unfold, and returns how it stands.
func (b *block) foldsAs(thing string, can func() bool) (unfolded *bool) {
	unfolded = new(bool)
	b.folds = &folding{thing: thing, can: can, open: func() bool { return *unfolded }, turn: func() { *unfolded = !*unfolded }}
	return unfolded
}

// foldSign shows whether something is unfolded, behind what it belongs to.
func foldSign(l *look, unfolded bool) string {
	if unfolded {
		return " " + l.Faint.Render(l.glyphs.Unfolded)
	}
	return " " + l.Faint.Render(l.glyphs.Folded)
}

// card draws a call that the model makes in the chat, on one line; where it
// failed, a second says why. Unfolded it shows the call and what it came to.
func (c *chatPane) card(run *agent.Run, s *agent.StepState) *block {
	b := &block{live: true, card: true, until: func() bool { return s.Status.Ended() }}
	can := func() bool { return len(callArgs(s)) > 0 || s.Result != nil || s.Error != "" }
	unfolded := b.foldsAs(foldCard, can)
	b.lay = func(width int) []textLine {
		l := c.look
		glyph, style := stateGlyph(l, run, s)
		state, how := stateWord(l, run, s)
		tail := ""
		if state != "" {
			tail = "  " + how.Render(state)
		}
		if can() {
			tail += foldSign(l, *unfolded)
		}
		name := l.cut(untrusted.Line(s.Step.Title), max(width-2, 1))
		line := style.Render(glyph) + " " + l.Text.Render(name)
		room := width - visibleWidth(line) - visibleWidth(tail) - 2
		if arg := mainArgument(callArgs(s)); arg != "" && room > 3 {
			line += "  " + l.Muted.Render(l.cut(arg, room))
		}
		lines := []textLine{{text: l.cut(line+tail, width), lead: 2}}
		if *unfolded {
			return append(lines, c.cardBody(s, width)...)
		}
		if failure := failureOf(s); failure != "" {
			const most = 2
			why := wrap(untrusted.FirstLine(failure), width-2)
			if len(why) > most {
				why = append(why[:most-1:most-1], l.cut(strings.Join(why[most-1:], " "), width-2))
			}
			lines = append(lines, set(paint(l.Muted, indent(why)))...)
		}
		return lines
	}
	return b
}

// cardBody draws a call whole, and what came of it.
func (c *chatPane) cardBody(s *agent.StepState, width int) []textLine {
	l := c.look
	d := &document{look: l, width: max(width-2, 1)}
	if args := callArgs(s); len(args) > 0 {
		d.object(args)
	}
	switch failure := failureOf(s); {
	case failure != "":
		d.heading("error")
		d.output(l.Danger, clip(strings.TrimSpace(failure)))
	case s.Status == agent.StepDone && s.Result != nil:
		d.heading("result")
		writeResult(d, s.Result)
	}
	lines := d.whole()
	if more := len(lines) - mostOfCard; more > 1 {
		lines = append(lines[:mostOfCard:mostOfCard], l.Faint.Render(l.cut(fmt.Sprintf("%d lines more", more), d.width)))
	}
	return c.guided(set(lines))
}

// writeResult adds what a call came to: text as it is, an object by its members.
func writeResult(d *document, result any) {
	switch result := result.(type) {
	case string:
		d.output(d.look.Text, clip(strings.TrimRight(result, "\n")))
	case map[string]any:
		d.object(result)
	default:
		text, _ := valueText(result)
		d.code(d.look.Text, text)
	}
}

// planSteps draws the steps of a plan as they stand, a line each.
func (c *chatPane) planSteps(run *agent.Run, width int) []textLine {
	l := c.look
	var lines []string
	for i, s := range run.Steps {
		if more := len(run.Steps) - i; i == mostOfPlan && more > 1 {
			lines = append(lines, l.Faint.Render(l.cut(fmt.Sprintf("%d steps more in the plan", more), width-2)))
			break
		}
		glyph, style := stateGlyph(l, run, s)
		state, how := stateWord(l, run, s)
		left := style.Render(glyph) + " " + l.Muted.Render(untrusted.Line(s.Step.Index)) + " " + untrusted.Line(s.Step.Title)
		lines = append(lines, l.sides(l.cut(left, max(width-2-visibleWidth(state)-2, 8)), how.Render(state), max(width-2, 1)))
	}
	return c.guided(set(lines))
}
