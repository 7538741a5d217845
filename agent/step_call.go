package agent

import (
	"slices"
	"strings"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/expression"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// readyCall is the call of a step that could start, or the reason why it cannot.
type readyCall struct {
	args   map[string]any
	fitted []plan.Coercion // of the scalars in args
	flaw   flaw
	saw    []expression.Sight // what its condition looked at
	out    bool               // its condition takes the step out

	expanded bool  // it begins with its items
	items    []any // those
}

// flaw is the reason why a step cannot start although its dependencies are
// completed.
type flaw struct {
	kind     event.FailureKind // "" if it can start
	sentence string
}

// forgetCall forgets the call, which is prepared anew, and prepare sets its arguments; fitted
// are the scalars among them that were fitted to the schema of the tool.
func (s *StepState) forgetCall() { s.call = readyCall{} }

func (s *StepState) prepare(args map[string]any, fitted []plan.Coercion) {
	s.call = readyCall{args: args, fitted: fitted}
}

// leaveOut notes that the condition of the step takes it out, and what it looked at.
func (s *StepState) leaveOut(saw []expression.Sight) { s.call = readyCall{saw: saw, out: true} }

// beginWith notes the items with which the step begins.
func (s *StepState) beginWith(items []any) { s.call = readyCall{items: items, expanded: true} }

// cannotStart notes why the step cannot start.
func (s *StepState) cannotStart(kind event.FailureKind, sentence string) {
	s.call.flaw = flaw{kind, sentence}
}

// nextCall returns the call of a step that could start, and callArgs its arguments.
func (s *StepState) nextCall() readyCall      { return s.call }
func (s *StepState) callArgs() map[string]any { return s.call.args }

// authorship records who wrote the args of a step, if not the plan alone.
type authorship struct {
	args  map[string]any    // by the user, replacing those of the plan
	edits int               // by the user at the gate; args has no references after the first
	kept  []rule.Provenance // of the args the user left unchanged at the gate
	read  []rule.Provenance // what the model had read before it planned the step
}

// args returns the arguments of a step as written: those of the user if there are
// any, else those of the plan.
func (s *StepState) args() map[string]any {
	if s.author.args != nil {
		return s.author.args
	}
	return s.Step.Args
}

// write replaces the args of the plan with those of the user, who retries the step.
func (s *StepState) write(args map[string]any) {
	s.author.args, s.fill.args, s.fill.missing = args, nil, nil
	s.author.edits, s.author.kept = 0, nil
}

// byUser reports whether the user wrote the args, and edits how often at a gate.
func (s *StepState) byUser() bool { return s.author.args != nil }
func (s *StepState) edits() int   { return s.author.edits }

// plannedAfter notes what the author of the step had read before, and authorRead returns it.
func (s *StepState) plannedAfter(read []rule.Provenance) { s.author.read = read }
func (s *StepState) authorRead() []rule.Provenance       { return s.author.read }

// stillCarries returns the text that the args carry after the user edited them at a gate.
func (s *StepState) stillCarries() []rule.Provenance { return s.author.kept }

// writtenLike lets a step of a new plan keep the author that it had.
func (s *StepState) writtenLike(before *StepState) {
	s.replanned = before.replanned
	s.author.read = before.author.read
}

// settled reports whether a review can no longer change a step. The step has
// ended or is running, or the user already wrote its call.
func (s *StepState) settled() bool {
	switch s.Status {
	case StepPending, StepWaiting, StepFailed:
		return s.byUser()
	default:
		return true
	}
}

// argName returns the name under which the tool takes an argument of a step.
func (s *StepState) argName(written string) string {
	for _, c := range slices.Concat(s.call.fitted, s.Coerced) {
		if c.Name != "" && c.Arg == plan.JSONPointer("", written) {
			return c.Name
		}
	}
	return written
}

// argsRequest is the model's work on args that the plan leaves out.
type argsRequest struct {
	missing []string       // args that the tool requires
	args    map[string]any // written by the model; nil until then
	asking  bool           // requested from the model
	problem string         // why the model did not write them
	refused string         // the arguments that the tool refused, and why: they are asked for once more
}

// lacks notes the args that the tool requires and the plan leaves out.
func (s *StepState) lacks(args []string) { s.fill.missing = args }

// lacking returns the args that no model has written yet, and why the model that was asked did
// not; no names if all are there.
func (s *StepState) lacking() (names []string, problem string) {
	if s.fill.args != nil {
		return nil, ""
	}
	return s.fill.missing, s.fill.problem
}

// askForArgs notes that the missing args are requested from the model, which sees the results
// of some steps only in part. asksForArgs reports that, and stopAsking ends it.
func (s *StepState) askForArgs(partial []string) { s.fill.asking, s.partial = true, partial }
func (s *StepState) asksForArgs() bool           { return s.fill.asking }
func (s *StepState) stopAsking()                 { s.fill.asking = false }

// takeArgs takes the args that the model wrote, and modelArgs returns them. lackArgs notes why it
// did not write them.
func (s *StepState) takeArgs(args map[string]any) { s.fill.args, s.fill.problem = args, "" }
func (s *StepState) modelArgs() map[string]any    { return s.fill.args }
func (s *StepState) lackArgs(problem string)      { s.fill.problem = problem }

// refuseArgs has the model asked once more for args that cannot be meant. A second time, the
// step lacks them for that reason.
func (s *StepState) refuseArgs(args map[string]any, why string) {
	if s.fill.problem = ""; !s.fill.refuse(args, why) {
		s.fill.problem = why
	}
}

// refuse notes arguments that are asked for once more. It reports false if some were already.
func (f *argsRequest) refuse(args map[string]any, why string) bool {
	if f.refused != "" {
		return false
	}
	f.refused = plan.CanonicalJSON(args) + "\n" + why
	return true
}

// refusedArgs returns the arguments that were refused, and why; "" if none were.
func (s *StepState) refusedArgs() string { return s.fill.refused }

// refill has the model asked once more for args that the tool refused. It reports false if it
// wrote none, or was asked already.
func (s *StepState) refill() bool {
	if s.fill.args == nil || !s.fill.refuse(s.fill.args, string(s.Error)) {
		return false
	}
	s.Status, s.fill.args = StepPending, nil
	s.forgetCall()
	return true
}

// innerCall holds what a loop's call has in addition to a plan step.
type innerCall struct {
	loop     *Loop         // that made the call
	use      reply.ToolUse // the call as requested by the model
	unknown  error         // why the tool does not exist
	counted  bool          // as a call of the model, for the runaway guard
	finds    bool          // it calls [prompt.FindTool]
	answered bool          // the model knows the outcome, or gets it with its next turn
}

// newCall returns the state of a call that a loop makes. number counts the calls of the loop.
func newCall(call innerCall, step plan.Step, parent string, number int, attempts attemptCount) *StepState {
	c := newStep(step, attempts)
	c.Parent, c.inner = parent, &call
	if of := call.loop.stepOf(); of != nil {
		c.replanned, c.place = of.replanned, of.place
	}
	c.place.rank = number
	return c
}

// number returns the number of a call among those of its loop.
func (s *StepState) number() int { return s.place.rank }

// byModel reports whether a model made the call, and conversation returns the loop in which it
// did; nil for a plan step.
func (s *StepState) byModel() bool { return s.inner != nil }

func (s *StepState) conversation() *Loop {
	if s.inner == nil {
		return nil
	}
	return s.inner.loop
}

// unknownTool returns why the tool of a call does not exist; nil if it does.
func (s *StepState) unknownTool() error {
	if s.inner == nil {
		return nil
	}
	return s.inner.unknown
}

// answer notes that the model knows the outcome of its call, or gets it with its next turn, and
// isAnswered reports it.
func (s *StepState) answer()          { s.inner.answered = true }
func (s *StepState) isAnswered() bool { return s.inner != nil && s.inner.answered }

// foundTools returns the names of the tools that a completed call has found.
func (s *StepState) foundTools() []string {
	if s.Status != StepCompleted || !s.findsTools() {
		return nil
	}
	return prompt.FoundNames(s.Result)
}

// findsTools reports whether the call is one of [prompt.FindTool].
func (s *StepState) findsTools() bool { return s.inner != nil && s.inner.finds }

// answerToModel returns the message that tells a model the outcome of its call.
func (s *StepState) answerToModel() prompt.Message {
	failure := string(s.Error)
	switch {
	case s.Status == StepCompleted:
		failure = ""
	case s.Failure == event.FailureDenied:
		failure = "the user does not allow this call; find another way, or say what would be needed"
	case s.Failure == event.FailureInterrupted:
		failure = "the user cancelled this call"
	}
	return prompt.Answered(s.inner.use, s.Result, string(s.Beside.Text), failure, "the result of step "+s.Step.Index)
}

// countCall counts the call of a model for the runaway guard, once: another attempt, after a
// kill, is no other call. uncountCall takes that back.
func (s *StepState) countCall(args map[string]any) {
	if !s.inner.counted {
		s.inner.counted = true
		s.inner.loop.made(s.Step.Tool, args)
	}
}

func (s *StepState) uncountCall() {
	s.inner.counted = false
	s.inner.loop.unmade(s.Step.Tool, s.Args)
}

// orphaned reports whether nothing waits for a call any more. The loop that
// requested it has ended with its step, which may have a newer attempt.
func (s *StepState) orphaned() bool {
	l := s.conversation()
	if l == nil || l.stepOf() == nil {
		return false
	}
	of := l.stepOf()
	return of.Status != StepRunning || of.Loop != l
}

// copyTo returns a copy of the call as one of another step. was is the index of the step that
// it belonged to.
func (s *StepState) copyTo(parent, was string) *StepState {
	call := *s
	call.Step.Index, call.Parent = parent+strings.TrimPrefix(s.Step.Index, was), parent
	inner := *s.inner
	call.inner = &inner
	return &call
}
