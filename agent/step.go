package agent

import (
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/reply"
)

// attemptCount counts the attempts of a step.
type attemptCount struct {
	total  int // under its index so far, over all revisions
	before int // of those, before this revision or a resume
	newest int // the place of the newest in Run.Attempts, from 1; 0 before the first
}

// gateAnswer is the answer to the newest gate of a step.
type gateAnswer uint8

const (
	gateUnanswered gateAnswer = iota // or no gate was opened yet
	gateAllowed
	gateDenied
)

// gateState is the way of a step's next call through its gate.
type gateState struct {
	answer   gateAnswer
	tool     string            // that the newest gate was about, and the effects announced for it then
	hashes   map[string]string // of the files that the gate showed the call against
	files    []string          // that the call was to change when it passed the gate
	outdated string            // why the gate that it passed opens again
	removes  string            // what the call would remove, about which its gate asks; see event.StepFailed
	pass     *pass             // given by the user when the plan was reviewed
}

// allowed reports whether the user lets the call pass.
func (g *gateState) allowed() bool { return g.answer == gateAllowed }

// withdraw takes back that the user let the call pass. A denial stays.
func (g *gateState) withdraw() {
	if g.answer == gateAllowed {
		g.answer = gateUnanswered
	}
}

// authorship says who wrote the args of a step, where it was not the plan alone.
type authorship struct {
	args  map[string]any    // of the user, in place of the plan's
	edits int               // by the user at the gate; args has no references then
	kept  []rule.Provenance // of what the user left as it was at the gate
	read  []rule.Provenance // by the model before it wrote the step into the plan
}

// filling is the model's work on args that the plan leaves out.
type filling struct {
	missing []string       // args that the tool requires
	args    map[string]any // as the model wrote them; nil until then
	asking  bool           // the model is asked for them
	problem string         // why it did not write them
}

// interruption says how the end of a program, or damage to the journal, has cut
// into a step.
type interruption uint8

const (
	uninterrupted    interruption = iota
	startUnknown                  // a damaged line of the journal may have said that it started
	lost                          // it was under way when the program ended
	lostStartUnknown              // both
	rerunUnasked                  // it was in doubt, and is run again without a question
)

// isLost reports whether the step was under way when the program ended.
func (i interruption) isLost() bool { return i == lost || i == lostStartUnknown }

// lose is the interruption of a step that is under way when the program ends.
func (i interruption) lose() interruption {
	if i == startUnknown || i == lostStartUnknown {
		return lostStartUnknown
	}
	return lost
}

// skipping says that a step will be skipped.
type skipping struct {
	reason string // "" where it will not
	byUser bool   // the user had it skipped, which outlives a resume
}

// innerCall is what a call of a loop has besides a step of the plan.
type innerCall struct {
	loop     *Loop         // that made it; nil for a step of the plan
	use      reply.ToolUse // the call as the model asked for it
	unknown  error         // why there is no such tool
	answered bool          // the model knows the outcome, or is told with its next turn
}

// schedule is the place of a step in the graph and in the queues.
type schedule struct {
	waits  int          // steps it depends on that are not completed
	feeds  []*StepState // steps that depend on it
	node   int          // its position in the graph
	place  int          // among all steps, by number and then as they were written
	length float64      // ms to the end of the longest path from it
	need   need         // what it needs next
	at     int          // its place in the queue of those
}

// readyCall is the call of a step that could start, or why there can be none.
type readyCall struct {
	args   map[string]any
	fitted []plan.Coercion // of the scalars in args
	flaw   *flaw
}

// flaw is why a step cannot start although all it depends on is completed.
type flaw struct {
	kind     event.FailureKind
	sentence string
}
