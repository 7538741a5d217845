package agent

import (
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
)

// openGate opens a gate for the call whose hash is call. It reports whether the step waits
// there: a call that changes nothing passes it.
func (s *StepState) openGate(d event.GateRequested, call string) (waits bool) {
	s.Diff = d.Diff
	if waits = s.gate().open(d, call); waits {
		s.Status, s.Gate = StepWaiting, d.Gate
	}
	return waits
}

// leaveGate lets a step go on that waits at its gate, whether the user has answered or not.
func (s *StepState) leaveGate() { s.Status, s.Gate = StepPending, "" }

// heldBack takes an attempt back whose tool refused to run without a gate, or without another
// one: nothing was done. It reports whether the failure says so.
func (s *StepState) heldBack(d event.StepFailed) bool {
	switch {
	case d.Removes != "":
		s.gate().asksAbout(d.Removes)
	case d.Outdated != "":
		s.gate().outdate(d.Outdated, d.Paths)
		s.Diff = ""
	default:
		return false
	}
	s.Status, s.Error, s.Failure = StepPending, "", ""
	return true
}

// reask has the gate ask again for a call that has changed since, and forgets its diff.
func (s *StepState) reask() {
	s.gate().reask()
	s.Diff = ""
}

// keepBound revokes the user's permission if it was for another call than the one that the
// step is about to make.
func (s *StepState) keepBound(t plan.Tool) {
	if s.gate().allowed() && !s.gate().binds(t, s.call().args()) {
		s.reask()
	}
}

// otherCall forgets the gate of a call that the user has replaced by another one.
func (s *StepState) otherCall() {
	s.gate().forOtherCall()
	s.request().forget()
	s.Diff = ""
}

// editCall replaces the args that a gate showed with those of the user; kept is the text that
// they still carry. The gate opens again for the new call.
func (s *StepState) editCall(args map[string]any, kept []rule.Provenance) {
	s.author().edit(args, kept)
	s.request().replace(nil)
	s.gate().forEditedCall()
	s.Diff = ""
}
