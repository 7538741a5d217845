package step

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/wording"
)

// drawEach draws the list of a step that runs for each item, and how far it is.
func drawEach(p *draw.SheetPage, s *agent.StepState) {
	l := p.Styles
	p.Field("for each", l.Text, wording.EachWords(s.Step.ForEach))
	if s.Items != nil {
		name := "so far"
		if s.Status.Ended() {
			name = "items"
		}
		p.Field(name, l.Text, wording.ItemsWords(s))
	}
}

// drawItem draws the value of an item and its place in the list.
func drawItem(p *draw.SheetPage, run *agent.Run, s *agent.StepState) {
	value, ok := s.Item()
	if !ok {
		return
	}
	text, isText := value.(string)
	if !isText {
		text = wording.JSONText(value, "")
	}
	name := plan.DefaultAs
	if of := run.Step(s.Parent); of != nil && of.Step.ForEach != nil {
		name = of.Step.ForEach.As
		if at := slices.Index(of.Items, s); at >= 0 {
			p.Field("index", p.Styles.Text, fmt.Sprintf("%d (from 0 to %d)", at, len(of.Items)-1))
		}
	}
	p.Field(untrusted.Line(name), p.Styles.Text, draw.Clip(strings.TrimSpace(untrusted.Visible(text))))
}

// drawItems draws the items of a step, a line each.
func drawItems(p *draw.SheetPage, run *agent.Run, s *agent.StepState) {
	p.Add("")
	switch {
	case s.Items == nil && s.Status.Ended():
		p.Prose(p.Styles.Faint, "It ended before its items began.")
	case s.Items == nil:
		p.Prose(p.Styles.Faint, "Its items are known once it starts.")
	case len(s.Items) == 0:
		p.Prose(p.Styles.Faint, "Its list is empty.")
	default:
		p.Put(itemList{p.Styles, run, s})
	}
}

// itemList is a leaf with a line for each item of a step, drawn as it comes into view.
type itemList struct {
	styles *draw.Styles
	run    *agent.Run
	of     *agent.StepState
}

// Count returns the number of items.
func (f itemList) Count() int { return len(f.of.Items) }

// Rows returns the line of item i.
func (f itemList) Rows(i, width int) []string {
	l, run, s := f.styles, f.run, f.of.Items[i]
	glyph, style := draw.StateGlyph(l, run, s)
	words, tone := draw.StateWord(l, run, s)
	number := strings.Repeat(" ", max(len(f.of.Items[len(f.of.Items)-1].Step.Index)-len(s.Step.Index), 0)) + s.Step.Name()
	head := style.Render(glyph) + " " + l.Muted.Render(number) + " "
	room := max(width-draw.VisibleWidth(head)-ansi.StringWidth(words)-2, 0)
	title := l.Cut(wording.InnerTitle(s, f.of), room)
	line := l.Text.Render(title)
	if why := wording.FailureOf(s).FirstLine(); why != "" && !s.NotTaken {
		line += l.Faint.Render(l.Cut("  "+why, max(room-ansi.StringWidth(title), 0)))
	}
	return []string{l.Sides(head+line, tone.Render(words), width)}
}

// drawItemChecks draws the checks that each item has, and how many of the items each
// holds for.
func drawItemChecks(p *draw.Document, s *agent.StepState) {
	l := p.Styles
	for i, check := range s.Step.Checks {
		counts := map[plan.EvidenceState]int{}
		first := map[plan.EvidenceState]event.CheckCompleted{}
		for _, item := range s.Items {
			if i >= len(item.Checked) {
				continue
			}
			found := item.Checked[i]
			if counts[found.State]++; counts[found.State] == 1 {
				first[found.State] = found
			}
		}
		if i > 0 {
			p.Add("")
		}
		state, parts := plan.StateUnchecked, []string(nil)
		for _, of := range []plan.EvidenceState{plan.StateVerified, plan.StateUnchecked, plan.StateRefuted} {
			if counts[of] > 0 {
				state = of
				parts = append(parts, fmt.Sprintf("%s for %d of %d", of, counts[of], len(s.Items)))
			}
		}
		if parts == nil {
			parts = []string{"not evaluated yet"}
		}
		glyph, style := draw.EvidenceGlyph(l, state)
		p.Prose(style, glyph+" "+check.Name()+": "+strings.Join(parts, ", "))
		p.Field("expects", l.Text, untrusted.Line(check.Expect))
		if found, refuted := first[plan.StateRefuted]; refuted {
			p.Field("first", style, wording.StepWords(found.Index)+": "+plan.SawWords(found.Saw))
		}
	}
}
