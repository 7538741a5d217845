package tui

import "replan/agent"

// toggle unfolds or folds the row that is chosen, where it is a heading or stands
// for others, and reports whether it is one.
func (d *dagPane) toggle() bool {
	r := d.chosen()
	if r == nil {
		return false
	}
	switch r.kind {
	case rowRevision:
		d.toggleRevision(r.revision)
	case rowRoll:
		d.toggleRoll(r.roll)
	case rowCalls:
		d.unfold()
	default:
		return false
	}
	return true
}

func (d *dagPane) toggleRevision(r *agent.Revision) {
	d.open[r.Number] = !d.unfolded(r)
	d.refold(revisionKey(r))
}

// toggleRoll opens or folds a roll-up.
func (d *dagPane) toggleRoll(r *rollup) {
	for index := range d.folds.led {
		if ledKey(index) == r.key {
			delete(d.folds.led, index)
			d.refold(index)
			return
		}
	}
	if r.open && d.rolling() {
		delete(d.folds.said, r.key)
	} else {
		d.folds.said[r.key] = !r.open
	}
	d.refold(r.key)
}

// refold lays the rows out again with the selection on a row.
func (d *dagPane) refold(key string) {
	d.selected, d.stale, d.drawn, d.follow = key, true, false, false
}

// fold folds what belongs to the chosen row, or unfolds it: a heading; the calls
// of an agent; what a step leads to alone; the fan-out that it is one of. It says
// so where there is nothing.
func (d *dagPane) fold() (word string) {
	r := d.chosen()
	if r == nil {
		return "There is nothing to fold yet."
	}
	if r.kind == rowCall || r.kind == rowStep && d.caller() != nil {
		if d.caller() == nil {
			return "There is nothing to fold."
		}
		d.unfold()
		return ""
	}
	if d.toggle() {
		return ""
	}
	if r.kind == rowGone {
		d.toggleRevision(r.revision)
		return ""
	}
	index := r.step.Step.Index
	switch {
	case d.filter.on():
		return "What a filter finds is not folded: esc clears the filter."
	case d.folds.led[index]:
		delete(d.folds.led, index)
		d.refold(index)
	case r.roll != nil:
		d.closeRoll(r.roll)
	case len(d.chart.led(r.at)) > 0:
		d.folds.led[index] = true
		d.refold(index)
	case d.chart.fan[r.at] >= 0:
		fan := d.chart.fans[d.chart.fan[r.at]]
		key := fanKey(d.chart.steps[fan[0]].Step.Index)
		d.folds.said[key] = false
		d.refold(key)
	default:
		return "Nothing hangs on this step alone, so there is nothing to fold."
	}
	return ""
}

// closeRoll folds the roll-up beside whose lane a step stands, with what runs in
// it too.
func (d *dagPane) closeRoll(r *rollup) {
	d.folds.said[r.key] = false
	d.refold(r.key)
}

// foldEverything folds all that can be folded, or where something is folded
// unfolds all, and says which.
func (d *dagPane) foldEverything() (word string) {
	d.layout()
	if d.outline == nil || d.outline.chart == nil {
		return "There is nothing to fold yet."
	}
	folded := false
	for i := range d.outline.rows {
		switch r := &d.outline.rows[i]; r.kind {
		case rowRoll:
			folded = folded || !r.roll.open
		case rowCalls:
			folded = folded || !d.calls[r.owner.Step.Index]
		case rowRevision:
			folded = folded || !d.unfolded(r.revision)
		}
	}
	key := d.selected
	d.folds = newFolds()
	clear(d.calls)
	clear(d.open)
	for i := range d.run.Revisions {
		d.open[d.run.Revisions[i].Number] = folded
	}
	if folded {
		d.folds.level = foldNone
		for _, a := range d.chart.agents {
			d.calls[d.chart.steps[a].Step.Index] = true
		}
		d.refold(key)
		return "All is unfolded."
	}
	d.folds.level = foldAll
	d.refold(key)
	d.layout()
	for i := range d.outline.rows {
		if k := d.outline.rows[i].kind; k == rowRoll || k == rowCalls || k == rowRevision {
			return "What can be folded is folded."
		}
	}
	return "There is nothing to fold."
}

// heading reports whether the chosen row is one that enter folds or unfolds, and
// whether it is folded.
func (d *dagPane) heading() (folded, heads bool) {
	r := d.chosen()
	if r == nil {
		return false, false
	}
	switch r.kind {
	case rowCalls:
		return !d.calls[r.owner.Step.Index], true
	case rowRoll:
		return !r.roll.open, true
	case rowRevision:
		return !d.unfolded(r.revision), true
	default:
		return false, false
	}
}

// clicked selects the row that is drawn at line y of the pane; a click on the one
// that is selected folds or unfolds it, as enter does. One on the line of the
// filter goes on typing it.
func (d *dagPane) clicked(x, y int) {
	if d.filter.shown() && y == d.height-1 {
		d.startFilter()
		return
	}
	if d.showsGraph() {
		d.clickGraph(x, y)
		return
	}
	if d.outline == nil || d.top+y >= len(d.outline.rows) || y < 0 {
		return
	}
	r := &d.outline.rows[d.top+y]
	if r.key != "" && r.key == d.selected && d.focused {
		if d.toggle() || d.caller() == nil {
			return
		}
		d.unfold()
		return
	}
	loose := d.loose
	d.choose(d.top + y)
	d.loose = d.loose || loose // what is under the pointer stays there
}
