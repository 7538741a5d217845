package dag

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/tui/draw"
	"replan/tui/wording"
)

// paintCall paints an item or a call, or the line for all of a step.
func (w *rowPainter) paintCall(r *Row, f *face, p *draw.Painter) {
	l, s, c := w.styles, r.Step, f.columns
	room := max(w.width-1-c.mark-c.gutter-c.state-2, 1)
	until := 0 // room left where the state column starts, aligned with that of the steps
	if r.owner != nil {
		text := c.index + 2 + c.title
		if c.tool > 0 {
			text += 2 + c.tool
		}
		until = max(room-text, 0)
	}
	add := func(style lipgloss.Style, text string) {
		text = l.Cut(text, room)
		room -= ansi.StringWidth(text)
		p.Add(style, text)
	}
	faded := func(style lipgloss.Style) lipgloss.Style {
		if f.relation == relationDim {
			return l.Faint
		}
		return style
	}
	if r.owner != nil {
		add(l.Text, strings.Repeat(" ", c.index+3*r.depth))
	}
	if r.Kind == RowCalls {
		sign := l.Glyphs.Folded
		if f.open {
			sign = l.Glyphs.Unfolded
		}
		if r.owner.Items != nil {
			add(l.Muted, fmt.Sprintf(" %s %d/%d ", sign, f.items.Ended, f.items.All))
			w.paintItems(r.owner, &f.items, add)
		} else {
			add(l.Muted, " "+sign+" "+wording.CallsWords(w.plan.Run, r.owner.Loop))
		}
		if f.open || s == r.owner || r.owner.Items != nil && room < itemLeast {
			add(l.Text, strings.Repeat(" ", max(room-until, 0)))
			return
		}
		add(l.Text, "  ")
	} else if r.owner != nil {
		add(l.Text, "   ")
	}
	if r.owner != nil { // a call in the chat has its glyph in the gutter, as a step does
		glyph, style := draw.StateGlyph(l, w.plan.Run, s)
		add(style, glyph)
	}
	name := l.Text
	if s.Status == agent.StepRunning || s.Status == agent.StepWaiting {
		name = l.Strong
	}
	if r.owner != nil && r.Kind == RowCall {
		add(l.Muted, " "+s.Step.Name())
	}
	title := wording.InnerTitle(s, r.owner)
	if _, item := s.Item(); item {
		if strings.Contains(title, "/") {
			title = l.CutLeft(title, room-1) // the end of a path says more
		}
		add(faded(name), " "+title)
	} else {
		add(faded(name), " "+title)
		if arg := wording.MainArgument(wording.CallArgs(s)); arg != "" && room > 4 {
			add(l.Faint, "  "+arg)
		}
	}
	add(l.Text, strings.Repeat(" ", max(room-until, 0)))
}

// itemLeast is the room in cells that is worth naming the item that is under way.
const itemLeast = 16

// itemsBar is the width of the bar of a step's items, in cells.
const itemsBar = 8

// paintItems paints a bar of the items of a step, and what went wrong.
func (w *rowPainter) paintItems(s *agent.StepState, c *wording.ItemCounts, add func(lipgloss.Style, string)) {
	l := w.styles
	style := l.Success
	switch {
	case s.Status == agent.StepRunning && w.plan.Run.Result == nil:
		style = l.Running
	case s.Status != agent.StepCompleted || c.Failed+c.Denied > 0:
		style = l.Warning
	}
	full, empty := l.GaugeParts(float64(c.Ended)/float64(max(c.All, 1)), itemsBar)
	add(style, full)
	add(l.Faint, empty)
	for _, words := range strings.Split(c.Trouble(), ", ") {
		if words == "" {
			break
		}
		style = l.Warning
		switch {
		case strings.HasSuffix(words, "failed"):
			style = l.Danger
		case strings.HasSuffix(words, "not taken"):
			style = l.Faint
		}
		add(l.Text, "  ")
		add(style, words)
	}
}
