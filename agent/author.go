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

// write notes the args with which the user replaces those of the plan, and args returns them: nil
// if there are none. byUser reports whether there are.
func (a *authorship) write(args map[string]any) { a.written, a.atGate, a.kept = args, 0, nil }
func (a *authorship) args() map[string]any      { return a.written }
func (a *authorship) byUser() bool              { return a.written != nil }

// edit notes args that the user wrote at a gate, and the text that they still carry. edits
// returns how often that was, and textsKept the text.
func (a *authorship) edit(args map[string]any, kept []rule.Provenance) {
	a.written, a.kept = args, kept
	a.atGate++
}
func (a *authorship) edits() int                   { return a.atGate }
func (a *authorship) textsKept() []rule.Provenance { return a.kept }

// plannedAfter notes what the author had read before, and textsRead returns it.
func (a *authorship) plannedAfter(read []rule.Provenance) { a.read = read }
func (a *authorship) textsRead() []rule.Provenance        { return a.read }

// replannedAfter notes that a replan added or revised the step, and what its author had read.
// replannedLike takes from another step whether one did, and byReplan reports it.
func (a *authorship) replannedAfter(read []rule.Provenance) { a.replan, a.read = true, read }
func (a *authorship) replannedLike(other *authorship)       { a.replan = other.replan }
func (a *authorship) byReplan() bool                        { return a.replan }
