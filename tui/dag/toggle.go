package dag

import "replan/agent"

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
		d.toggleGroup(r.Group)
	case RowCalls:
		d.unfold()
	default:
		return false
	}
	return true
}

func (d *Pane) toggleRevision(r *agent.Revision) {
	d.opened[r.Number] = !d.unfolded(r)
	d.refold(revisionKey(r))
}

// toggleGroup expands or collapses a group.
func (d *Pane) toggleGroup(r *group) {
	for index := range d.folds.collapsed {
		if dependentsKey(index) == r.key {
			delete(d.folds.collapsed, index)
			d.refold(index)
			return
		}
	}
	if r.Open && d.grouping() {
		delete(d.folds.chosen, r.key)
	} else {
		d.folds.chosen[r.key] = !r.Open
	}
	d.refold(r.key)
}

// refold lays out the rows again with the row of the key selected.
func (d *Pane) refold(key string) {
	d.Selected, d.stale, d.drawn, d.Follow = key, true, false, false
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
		d.unfold()
		return ""
	}
	if d.toggle() {
		return ""
	}
	if r.Kind == RowGone {
		d.toggleRevision(r.Revision)
		return ""
	}
	index := r.Step.Step.Index
	switch {
	case d.filter.on():
		return "Filtered steps are not collapsed: " + d.Keys.Name("run.stop") + " clears the filter."
	case d.folds.collapsed[index]:
		delete(d.folds.collapsed, index)
		d.refold(index)
	case r.Group != nil:
		d.closeGroup(r.Group)
	case len(d.chart.soleDependents(r.at)) > 0:
		d.folds.collapsed[index] = true
		d.refold(index)
	case d.chart.fan[r.at] >= 0:
		fan := d.chart.fans[d.chart.fan[r.at]]
		key := fanKey(d.chart.Steps[fan[0]].Step.Index)
		d.folds.chosen[key] = false
		d.refold(key)
	default:
		return "No step depends on this one alone, so there is nothing to collapse."
	}
	return ""
}

// closeGroup collapses a group, including its running steps.
func (d *Pane) closeGroup(r *group) {
	d.folds.chosen[r.key] = false
	d.refold(r.key)
}

// foldEverything collapses everything, or expands everything if something is
// collapsed, and returns a message that says which.
func (d *Pane) foldEverything() (word string) {
	d.layout()
	if d.outline == nil || d.outline.chart == nil {
		return "There is nothing to collapse yet."
	}
	folded := false
	for i := range d.outline.Rows {
		switch r := &d.outline.Rows[i]; r.Kind {
		case RowGroup:
			folded = folded || !r.Group.Open
		case RowCalls:
			folded = folded || !d.calls[r.owner.Step.Index]
		case RowRevision:
			folded = folded || !d.unfolded(r.Revision)
		}
	}
	key := d.Selected
	d.folds = newFolds()
	clear(d.calls)
	clear(d.opened)
	for i := range d.Run.Revisions {
		d.opened[d.Run.Revisions[i].Number] = folded
	}
	if folded {
		d.folds.Level = foldNone
		for _, a := range d.chart.agents {
			d.calls[d.chart.Steps[a].Step.Index] = true
			for _, item := range d.chart.Steps[a].Items {
				if item.Loop != nil {
					d.calls[item.Step.Index] = true
				}
			}
		}
		d.refold(key)
		return "Everything is expanded."
	}
	d.folds.Level = foldAll
	d.refold(key)
	d.layout()
	for i := range d.outline.Rows {
		if k := d.outline.Rows[i].Kind; k == RowGroup || k == RowCalls || k == RowRevision {
			return "Everything is collapsed."
		}
	}
	return "There is nothing to collapse."
}

// Heading reports whether the selected row is one that enter expands or
// collapses, and whether it is collapsed.
func (d *Pane) Heading() (folded, heads bool) {
	r := d.Chosen()
	if r == nil {
		return false, false
	}
	switch r.Kind {
	case RowCalls:
		return !d.calls[r.owner.Step.Index], true
	case RowGroup:
		return !r.Group.Open, true
	case RowRevision:
		return !d.unfolded(r.Revision), true
	default:
		return false, false
	}
}

// clicked selects the row drawn at line y of the pane. A click on the selected
// row expands or collapses it, as enter does. A click on the filter line
// resumes typing.
func (d *Pane) clicked(x, y int) {
	if d.filter.shown() && y == d.Height-1 {
		d.startFilter()
		return
	}
	if d.ShowsGraph() {
		if i := d.Graph.nodeIn(x, y); i >= 0 {
			d.chooseNode(i)
			d.Graph.loose = true // keep what is under the pointer in place
		}
		return
	}
	if d.outline == nil || y < 0 || d.rowAt(y) >= len(d.outline.Rows) {
		return
	}
	at := d.rowAt(y)
	r := &d.outline.Rows[at]
	if r.Key != "" && r.Key == d.Selected && d.focused {
		if d.toggle() || d.caller() == nil {
			return
		}
		d.unfold()
		return
	}
	loose := d.loose
	d.choose(at)
	d.loose = d.loose || loose // keep what is under the pointer in place
}

// ChosenStep returns the selected step of the current plan, or nil.
func (d *Pane) ChosenStep() *agent.StepState {
	if r := d.Chosen(); r != nil && (r.Kind == RowStep || r.Kind == RowCall || r.Kind == RowCalls) {
		return r.Step
	}
	return nil
}
