package dag

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/wording"
)

// Below a step, the list shows the items of its list or the calls of its sub-agent:
// collapsed to one line with the newest, or one line for each.

func callsKey(index string) string { return "calls " + index }

// addCalls adds rows for the items or calls of a step below its row, and below an item
// those of its own calls. opened has the steps whose rows are expanded.
func (o *outline) addCalls(of Row, opened map[string]bool) {
	s := of.Step
	inner := wording.Inner(s)
	if len(inner) == 0 {
		return
	}
	r := Row{Kind: RowCalls, Key: callsKey(s.Step.Index), owner: s, at: of.at, node: of.node}
	if of.Kind == RowCall {
		r.depth = of.depth + 1
	}
	if of.rails != railsNone {
		r.rails = railsBelow
	}
	o.add(r)
	if !opened[s.Step.Index] {
		return
	}
	r.Kind = RowCall
	o.Rows = slices.Grow(o.Rows, len(inner))
	for _, c := range inner {
		r.Key, r.Step = c.Step.Index, c
		o.add(r)
		o.addCalls(r, opened)
	}
}

// chatOutline returns an outline of the model's calls in the chat, where there
// is no plan to show.
func chatOutline(chat *agent.Loop) *outline {
	o := &outline{signs: 1, width: 1}
	for _, c := range chat.Calls {
		o.add(Row{Kind: RowCall, Key: c.Step.Index, Step: c})
	}
	o.finish()
	return o
}

// now updates a row whose step changes: collapsed calls show the newest one. Collapsed
// items show one that is under way, otherwise their step.
func (r *Row) now() *Row {
	if r.Kind != RowCalls {
		return r
	}
	r.Step = wording.Newest(wording.Inner(r.owner))
	if r.owner.Items != nil && (r.Step == nil || r.Step.Status == agent.StepPending || r.Step.Status.Ended() && r.Step.Status != agent.StepInDoubt) {
		r.Step = r.owner
	}
	return r
}

// countCalls returns the number of calls and items that may need rows.
func countCalls(run *agent.Run) int {
	n := 0
	if run.Chat != nil {
		n = len(run.Chat.Calls)
	}
	for _, s := range run.Steps {
		n += len(wording.Inner(s))
		if s.Step.Executor == plan.ExecutorAgent {
			for _, item := range s.Items {
				n += len(wording.Inner(item))
			}
		}
	}
	return n
}

func doneOf(steps []*agent.StepState) int {
	n := 0
	for _, s := range steps {
		if s.Status == agent.StepCompleted && wording.FailureOf(s) == "" {
			n++
		}
	}
	return n
}

// keyOf returns the key of the row that represents a step. For a collapsed call or
// item, this is the line of all.
func (v *planView) keyOf(s *agent.StepState) string {
	key := s.Step.Index
	for of := v.Run.Step(s.Parent); of != nil; of = v.Run.Step(of.Parent) {
		if !v.calls[of.Step.Index] {
			key = callsKey(of.Step.Index)
		}
	}
	return key
}

// unfold expands or collapses the items or calls of the selected step. Selecting
// one of them counts as well.
func (d *Pane) unfold() {
	s := d.caller()
	if s == nil {
		return
	}
	index := s.Step.Index
	if d.calls[index] {
		delete(d.calls, index)
		if d.Chosen().Kind == RowCall {
			d.Selected = callsKey(index)
		}
	} else {
		d.calls[index] = true
	}
	d.stale, d.news, d.drawn = true, true, false
}

// caller returns the step of the selected row whose items or calls can be folded, or nil
// if there is none.
func (d *Pane) caller() *agent.StepState {
	r := d.Chosen()
	if r == nil {
		return nil
	}
	s := r.owner
	if r.Kind == RowStep || r.Kind == RowCall && len(wording.Inner(r.Step)) > 0 {
		s = r.Step
	}
	if s == nil || len(wording.Inner(s)) == 0 {
		return nil
	}
	return s
}

// paintCall paints an item or a call, or the line for all of a step.
func (w *rowPainter) paintCall(r *Row, f *face, p *draw.Painter) {
	l, s, c := w.Styles, r.Step, f.columns
	room := max(w.width-1-c.mark-c.gutter-c.state-2, 1)
	until := 0 // room left where the state column starts, aligned with that of the steps
	if r.owner != nil {
		text := c.index + 2 + c.title
		if c.tool > 0 {
			text += 2 + c.tool
		}
		text += c.parallel
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
			add(l.Muted, " "+sign+" "+wording.CallsWords(w.Run, r.owner.Loop))
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
		glyph, style := draw.StateGlyph(l, w.Run, s)
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
	l := w.Styles
	style := l.Success
	switch {
	case s.Status == agent.StepRunning && w.Run.Result == nil:
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
