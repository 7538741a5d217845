package dag

import "replan/agent"

// Toggle expands or collapses the selected row, and reports whether the row can
// do either.
func (d *Pane) Toggle() bool {
	r := d.Chosen()
	if r == nil {
		return false
	}
	switch r.Kind {
	case RowRevision:
		d.toggleRevision(r.Revision)
	case RowRoll:
		d.toggleRoll(r.Roll)
	case RowCalls:
		d.unfold()
	default:
		return false
	}
	return true
}

func (d *Pane) toggleRevision(r *agent.Revision) {
	d.Open[r.Number] = !d.unfolded(r)
	d.refold(revisionKey(r))
}

// toggleRoll expands or collapses a roll-up.
func (d *Pane) toggleRoll(r *rollup) {
	for index := range d.Folds.led {
		if ledKey(index) == r.key {
			delete(d.Folds.led, index)
			d.refold(index)
			return
		}
	}
	if r.Open && d.rolling() {
		delete(d.Folds.said, r.key)
	} else {
		d.Folds.said[r.key] = !r.Open
	}
	d.refold(r.key)
}

// refold lays out the rows again with the row of the key selected.
func (d *Pane) refold(key string) {
	d.Selected, d.Stale, d.drawn, d.Follow = key, true, false, false
}

// Fold collapses or expands what belongs to the selected row: a heading, an
// agent's calls, the steps reachable only through a step, or its fan-out. It
// returns a message if there is nothing to collapse.
func (d *Pane) Fold() (word string) {
	r := d.Chosen()
	if r == nil {
		return "There is nothing to fold yet."
	}
	if r.Kind == RowCall || r.Kind == RowStep && d.caller() != nil {
		if d.caller() == nil {
			return "There is nothing to fold."
		}
		d.unfold()
		return ""
	}
	if d.Toggle() {
		return ""
	}
	if r.Kind == RowGone {
		d.toggleRevision(r.Revision)
		return ""
	}
	index := r.Step.Step.Index
	switch {
	case d.Filter.On():
		return "What a filter finds is not folded: " + d.Keys.Name("run.stop") + " clears the filter."
	case d.Folds.led[index]:
		delete(d.Folds.led, index)
		d.refold(index)
	case r.Roll != nil:
		d.closeRoll(r.Roll)
	case len(d.Chart.led(r.at)) > 0:
		d.Folds.led[index] = true
		d.refold(index)
	case d.Chart.fan[r.at] >= 0:
		fan := d.Chart.fans[d.Chart.fan[r.at]]
		key := fanKey(d.Chart.Steps[fan[0]].Step.Index)
		d.Folds.said[key] = false
		d.refold(key)
	default:
		return "Nothing hangs on this step alone, so there is nothing to fold."
	}
	return ""
}

// closeRoll collapses a roll-up, including its running steps.
func (d *Pane) closeRoll(r *rollup) {
	d.Folds.said[r.key] = false
	d.refold(r.key)
}

// FoldEverything collapses everything, or expands everything if something is
// collapsed, and returns a message that says which.
func (d *Pane) FoldEverything() (word string) {
	d.Layout()
	if d.Outline == nil || d.Outline.chart == nil {
		return "There is nothing to fold yet."
	}
	folded := false
	for i := range d.Outline.Rows {
		switch r := &d.Outline.Rows[i]; r.Kind {
		case RowRoll:
			folded = folded || !r.Roll.Open
		case RowCalls:
			folded = folded || !d.calls[r.owner.Step.Index]
		case RowRevision:
			folded = folded || !d.unfolded(r.Revision)
		}
	}
	key := d.Selected
	d.Folds = newFolds()
	clear(d.calls)
	clear(d.Open)
	for i := range d.Run.Revisions {
		d.Open[d.Run.Revisions[i].Number] = folded
	}
	if folded {
		d.Folds.Level = FoldNone
		for _, a := range d.Chart.agents {
			d.calls[d.Chart.Steps[a].Step.Index] = true
		}
		d.refold(key)
		return "All is unfolded."
	}
	d.Folds.Level = foldAll
	d.refold(key)
	d.Layout()
	for i := range d.Outline.Rows {
		if k := d.Outline.Rows[i].Kind; k == RowRoll || k == RowCalls || k == RowRevision {
			return "What can be folded is folded."
		}
	}
	return "There is nothing to fold."
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
	case RowRoll:
		return !r.Roll.Open, true
	case RowRevision:
		return !d.unfolded(r.Revision), true
	default:
		return false, false
	}
}

// Clicked selects the row drawn at line y of the pane. A click on the selected
// row expands or collapses it, as enter does. A click on the filter line
// resumes typing.
func (d *Pane) Clicked(x, y int) {
	if d.Filter.shown() && y == d.Height-1 {
		d.StartFilter()
		return
	}
	if d.ShowsGraph() {
		d.clickGraph(x, y)
		return
	}
	if d.Outline == nil || d.top+y >= len(d.Outline.Rows) || y < 0 {
		return
	}
	r := &d.Outline.Rows[d.top+y]
	if r.Key != "" && r.Key == d.Selected && d.focused {
		if d.Toggle() || d.caller() == nil {
			return
		}
		d.unfold()
		return
	}
	loose := d.loose
	d.choose(d.top + y)
	d.loose = d.loose || loose // keep what is under the pointer in place
}

// NoRow explains why there is nothing to inspect.
func (d *Pane) NoRow() string {
	if d.Chosen() == nil {
		return "There is no step yet that could be looked into."
	}
	return ""
}

// ChosenStep returns the selected step of the current plan, or nil.
func (d *Pane) ChosenStep() *agent.StepState {
	if r := d.Chosen(); r != nil && (r.Kind == RowStep || r.Kind == RowCall || r.Kind == RowCalls) {
		return r.Step
	}
	return nil
}
