package dag

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/tui/draw"
	"replan/tui/telling"
)

// Below an agent step, the list shows the calls of its sub-agent: collapsed to
// one line with the newest call, or one line per call.

func callsKey(index string) string { return "calls " + index }

// addCalls adds rows for an agent step's calls below the row of the step.
func (o *outline) addCalls(of Row, open bool) {
	s := of.Step
	if s.Loop == nil || len(s.Loop.Calls) == 0 {
		return
	}
	r := Row{Kind: RowCalls, Key: callsKey(s.Step.Index), owner: s, at: of.at, node: of.node}
	if of.rails != railsNone {
		r.rails = railsBelow
	}
	o.add(r)
	if !open {
		return
	}
	r.Kind = RowCall
	for _, c := range s.Loop.Calls {
		r.Key, r.Step = c.Step.Index, c
		o.add(r)
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

// now updates a row whose step changes: collapsed calls show the newest one.
func (r *Row) now() *Row {
	if r.Kind == RowCalls {
		r.Step = telling.Newest(r.owner.Loop)
	}
	return r
}

// countCalls returns the number of calls that may need rows.
func countCalls(run *agent.Run) int {
	n := 0
	if run.Chat != nil {
		n = len(run.Chat.Calls)
	}
	for _, s := range run.Steps {
		if s.Loop != nil {
			n += len(s.Loop.Calls)
		}
	}
	return n
}

func doneOf(steps []*agent.StepState) int {
	n := 0
	for _, s := range steps {
		if s.Status == agent.StepCompleted && telling.FailureOf(s) == "" {
			n++
		}
	}
	return n
}

// keyOf returns the key of the row that represents a step. For a collapsed
// call, this is the line of all calls.
func (v *planView) keyOf(s *agent.StepState) string {
	if v.Run.Step(s.Parent) != nil && !v.calls[s.Parent] {
		return callsKey(s.Parent)
	}
	return s.Step.Index
}

// unfold expands or collapses the calls of the selected agent step. Selecting
// one of its calls counts as well.
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

// caller returns the agent step of the selected row, or nil if it has no calls.
func (d *Pane) caller() *agent.StepState {
	r := d.Chosen()
	if r == nil {
		return nil
	}
	s := r.owner
	if r.Kind == RowStep {
		s = r.Step
	}
	if s == nil || s.Loop == nil || len(s.Loop.Calls) == 0 {
		return nil
	}
	return s
}

// paintCall paints a call, or the line for an agent's collapsed calls.
func (w *rowPainter) paintCall(r *Row, f *face, p *draw.Painter) {
	l, s, c := w.Look, r.Step, f.columns
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
		add(l.Text, strings.Repeat(" ", c.index))
	}
	if r.Kind == RowCalls {
		sign := l.Glyphs.Folded
		if f.open {
			sign = l.Glyphs.Unfolded
		}
		add(l.Muted, " "+sign+" "+telling.CallsWords(w.Run, r.owner.Loop))
		if f.open {
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
	add(faded(name), " "+s.Step.Title.Line())
	if arg := telling.MainArgument(telling.CallArgs(s)); arg != "" && room > 4 {
		add(l.Faint, "  "+arg)
	}
	add(l.Text, strings.Repeat(" ", max(room-until, 0)))
}
