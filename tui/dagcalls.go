package tui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/tui/untrusted"
)

// Under an agent step stand the calls that its sub-agent makes: folded to one
// line with the newest of them, or each on a line of its own.

func callsKey(index string) string { return "calls " + index }

// addCalls adds the rows of an agent step's calls under its own.
func (o *outline) addCalls(of row, open bool) {
	s := of.step
	if s.Loop == nil || len(s.Loop.Calls) == 0 {
		return
	}
	r := row{kind: rowCalls, key: callsKey(s.Step.Index), owner: s, at: of.at, node: of.node}
	if of.rails != railsNone {
		r.rails = railsBelow
	}
	o.add(r)
	if !open {
		return
	}
	r.kind = rowCall
	for _, c := range s.Loop.Calls {
		r.key, r.step = c.Step.Index, c
		o.add(r)
	}
}

// chatOutline is the calls that a model makes in the chat, where there is no
// plan to be shown.
func chatOutline(chat *agent.Loop) *outline {
	o := &outline{signs: 1, width: 1}
	for _, c := range chat.Calls {
		o.add(row{kind: rowCall, key: c.Step.Index, step: c})
	}
	o.finish()
	return o
}

// now brings a row up to date whose step changes: of folded calls, the newest.
func (r *row) now() *row {
	if r.kind == rowCalls {
		r.step = newest(r.owner.Loop)
	}
	return r
}

// countCalls is how many calls rows may have to be laid out for.
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
		if s.Status == agent.StepDone && failureOf(s) == "" {
			n++
		}
	}
	return n
}

// keyOf is the row that stands for a step: of a folded call the line that it is
// folded to.
func (d *dagPane) keyOf(s *agent.StepState) string {
	if d.run.Step(s.Parent) != nil && !d.calls[s.Parent] {
		return callsKey(s.Parent)
	}
	return s.Step.Index
}

// unfold shows all calls of the agent step that is chosen, be it by one of them,
// or folds them.
func (d *dagPane) unfold() {
	s := d.caller()
	if s == nil {
		return
	}
	index := s.Step.Index
	if d.calls[index] {
		delete(d.calls, index)
		if d.chosen().kind == rowCall {
			d.selected = callsKey(index)
		}
	} else {
		d.calls[index] = true
	}
	d.stale, d.news, d.drawn = true, true, false
}

// caller is the agent step that is chosen and has made calls, nil where none is.
func (d *dagPane) caller() *agent.StepState {
	r := d.chosen()
	if r == nil {
		return nil
	}
	s := r.owner
	if r.kind == rowStep {
		s = r.step
	}
	if s == nil || s.Loop == nil || len(s.Loop.Calls) == 0 {
		return nil
	}
	return s
}

// paintCall paints a call, or the line that the calls of an agent are folded to.
func (d *dagPane) paintCall(r *row, f *face, p *painter) {
	l, s, c := d.look, r.step, f.columns
	room := max(d.width-1-c.mark-c.gutter-c.state-2, 1)
	until := 0 // what is left of the room where the state begins, under those of the steps
	if r.owner != nil {
		text := c.index + 2 + c.title
		if c.tool > 0 {
			text += 2 + c.tool
		}
		text += c.parallel
		until = max(room-text, 0)
	}
	add := func(style lipgloss.Style, text string) {
		text = l.cut(text, room)
		room -= ansi.StringWidth(text)
		p.add(style, text)
	}
	faded := func(style lipgloss.Style) lipgloss.Style {
		if f.kin == kinDim {
			return l.Faint
		}
		return style
	}
	if r.owner != nil {
		add(l.Text, strings.Repeat(" ", c.index))
	}
	if r.kind == rowCalls {
		sign := l.glyphs.Folded
		if f.open {
			sign = l.glyphs.Unfolded
		}
		add(l.Muted, " "+sign+" "+callsWords(d.run, r.owner.Loop))
		if f.open {
			add(l.Text, strings.Repeat(" ", max(room-until, 0)))
			return
		}
		add(l.Text, "  ")
	} else if r.owner != nil {
		add(l.Text, "   ")
	}
	if r.owner != nil { // one of the chat stands in the gutter, as a step does
		glyph, style := stateGlyph(l, d.run, s)
		add(style, glyph)
	}
	name := l.Text
	if s.Status == agent.StepActive || s.Status == agent.StepWaiting {
		name = l.Strong
	}
	if r.owner != nil && r.kind == rowCall {
		add(l.Muted, " "+untrusted.Line(s.Step.Index))
	}
	add(faded(name), " "+untrusted.Line(s.Step.Title))
	if arg := mainArgument(callArgs(s)); arg != "" && room > 4 {
		add(l.Faint, "  "+arg)
	}
	add(l.Text, strings.Repeat(" ", max(room-until, 0)))
}
