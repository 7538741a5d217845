package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/jsonparts"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// gateAnswer is the answer to the newest gate of a step.
type gateAnswer uint8

const (
	gateUnanswered gateAnswer = iota // or no gate has opened yet
	gateAllowed
	gateDenied
)

// gateState tracks the gate of a step's next call.
type gateState struct {
	answer   gateAnswer
	call     string            // what the newest gate showed, see callHash
	hashes   map[string]string // of the files as the gate showed them
	command  *plan.Command     // as the gate showed it
	files    []string          // files to be changed by the call when it passed the gate
	outdated untrusted.Text    // why the passed gate opens again
	paths    map[string]string // where paths of the call lead through links
	removes  string            // what the call would remove and its gate asks about; see event.StepFailed
	called   bool              // a call was made since that gate opened
	repeats  int               // how often an answer did not settle it, see mostRepeats
	why      untrusted.Text    // the last time
	since    uint64            // the event since which a gate must be opened; 0 if none must
	pass     *pass             // given by the user when reviewing the plan
	itemsOf  string            // what the tool promised when the user let untrusted text decide for which items it is called
}

// pass is the user's approval of one call that has not been reached yet.
type pass struct {
	args map[string]any // as shown to the user
	tool string         // the tool with the effects announced for it at the time
	try  int            // the attempt that the approval is valid for
}

// needsGate notes the event since which a gate must be opened.
func (s *StepState) needsGate(at uint64) {
	if s.gate.since == 0 {
		s.gate.since = at
	}
}

// openGate opens a gate for the call whose hash is call. It reports whether the step waits
// there: a call that changes nothing passes it.
func (s *StepState) openGate(d event.GateRequested, call string) (waits bool) {
	s.Diff, s.gate.hashes, s.gate.command, s.gate.call = d.Diff, d.Hashes, d.Command, call
	s.gate.called, s.gate.since = false, 0
	if d.Nothing {
		s.gate.answer = gateAllowed
		return false
	}
	s.Status, s.Gate = StepWaiting, d.Gate
	return true
}

// leaveGate lets a step go on that waits at its gate, whether the user has answered or not.
func (s *StepState) leaveGate() { s.Status, s.Gate = StepPending, "" }

// answerGate notes the answer of the user at the gate.
func (s *StepState) answerGate(allowed bool) {
	s.gate.answer = gateDenied
	if allowed {
		s.gate.answer = gateAllowed
	}
}

// allowed reports whether the user allowed the call at its gate, and denied whether they
// denied it.
func (s *StepState) allowed() bool { return s.gate.answer == gateAllowed }
func (s *StepState) denied() bool  { return s.gate.answer == gateDenied }

// gateShowed returns the hashes of the files that the gate showed, and the command.
func (s *StepState) gateShowed() (hashes map[string]string, command *plan.Command) {
	return s.gate.hashes, s.gate.command
}

// changing returns the files that the call will change, as the gate showed them, and wasChanging
// those that it was to change when it passed a gate that opens again.
func (s *StepState) changing() []string    { return slices.Collect(maps.Keys(s.gate.hashes)) }
func (s *StepState) wasChanging() []string { return s.gate.files }

// gateReopens returns why a passed gate opens again, "" if it does not.
func (s *StepState) gateReopens() untrusted.Text { return s.gate.outdated }

// removal returns what the call would remove, "" if nothing that was not seen.
func (s *StepState) removal() string { return s.gate.removes }

// leadsTo returns where paths of the call lead through links; nil if no tool has said so.
func (s *StepState) leadsTo() map[string]string { return s.gate.paths }

// isBound reports whether the call that the step is about to make is the one that its newest
// gate showed.
func (s *StepState) isBound(t plan.Tool) bool { return s.gate.call == callHash(t, s.call.args) }

// unbind forgets what the gate showed of the call.
func (g *gateState) unbind() { g.hashes, g.command = nil, nil }

// withdraw revokes the user's permission for the call. A denial stays.
func (g *gateState) withdraw() {
	if g.answer == gateAllowed {
		g.answer = gateUnanswered
	}
}

// reset resets the gate for a new attempt.
func (g *gateState) reset() {
	g.outdated, g.files, g.repeats, g.removes, g.answer = "", nil, 0, "", gateUnanswered
	g.unbind()
}

// mostRepeats is how often the gate of a call opens again because what it showed no longer is
// what the call would do. After that the step fails: no answer settles it.
const mostRepeats = 5

// repeat notes that the answer did not settle the gate.
func (g *gateState) repeat(why untrusted.Text) {
	g.repeats++
	g.why = why
}

// unsettled says why the gate does not open once more; "" if it may.
func (s *StepState) unsettled() string {
	if s.gate.repeats <= mostRepeats {
		return ""
	}
	return fmt.Sprintf("its gate was asked %d times, and each time the call was then another one: %s", s.gate.repeats, s.gate.why)
}

