package agent

import (
	"slices"
	"strings"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/expression"
	"replan/planning/plan"
	"replan/planning/reply"
)

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

// forget forgets the call, which is prepared anew.
func (c *readyCall) forget() { *c = readyCall{} }

// set sets the arguments of the call, and fit the scalars that were fitted to the schema.
func (c *readyCall) set(args map[string]any)    { c.args = args }
func (c *readyCall) fit(fitted []plan.Coercion) { c.fitted = fitted }

// arguments returns the arguments of the call, and coerced the scalars fitted among them.
func (c *readyCall) arguments() map[string]any { return c.args }
func (c *readyCall) coerced() []plan.Coercion  { return c.fitted }

// fail notes why the step cannot start, and failure returns that; nil if it can.
func (c *readyCall) fail(kind event.FailureKind, sentence string) { c.flaw = &flaw{kind, sentence} }
func (c *readyCall) failure() *flaw                               { return c.flaw }

// decide notes what the condition of the step looked at, and whether it takes the step.
func (c *readyCall) decide(saw []expression.Sight, takes bool) { c.saw, c.out = saw, !takes }

// leftOut reports whether the condition takes the step out, and what it looked at.
func (c *readyCall) leftOut() (saw []expression.Sight, out bool) { return c.saw, c.out }

// expand notes the items with which the step begins, and expands returns them.
func (c *readyCall) expand(items []any)               { c.expanded, c.items = true, items }
func (c *readyCall) expands() (items []any, yes bool) { return c.items, c.expanded }

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

// byUser reports whether the user wrote the args, and timesEdited how often at a gate.
func (a *authorship) byUser() bool     { return a.args != nil }
func (a *authorship) edited() bool     { return a.edits > 0 }
func (a *authorship) timesEdited() int { return a.edits }

// readBefore notes what the model had read before it planned the step, and hadRead returns it.
func (a *authorship) readBefore(read []rule.Provenance) { a.read = read }
func (a *authorship) hadRead() []rule.Provenance        { return a.read }

// stillCarries returns the text that the args carry after the user edited them at a gate.
func (a *authorship) stillCarries() []rule.Provenance { return a.kept }

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
		return s.author.byUser()
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

// lacks notes the args that the tool requires and the plan leaves out, and missingArgs returns
// them.
func (f *argsRequest) lacks(args []string)   { f.missing = args }
func (f *argsRequest) missingArgs() []string { return f.missing }

// ask notes that they are requested from the model, or no longer, and asked reports it.
func (f *argsRequest) ask(asking bool) { f.asking = asking }
func (f *argsRequest) asked() bool     { return f.asking }

// fail notes why the model did not write them; "" is for no reason.
func (f *argsRequest) fail(problem string) { f.problem = problem }

// take takes what the model wrote, and written returns it.
func (f *argsRequest) take(args map[string]any) { f.args = args }
func (f *argsRequest) written() map[string]any  { return f.args }

// open reports whether args are missing that no model has written.
func (f *argsRequest) open() bool { return len(f.missing) > 0 && f.args == nil }

// failed returns why the model did not write them, "" if it was not asked or has.
func (f *argsRequest) failed() string { return f.problem }

// refuse has the model asked once more for args that cannot be meant. It reports false if it
// was already.
func (f *argsRequest) refuse(args map[string]any, why string) bool {
	if f.refused != "" {
		return false
	}
	f.refused = plan.CanonicalJSON(args) + "\n" + why
	return true
}

// refusal returns the arguments that were refused, and why; "" if none were.
func (f *argsRequest) refusal() string { return f.refused }

// refill has the model asked once more for args that the tool refused. It reports false if it
// wrote none, or was asked already.
func (s *StepState) refill() bool {
	if s.fill.args == nil || !s.fill.refuse(s.fill.args, string(s.Error)) {
		return false
	}
	s.Status, s.fill.args = StepPending, nil
	s.call.forget()
	return true
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

// newCall returns the state of a call that a loop makes. number counts its calls.
func newCall(l *Loop, use reply.ToolUse, step plan.Step, parent string, number int, attempts attemptCount) *StepState {
	c := newStep(step, attempts)
	c.Parent, c.inner = parent, innerCall{loop: l, use: use}
	if of := l.stepOf(); of != nil {
		c.replanned = of.replanned
		c.sched.rankAs(of)
	}
	c.sched.count(number)
	return c
}

// byModel reports whether a model made the call, and conversation returns the loop in which it
// did; nil for a plan step.
func (s *StepState) byModel() bool       { return s.inner.loop != nil }
func (s *StepState) conversation() *Loop { return s.inner.loop }

// isUnknown notes why the tool of a call does not exist, and unknownTool returns it.
func (c *innerCall) isUnknown(err error) { c.unknown = err }
func (c *innerCall) unknownTool() error  { return c.unknown }

// findsTools notes that the call finds tools, and finder reports it.
func (c *innerCall) findsTools(yes bool) { c.finds = yes }
func (c *innerCall) finder() bool        { return c.finds }

// answer notes that the model knows the outcome, and isAnswered reports it.
func (c *innerCall) answer()          { c.answered = true }
func (c *innerCall) isAnswered() bool { return c.answered }

// request returns the call as the model wrote it.
func (c *innerCall) request() reply.ToolUse { return c.use }

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
	l := s.inner.loop
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
	return &call
}
