package tui

import (
	"replan/agent"
)

// target is what a jump looks for.
type target struct {
	name string // in a sentence: no … is in this plan
	is   func(s *agent.StepState, c stepClass) bool
}

var (
	toGate    = target{"No step waits at a gate.", func(_ *agent.StepState, c stepClass) bool { return c == classGate }}
	toFailure = target{"No step has failed.", func(_ *agent.StepState, c stepClass) bool { return c == classFailed || c == classDoubt }}
	toRunning = target{"No step is running.", func(_ *agent.StepState, c stepClass) bool { return c == classRuns }}
)

// jump selects the next step of a kind behind the chosen row, from the top again
// where there is none, also where it is folded away. It says why it does not
// where there is none at all.
func (d *dagPane) jump(to target) (word string) {
	d.layout()
	if d.outline == nil {
		return to.name
	}
	at := d.position()
	first, here := "", false
	for i := range d.outline.rows {
		for _, key := range d.goals(&d.outline.rows[i], to) {
			switch {
			case i == at && key == d.selected:
				here = true
			case i > at || i == at && d.outline.rows[i].kind == rowRoll:
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
		return to.name[:len(to.name)-1] + " among those that the filter shows."
	default:
		return to.name
	}
}

// goals are the keys of what a jump looks for in a row: the row itself, or steps
// that are folded into it.
func (d *dagPane) goals(r *row, to target) []string {
	switch r.kind {
	case rowStep:
		if to.is(r.step, d.tally.class[r.at]) {
			return []string{r.key}
		}
	case rowGone:
		if to.is(r.step, classOf(d.run, r.step, 1)) {
			return []string{r.key}
		}
	case rowCall:
		if to.is(r.step, classOf(d.run, r.step, 1)) {
			return []string{r.key}
		}
	case rowCalls:
		if d.calls[r.owner.Step.Index] {
			return nil // each has a row of its own
		}
		for _, c := range r.owner.Loop.Calls {
			if to.is(c, classOf(d.run, c, 1)) {
				return []string{r.key}
			}
		}
	case rowRoll:
		var keys []string
		for _, m := range r.roll.members {
			s := d.chart.steps[m]
			if _, shown := d.outline.find[s.Step.Index]; !shown && to.is(s, d.tally.class[m]) {
				keys = append(keys, s.Step.Index)
			}
		}
		return keys
	}
	return nil
}

// reveal selects what the key stands for. A step that is folded away gets a row
// beside what it is folded into.
func (d *dagPane) reveal(key string) {
	d.selectKey(key)
	d.layout()
}

// nextMatch selects the next step that the filter found, or the one before.
func (d *dagPane) nextMatch(by int) (word string) {
	d.layout()
	switch {
	case !d.filter.on():
		return "Nothing is filtered: / begins."
	case len(d.filter.found) == 0:
		return "No step is like that."
	}
	at := d.next(d.position(), by)
	for at >= 0 && d.outline.rows[at].kind != rowStep {
		at = d.next(at, by)
	}
	if at < 0 { // around
		at = -1
		if by < 0 {
			at = len(d.outline.rows)
		}
		for at = d.next(at, by); at >= 0 && d.outline.rows[at].kind != rowStep; {
			at = d.next(at, by)
		}
	}
	d.choose(at)
	return ""
}