// heldBack takes an attempt back whose tool refused to run without a gate, or without another
// one: nothing was done. It reports whether the failure says so.
func (s *StepState) heldBack(d event.StepFailed) bool {
	switch {
	case d.Removes != "":
		s.gate.removes = d.Removes
		s.gate.repeat(untrusted.Text("it " + d.Removes))
	case d.Outdated != "":
		s.outdate(d.Outdated, d.Paths)
	default:
		return false
	}
	s.Status, s.Error, s.Failure = StepPending, "", ""
	return true
}

// outdate lets the gate open again, since the call would do something else than it showed.
// paths are where its paths lead now; nil leaves them.
func (s *StepState) outdate(why untrusted.Text, paths map[string]string) {
	if paths != nil {
		s.gate.paths = paths
	}
	s.gate.outdated, s.gate.files = why, slices.Sorted(maps.Keys(s.gate.hashes))
	s.gate.withdraw()
	s.gate.repeat(why)
	s.Diff = ""
	s.gate.unbind()
}

// reask revokes the user's permission for a call that has changed since.
func (s *StepState) reask() {
	s.gate.withdraw()
	s.gate.outdated, s.Diff, s.gate.removes = "the call, or its tool, is no longer the one that you saw", "", ""
	s.gate.repeat(s.gate.outdated)
	s.gate.unbind()
}

// keepBound revokes the user's permission if it was for another call than the one that the
// step is about to make.
func (s *StepState) keepBound(t plan.Tool) {
	if s.allowed() && !s.isBound(t) {
		s.reask()
	}
}

// otherCall forgets the gate of a call that the user has replaced by another one.
func (s *StepState) otherCall() {
	s.gate.outdated, s.gate.files = "", nil
	s.gate.withdraw()
	s.fill.args, s.fill.problem, s.Diff, s.gate.removes = nil, "", "", ""
	s.gate.unbind()
}

// editCall replaces the args that a gate showed with those of the user; kept is the text that
// they still carry. The gate opens again for the new call.
func (s *StepState) editCall(args map[string]any, kept []rule.Provenance) {
	s.author.args, s.fill.args, s.fill.missing = args, nil, nil
	s.author.edits, s.author.kept = s.author.edits+1, kept
	s.gate.outdated, s.gate.files = "", nil
	s.gate.answer, s.Diff, s.gate.removes = gateUnanswered, "", ""
	s.gate.unbind()
}

// approve lets the next call pass, if it is the one that the user has seen in the review.
func (s *StepState) approve(args map[string]any, tool plan.Tool) {
	s.gate.pass = &pass{args: args, tool: promised(tool), try: s.nextAttempt()}
}

// approved reports whether the user approved, in the review, the call that the step is about
// to make.
func (s *StepState) approved(tool plan.Tool) bool {
	p := s.gate.pass
	return p != nil && p.try == s.nextAttempt() && p.tool == promised(tool) && plan.EqualValues(p.args, s.call.args)
}

// allowItems notes that the user lets untrusted text decide for which items of the step the
// tool is called, and itemAllowed reports that to an item.
func (s *StepState) allowItems(tool plan.Tool) { s.gate.itemsOf = promised(tool) }

func (s *StepState) itemAllowed(tool plan.Tool) bool {
	return s.isItem() && s.whole().gate.itemsOf == promised(tool)
}

// reserved reports whether budget is reserved for the step's approved call. Another
// call after it has no reservation: calls whose gate is open come first.
func (s *StepState) reserved() bool { return s.allowed() && !s.gate.called }

// callHash returns the SHA-256 (hex) of a call: its tool, its arguments, and the effects
// that the tool promises. An approval holds for one such call.
func callHash(t plan.Tool, args map[string]any) string {
	return hashOf(promised(t)+"\n", args)
}

// hashOf returns the SHA-256 (hex) of words and of the JSON of args, which may be large.
func hashOf(words string, args map[string]any) string {
	sum := sha256.New()
	_, _ = io.WriteString(sum, words)
	_, _ = jsonparts.Write(sum, args) // args always have JSON
	return hex.EncodeToString(sum.Sum(nil))
}

// promised returns what an approval of the tool covers: its identity, and all that is
// said of it.
func promised(t plan.Tool) string {
	said, open := t.Pin, "unknown"
	if said == "" {
		said = t.Description
	}
	if t.OpenWorld != nil {
		open = strconv.FormatBool(*t.OpenWorld)
	}
	return plan.CanonicalJSON([]any{t.QualifiedName(), said, t.ReadOnly, t.Destructive, t.Annotated, open, t.Trusted, t.Contained})
}
