package dag

import (
	"replan/agent"
	"replan/tui/telling"
)

// target is what a jump looks for.
type target struct {
	name string // message if the plan has none
	is   func(s *agent.StepState, c telling.StepClass) bool
}

// Targets of a jump.
var (
	ToGate    = target{"No step waits at a gate.", func(_ *agent.StepState, c telling.StepClass) bool { return c == telling.ClassGate }}
	ToFailure = target{"No step has failed.", func(_ *agent.StepState, c telling.StepClass) bool {
		return c == telling.ClassFailed || c == telling.ClassDoubt
	}}
	ToRunning = target{"No step is running.", func(_ *agent.StepState, c telling.StepClass) bool { return c == telling.ClassRuns }}
)

// Jump selects the next matching step after the selected row, wrapping around,
// even if it is collapsed. If there is none, it returns a message that says so.
func (d *Pane) Jump(to target) (word string) {
	d.Layout()
	if d.Outline == nil {
		return to.name
	}
	at := d.Position()
	first, here := "", false
	for i := range d.Outline.Rows {
		for _, key := range d.goals(&d.Outline.Rows[i], to) {
			switch {
			case i == at && key == d.Selected:
				here = true
			case i > at || i == at && d.Outline.Rows[i].Kind == RowRoll:
				d.Reveal(key)
				return ""
			case first == "":
				first = key
			}
		}
	}
	switch {
	case first != "":
		d.Reveal(first)
		return ""
	case here:
		return "There is no other one."
	case d.Filter.On():
		return to.name[:len(to.name)-1] + " among those that the filter shows."
	default:
		return to.name
	}
}

// goals returns the keys of the targets in a row: the row itself, or steps
// collapsed into it.
func (d *Pane) goals(r *Row, to target) []string {
	switch r.Kind {
	case RowStep:
		if to.is(r.Step, d.tally.class[r.at]) {
			return []string{r.Key}
		}
	case RowGone:
		if to.is(r.Step, telling.ClassOf(d.Run, r.Step, 1)) {
			return []string{r.Key}
		}
	case RowCall:
		if to.is(r.Step, telling.ClassOf(d.Run, r.Step, 1)) {
			return []string{r.Key}
		}
	case RowCalls:
		if d.calls[r.owner.Step.Index] {
			return nil // each call has its own row
		}
		for _, c := range r.owner.Loop.Calls {
			if to.is(c, telling.ClassOf(d.Run, c, 1)) {
				return []string{r.Key}
			}
		}
	case RowRoll:
		var keys []string
		for _, m := range r.Roll.members {
			s := d.Chart.Steps[m]
			if _, shown := d.Outline.find[s.Step.Index]; !shown && to.is(s, d.tally.class[m]) {
				keys = append(keys, s.Step.Index)
			}
		}
		return keys
	}
	return nil
}

// Reveal selects the row with this key. A collapsed step gets a row beside its
// roll-up.
func (d *Pane) Reveal(key string) {
	d.selectKey(key)
	d.Layout()
}

// NextMatch selects the next step that the filter found, or the previous one.
func (d *Pane) NextMatch(by int) (word string) {
	d.Layout()
	switch {
	case !d.Filter.On():
		return "Nothing is filtered: / begins."
	case len(d.Filter.found) == 0:
		return "No step is like that."
	}
	at := d.next(d.Position(), by)
	for at >= 0 && d.Outline.Rows[at].Kind != RowStep {
		at = d.next(at, by)
	}
	if at < 0 { // wrap around
		at = -1
		if by < 0 {
			at = len(d.Outline.Rows)
		}
		for at = d.next(at, by); at >= 0 && d.Outline.Rows[at].Kind != RowStep; {
			at = d.next(at, by)
		}
	}
	d.choose(at)
	return ""
}
