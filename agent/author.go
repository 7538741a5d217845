package agent

import "replan/agent/rule"

// authorship records who wrote a step, if not the first plan alone.
type authorship struct {
	written map[string]any    // args by the user, replacing those of the plan
	atGate  int               // how often the user edited them at the gate; written has no references after the first
	kept    []rule.Provenance // of the args the user left unchanged at the gate
	read    []rule.Provenance // what the model had read before it planned the step
	replan  bool              // added or revised by a replan
}

// write notes the args with which the user replaces those of the plan.
func (a *authorship) write(args map[string]any) { a.written, a.atGate, a.kept = args, 0, nil }

// args returns the args of the user, nil if there are none.
func (a *authorship) args() map[string]any { return a.written }

// byUser reports whether the user wrote the args.
func (a *authorship) byUser() bool { return a.written != nil }

// edit notes args that the user wrote at a gate, and the text that they still carry.
func (a *authorship) edit(args map[string]any, kept []rule.Provenance) {
	a.written, a.kept = args, kept
	a.atGate++
}

// edits returns how often the user edited the args at a gate.
func (a *authorship) edits() int { return a.atGate }

// textsKept returns the text that edited args still carry.
func (a *authorship) textsKept() []rule.Provenance { return a.kept }

// plannedAfter notes what the author had read before.
func (a *authorship) plannedAfter(read []rule.Provenance) { a.read = read }

// textsRead returns what the author had read before.
func (a *authorship) textsRead() []rule.Provenance { return a.read }

// replannedAfter notes that a replan added or revised the step, and what its author had read.
func (a *authorship) replannedAfter(read []rule.Provenance) { a.replan, a.read = true, read }

// replannedLike takes from another step whether a replan added or revised it.
func (a *authorship) replannedLike(other *authorship) { a.replan = other.replan }

// byReplan reports whether a replan added or revised the step.
func (a *authorship) byReplan() bool { return a.replan }
