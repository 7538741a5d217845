package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/jsonparts"
	"replan/internal/untrusted"
	"replan/planning/expression"
	"replan/planning/plan"
	"replan/planning/reply"
)

// attemptCount counts the attempts of a step.
type attemptCount struct {
	total  int // under its index so far, across all revisions
	before int // of those, before this revision or a resume
	newest int // index of the newest in Run.Attempts, from 1; 0 before the first
}

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
	repeats  int               // how often an answer to it was of no use, see mostRepeats
	why      untrusted.Text    // the last time
	since    uint64            // the event since which a gate must be opened; 0 if none must
	pass     *pass             // given by the user when reviewing the plan
	itemsOf  string            // what the tool promised when the user let untrusted text decide for which items it is called
}

// allowed reports whether the user allowed the call.
func (g *gateState) allowed() bool { return g.answer == gateAllowed }

// unbind forgets what the gate showed of the call.
func (g *gateState) unbind() { g.hashes, g.command = nil, nil }

// withdraw revokes the user's permission for the call. A denial stays.
func (g *gateState) withdraw() {
	if g.answer == gateAllowed {
		g.answer = gateUnanswered
	}
}

// mostRepeats is how often the gate of a call opens again because what it showed no longer is
// what the call would do. After that the step fails: no answer settles it.
const mostRepeats = 5

// repeat notes that the answer to the gate was of no use.
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

// reask revokes the user's permission for a call that has changed since.
func reask(s *StepState) {
	s.gate.withdraw()
	s.gate.outdated, s.Diff, s.gate.removes = "the call, or its tool, is no longer the one that you saw", "", ""
	s.gate.repeat(s.gate.outdated)
	s.gate.unbind()
}

// keepBound revokes the user's permission if it was for another call than the one that the
// step is about to make.
func keepBound(s *StepState, t plan.Tool) {
	if s.gate.allowed() && s.gate.call != callHash(t, s.call.args) {
		reask(s)
	}
}

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

// authorship records who wrote the args of a step, if not the plan alone.
type authorship struct {
	args  map[string]any    // by the user, replacing those of the plan
	edits int               // by the user at the gate; args has no references after the first
	kept  []rule.Provenance // of the args the user left unchanged at the gate
	read  []rule.Provenance // what the model had read before it planned the step
}

// filling is the model's work on args that the plan leaves out.
type filling struct {
	missing []string       // args that the tool requires
	args    map[string]any // written by the model; nil until then
	asking  bool           // requested from the model
	problem string         // why the model did not write them
	refused string         // the arguments that the tool refused, and why: they are asked for once more
}

// interruption records how the end of a program, or a damaged journal, affected a
// step.
type interruption uint8

const (
	uninterrupted    interruption = iota
	startUnknown                  // a damaged journal line may have recorded its start
	lost                          // it was running when the program ended
	lostStartUnknown              // both
	rerunUnasked                  // it was in doubt and runs again without a question
)

// isLost reports whether the step was running when the program ended.
func (i interruption) isLost() bool { return i == lost || i == lostStartUnknown }

// lose returns the interruption of a step that is running when the program ends.
func (i interruption) lose() interruption {
	if i == startUnknown || i == lostStartUnknown {
		return lostStartUnknown
	}
	return lost
}

// checking tracks the checks of a step whose work is done.
type checking struct {
	round         int    // counts how often they began
	since         uint64 // the event after which the next one may be evaluated
	unknownResult bool   // the user says that the work is done, and nobody knows its result
}

// skipping records that a step will be skipped.
type skipping struct {
	reason string // "" if it will not be
	byUser bool   // the user chose to skip it, which survives a resume
}

// innerCall holds what a loop's call has in addition to a plan step.
type innerCall struct {
	loop     *Loop         // that made the call; nil for a plan step
	use      reply.ToolUse // the call as requested by the model
	unknown  error         // why the tool does not exist
	counted  bool          // as a call of the model, for the runaway guard
	finds    bool          // it calls [prompt.FindTool]
	answered bool          // the model knows the outcome, or gets it with its next turn
}

// readyCall is the call of a step that could start, or the reason why it cannot.
type readyCall struct {
	args   map[string]any
	fitted []plan.Coercion // of the scalars in args
	flaw   *flaw
	saw    []expression.Sight // what its condition looked at
	out    bool               // its condition takes the step out

	expanded bool  // it begins with its items
	items    []any // those
}

// flaw is the reason why a step cannot start although its dependencies are
// completed.
type flaw struct {
	kind     event.FailureKind
	sentence string
}

// account returns what the run that a plan tool started has used since the last time, since
// both share one budget. For a resumed run, part of the usage was added before.
func (s *StepState) account(run string, used *event.Usage) (more event.Usage) {
	if run != "" && run != s.Run {
		s.Run, s.runUsage = run, event.Usage{}
	}
	if used != nil {
		more, s.runUsage = used.Since(s.runUsage), *used
	}
	return more
}

// retryTimer returns the timer id for the next attempt of a step.
func (s *StepState) retryTimer() string {
	return fmt.Sprintf("retry/%s/%d", s.Step.Index, s.attempts.total+1)
}
