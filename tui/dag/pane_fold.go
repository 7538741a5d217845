package dag

import (
	"replan/agent"
	"replan/tui/wording"
)

// heading reports whether the selected row is one that enter expands or
// collapses, and whether it is collapsed.
func (d *Pane) heading() (collapsed, heads bool) {
	r := d.Chosen()
	if r == nil {
		return false, false
	}
	return d.plan.heading(r)
}

// toggle expands or collapses the selected row, and reports whether the row can
// do either.
func (d *Pane) toggle() bool {
	r := d.Chosen()
	if r == nil {
		return false
	}
	switch r.Kind {
	case RowRevision:
		d.toggleRevision(r.Revision)
	case RowGroup:
		d.refold(d.plan.Folds.toggleGroup(r.Group, d.plan.groups()))
	case RowCalls:
		d.toggleCalls()
	default:
		return false
	}
	return true
}

func (d *Pane) toggleRevision(r *agent.Revision) {
	d.plan.Folds.showRevision(r, !d.plan.unfolded(r))
	d.refold(revisionKey(r))
}

// toggleCalls expands or collapses the items or calls of the selected step. Selecting
// one of them counts as well.
func (d *Pane) toggleCalls() {
	s := d.caller()
	if s == nil {
		return
	}
	index := s.Step.Index
	if !d.plan.Folds.toggleCalls(index) && d.Chosen().Kind == RowCall {
		d.cursor.put(callsKey(index))
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

// refold lays out the rows again with the row of the key selected.
func (d *Pane) refold(key string) {
	d.cursor.choose(key)
	d.stale, d.drawn = true, false
}

// toggleFold collapses or expands what belongs to the selected row: a heading, an
// agent's calls, the steps reachable only through a step, or its fan-out. It
// returns a message if there is nothing to collapse.
func (d *Pane) toggleFold() (word string) {
	r := d.Chosen()
	if r == nil {
		return "There is nothing to collapse yet."
	}
	if r.Kind == RowCall || r.Kind == RowStep && d.caller() != nil {
		if d.caller() == nil {
			return "There is nothing to collapse."
		}
		d.toggleCalls()
		return ""
	}
	if d.toggle() {
		return ""
	}
	if r.Kind == RowGone {
		d.toggleRevision(r.Revision)
		return ""
	}
	if d.filter.on() {
		return "Filtered steps are not collapsed: " + d.keys.Name("run.stop") + " clears the filter."
	}
	key := d.plan.Folds.toggleStep(d.plan.Chart, r)
	if key == "" {
		return "No step depends on this one alone, so there is nothing to collapse."
	}
	d.refold(key)
	return ""
}

// foldEverything collapses everything, or expands everything if something is
// collapsed, and returns a message that says which.
func (d *Pane) foldEverything() (word string) {
	d.layout()
	if !d.list.built() || d.plan.ofChat() {
		return "There is nothing to collapse yet."
	}
	key := d.cursor.Key
	collapsed, _ := d.list.folded()
	d.plan.Folds.toggleAll(d.plan.Run, d.plan.Chart, collapsed)
	d.refold(key)
	if collapsed {
		return "Everything is expanded."
	}
	d.layout()
	if _, some := d.list.folded(); some {
		return "Everything is collapsed."
	}
	return "There is nothing to collapse."
}

// clicked selects the row drawn at line y of the pane. A click on the selected
// row expands or collapses it, as enter does. A click on the filter line
// resumes typing.
func (d *Pane) clicked(x, y int) {
	switch {
	case d.filter.shown() && y == d.state.Size.H-1:
		d.startFilter()
		return
	case d.ShowsGraph():
		if i := d.graph.nodeIn(x, y); i >= 0 {
			d.chooseNode(i)
			d.graph.leave() // keep what is under the pointer in place
		}
		return
	}
	at := d.list.at(y, d.cursor.Key)
	key := d.list.key(at)
	switch {
	case key == "":
	case key == d.cursor.Key && d.state.Focused:
		if !d.toggle() && d.caller() != nil {
			d.toggleCalls()
		}
	default:
		loose := d.list.isLoose()
		d.choose(at)
		d.list.leave(loose) // keep what is under the pointer in place
	}
}
