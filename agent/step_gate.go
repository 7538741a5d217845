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

// showGate notes what the newest gate shows of the call, whose hash is call.
func (s *StepState) showGate(d event.GateRequested, call string) {
	s.Diff, s.gate.hashes, s.gate.command, s.gate.call = d.Diff, d.Hashes, d.Command, call
	s.gate.called, s.gate.since = false, 0
}

// allow and deny answer the gate.
func (g *gateState) allow() { g.answer = gateAllowed }
func (g *gateState) deny()  { g.answer = gateDenied }

// allowed reports whether the user allowed the call, and denied whether they denied it.
func (g *gateState) allowed() bool { return g.answer == gateAllowed }
func (g *gateState) denied() bool  { return g.answer == gateDenied }

// start notes that the call is made.
func (g *gateState) start() { g.outdated, g.files, g.called = "", nil, true }

// need notes the event since which a gate must be opened, and since returns it.
func (g *gateState) need(at uint64) {
	if g.since == 0 {
		g.since = at
	}
}

// shown returns the hashes of the files that the gate showed, and the command.
func (g *gateState) shown() (hashes map[string]string, command *plan.Command) {
	return g.hashes, g.command
}

// changing returns the files that the call will change, as the gate showed them, and changed
// those that it was to change when it passed a gate that opens again.
func (g *gateState) changing() []string { return slices.Collect(maps.Keys(g.hashes)) }
func (g *gateState) changed() []string  { return g.files }

// reopens returns why a passed gate opens again, "" if it does not.
func (g *gateState) reopens() untrusted.Text { return g.outdated }

// removal returns what the call would remove, "" if nothing that was not seen.
func (g *gateState) removal() string { return g.removes }

// leadsTo returns where paths of the call lead through links.
func (g *gateState) leadsTo() map[string]string { return g.paths }

// shows reports whether a call, by its hash, is the one that the newest gate showed.
func (g *gateState) shows(call string) bool { return g.call == call }

// unbind forgets what the gate showed of the call.
func (g *gateState) unbind() { g.hashes, g.command = nil, nil }

// withdraw revokes the user's permission for the call. A denial stays.
func (g *gateState) withdraw() {
	if g.answer == gateAllowed {
		g.answer = gateUnanswered
	}
}

// again resets the gate for a new attempt.
func (g *gateState) again() {
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
func (g *gateState) unsettled() string {
	if g.repeats <= mostRepeats {
		return ""
	}
	return fmt.Sprintf("its gate was asked %d times, and each time the call was then another one: %s", g.repeats, g.why)
}

// wouldRemove notes what the call would remove, which its gate must show.
func (g *gateState) wouldRemove(what string) {
	g.removes = what
	g.repeat(untrusted.Text("it " + what))
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
	if s.gate.allowed() && !s.gate.shows(callHash(t, s.call.args)) {
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

// allowItems notes that the user lets untrusted text decide for which items the tool is
// called, and itemsAllowed reports that.
func (g *gateState) allowItems(tool plan.Tool)        { g.itemsOf = promised(tool) }
func (g *gateState) itemsAllowed(tool plan.Tool) bool { return g.itemsOf == promised(tool) }

// reserved reports whether budget is reserved for the step's approved call. Another
// call after it has no reservation: calls whose gate is open come first.
func (s *StepState) reserved() bool { return s.gate.allowed() && !s.gate.called }

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
