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
	if why := d.missing(to); why != "" {
		return why
	}
	key, _ := d.list.search(d.cursor.Key, to)
	if key == "" {
		return "There is no other one."
	}
	d.reveal(key)
	return ""
}

// missing says that no step is what a jump looks for, "" if one is.
func (d *Pane) missing(to target) string {
	d.layout()
	if !d.list.built() {
		return to.name
	}
	switch key, here := d.list.search(d.cursor.Key, to); {
	case key != "", here:
		return ""
	case d.filter.on():
		return to.name[:len(to.name)-1] + " among the filtered steps."
	default:
		return to.name
	}
}
