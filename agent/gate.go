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
	"replan/internal/jsonparts"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// stepGate tracks the gate of a step's next call.
type stepGate struct {
	answer   gateAnswer
	declined bool // a user denied it, and reason is why, in their words
	reason   untrusted.Text
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
	neededAt uint64            // the event since which a gate must be opened; 0 if none must
	pass     *pass             // given by the user when reviewing the plan
	itemsOf  string            // what the tool promised when the user let untrusted text decide for which items it is called
}

// gateAnswer is the answer to the newest gate of a step.
type gateAnswer uint8

const (
	gateUnanswered gateAnswer = iota // or no gate has opened yet
	gateAllowed
	gateDenied
)

// pass is the user's approval of one call that has not been reached yet.
type pass struct {
	args map[string]any // as shown to the user
	tool string         // the tool with the effects announced for it at the time
	try  int            // the attempt that the approval is valid for
}

// needed notes the event since which a gate must be opened.
func (g *stepGate) needed(at uint64) {
	if g.neededAt == 0 {
		g.neededAt = at
	}
}

// since returns the event since which a gate must be opened, 0 if none must.
func (g *stepGate) since() uint64 { return g.neededAt }

// unneeded notes that no gate must be opened.
func (g *stepGate) unneeded() { g.neededAt = 0 }

// open opens the gate for the call whose hash is call. It reports whether the step waits there:
// a call that changes nothing passes it.
func (g *stepGate) open(d event.GateRequested, call string) (waits bool) {
	g.hashes, g.command, g.call = d.Hashes, d.Command, call
	g.called = false
	g.unneeded()
	if d.Nothing {
		g.answer = gateAllowed
	}
	return !d.Nothing
}

// decide notes the answer to the gate.
func (g *stepGate) decide(d event.GateResolved) {
	g.answer, g.declined, g.reason = gateAllowed, false, ""
	if d.Decision != event.Allow {
		g.answer, g.declined, g.reason = gateDenied, d.Declined(), d.Reason
	}
}

// declineReason returns why a user denied the call, and whether one did.
func (g *stepGate) declineReason() (reason untrusted.Text, declined bool) {
	return g.reason, g.denied() && g.declined
}

// allowed reports whether the user allowed the call.
func (g *stepGate) allowed() bool { return g.answer == gateAllowed }

// denied reports whether the user denied the call.
func (g *stepGate) denied() bool { return g.answer == gateDenied }

// showed returns the hashes of the files that the gate showed, and the command.
func (g *stepGate) showed() (hashes map[string]string, command *plan.Command) {
	return g.hashes, g.command
}

// changing returns the files that the call will change, as the gate showed them.
func (g *stepGate) changing() []string { return slices.Collect(maps.Keys(g.hashes)) }

// wasChanging returns the files that the call was to change when it passed a gate that opens
// again.
func (g *stepGate) wasChanging() []string { return g.files }

// reopenReason returns why a passed gate opens again, "" if it does not.
func (g *stepGate) reopenReason() untrusted.Text { return g.outdated }

// removal returns what the call would remove, "" if nothing that was not seen.
func (g *stepGate) removal() string { return g.removes }

// linkTargets returns where paths of the call lead through links; nil if no tool has said so.
func (g *stepGate) linkTargets() map[string]string { return g.paths }

// binds reports whether a call is the one that the newest gate showed.
func (g *stepGate) binds(t plan.Tool, args map[string]any) bool { return g.call == callHash(t, args) }

// unbind forgets what the gate showed of the call.
func (g *stepGate) unbind() { g.hashes, g.command = nil, nil }

// withdraw revokes the user's permission for the call. A denial stays.
func (g *stepGate) withdraw() {
	if g.answer == gateAllowed {
		g.answer = gateUnanswered
	}
}

// forCall notes that a call is made.
func (g *stepGate) forCall() { g.outdated, g.files, g.called = "", nil, true }

// settled notes that a call has succeeded.
func (g *stepGate) settled() { g.repeats = 0 }

// reset resets the gate for a new attempt.
func (g *stepGate) reset() {
	g.forOtherCall()
	g.repeats, g.answer = 0, gateUnanswered
}

// forOtherCall forgets what concerns a call that is replaced by another one, and the permission
// for it.
func (g *stepGate) forOtherCall() {
	g.outdated, g.files, g.removes = "", nil, ""
	g.withdraw()
	g.unbind()
}

// forEditedCall does the same for a call that the user edited, and forgets a denial.
func (g *stepGate) forEditedCall() {
	g.forOtherCall()
	g.answer = gateUnanswered
}

// mostRepeats is how often the gate of a call opens again because what it showed no longer is
// what the call would do. After that the step fails: no answer settles it.
const mostRepeats = 5

// repeat notes that the answer did not settle the gate.
func (g *stepGate) repeat(why untrusted.Text) {
	g.repeats++
	g.why = why
}

// unsettled says why the gate does not open once more; "" if it may.
func (g *stepGate) unsettled() string {
	if g.repeats <= mostRepeats {
		return ""
	}
	return fmt.Sprintf("its gate was asked %d times, and each time the call was then another one: %s", g.repeats, g.why)
}

// asksAbout lets the gate ask about what the call would remove.
func (g *stepGate) asksAbout(removes string) {
	g.removes = removes
	g.repeat(untrusted.Text("it " + removes))
}

// outdate lets the gate open again, since the call would do something else than it showed.
// paths are where its paths lead now; nil leaves them.
func (g *stepGate) outdate(why untrusted.Text, paths map[string]string) {
	if paths != nil {
		g.paths = paths
	}
	g.files = slices.Sorted(maps.Keys(g.hashes))
	g.askAgain(why)
}

// reask revokes the user's permission for a call that has changed since.
func (g *stepGate) reask() {
	g.removes = ""
	g.askAgain("the call, or its tool, is no longer the one that you saw")
}

// askAgain lets the gate open again, whose answer no longer holds.
func (g *stepGate) askAgain(why untrusted.Text) {
	g.outdated = why
	g.withdraw()
	g.repeat(why)
	g.unbind()
}

// approve lets an attempt pass, if its call is the one that the user has seen in the review.
func (g *stepGate) approve(tool plan.Tool, args map[string]any, attempt int) {
	g.pass = &pass{args: args, tool: promised(tool), try: attempt}
}

// approved reports whether the user approved, in the review, the call of an attempt.
func (g *stepGate) approved(tool plan.Tool, args map[string]any, attempt int) bool {
	p := g.pass
	return p != nil && p.try == attempt && p.tool == promised(tool) && plan.EqualValues(p.args, args)
}

// allowItems notes that the user lets untrusted text decide for which items of the step the
// tool is called.
func (g *stepGate) allowItems(tool plan.Tool) { g.itemsOf = promised(tool) }

// allowsItems reports whether the user lets untrusted text decide for which items of the step the
// tool is called.
func (g *stepGate) allowsItems(tool plan.Tool) bool { return g.itemsOf == promised(tool) }

// reserved reports whether budget is reserved for the approved call. Another call after it has
// no reservation: calls whose gate is open come first.
func (g *stepGate) reserved() bool { return g.allowed() && !g.called }

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
	description, open := t.Pin, "unknown"
	if description == "" {
		description = t.Description
	}
	if t.OpenWorld != nil {
		open = strconv.FormatBool(*t.OpenWorld)
	}
	return plan.CanonicalJSON([]any{t.QualifiedName(), description, t.ReadOnly, t.Destructive, t.Annotated, open, t.Trusted, t.Contained})
}
