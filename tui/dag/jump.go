package dag

import (
	"replan/agent"
	"replan/tui/wording"
)

// target is what a jump looks for.
type target struct {
	name string // message if the plan has none
	is   func(s *agent.StepState, c wording.StepClass) bool
}

// Targets of a jump.
var (
	toGate    = target{"No step waits at a gate.", func(_ *agent.StepState, c wording.StepClass) bool { return c == wording.ClassGate }}
	toFailure = target{"No step has failed.", func(_ *agent.StepState, c wording.StepClass) bool {
		return c == wording.ClassFailed || c == wording.ClassDoubt
	}}
	toRunning = target{"No step is running.", func(_ *agent.StepState, c wording.StepClass) bool { return c == wording.ClassRuns }}
)

// jump selects the next matching step after the selected row, wrapping around,
// even if it is collapsed. If there is none, it returns a message that says so.
func (d *Pane) jump(to target) (word string) {
	d.layout()
	if d.outline == nil {
		return to.name
	}
	at := d.Position()
	first, here := "", false
	for i := range d.outline.Rows {
		for _, key := range d.goals(&d.outline.Rows[i], to) {
			switch {
			case i == at && key == d.Selected:
				here = true
			case i > at || i == at && d.outline.Rows[i].Kind == RowGroup:
				d.reveal(key)
				return ""
			case first == "":
				first = key
			}
		}
	}
	switch {
	case first != "":
		d.reveal(first)
		return ""
	case here:
		return "There is no other one."
	case d.filter.on():
		return to.name[:len(to.name)-1] + " among the filtered steps."
	default:
		return to.name
	}
}

// goals returns the keys of the targets in a row: the row itself, or steps
// collapsed into it.
func (d *Pane) goals(r *Row, to target) []string {
	switch r.Kind {
	case RowStep:
		if to.is(r.Step, d.stepCounts.class[r.at]) {
			return []string{r.Key}
		}
	case RowGone:
		if to.is(r.Step, wording.ClassOf(d.Run, r.Step, 1)) {
			return []string{r.Key}
		}
	case RowCall:
		if to.is(r.Step, wording.ClassOf(d.Run, r.Step, 1)) {
			return []string{r.Key}
		}
	case RowCalls:
		if d.calls[r.owner.Step.Index] {
			return nil // each call has its own row
		}
		for _, c := range wording.Inner(r.owner) {
			if to.is(c, wording.ClassOf(d.Run, c, 1)) {
				return []string{r.Key}
			}
		}
	case RowGroup:
		var keys []string
		for _, m := range r.Group.members {
			s := d.chart.Steps[m]
			if _, shown := d.outline.find[s.Step.Index]; !shown && to.is(s, d.stepCounts.class[m]) {
				keys = append(keys, s.Step.Index)
			}
		}
		return keys
	}
	return nil
}

// Reveal selects a step, even if a revision has removed it.
func (d *Pane) Reveal(index string) {
	key := index
	if d.Run.Step(index) == nil {
		for i := range d.Run.Revisions {
			r := &d.Run.Revisions[i]
			for j := range r.Removed {
				if r.Removed[j].Step.Index == index {
					d.opened[r.Number], d.stale = true, true
					key = removedKey(r, index)
				}
			}
		}
	}
	d.reveal(key)
}

// reveal selects the row with this key. A collapsed step gets a row beside its
// group.
func (d *Pane) reveal(key string) {
	d.selectKey(key)
	d.layout()
}

// nextMatch selects the next step that the filter found, or the previous one.
func (d *Pane) nextMatch(by int) (word string) {
	d.layout()
	switch {
	case !d.filter.on():
		return "There is no filter: / starts one."
	case len(d.filter.found) == 0:
		return "No matching steps."
	}
	at := d.next(d.Position(), by)
	for at >= 0 && d.outline.Rows[at].Kind != RowStep {
		at = d.next(at, by)
	}
	if at < 0 { // wrap around
		at = -1
		if by < 0 {
			at = len(d.outline.Rows)
		}
		for at = d.next(at, by); at >= 0 && d.outline.Rows[at].Kind != RowStep; {
			at = d.next(at, by)
		}
	}
	d.choose(at)
	return ""
}
