package agent

import (
	"fmt"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/expression"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// scheduler decides what each step needs next, and maintains the queues of steps
// that can be acted on.
type scheduler struct{ ledger }

// enqueue recomputes what a step needs next and puts it into the right queue.
func (r scheduler) enqueue(s *StepState) {
	if s.inner.loop != nil {
		s.inner.loop.clock(r.Now)
	}
	now := r.needOf(s)
	if s.item.step != nil {
		now = r.inTurn(s, r.asksForItems(s, now))
	}
	if now == needGate && s.gate.since == 0 {
		s.gate.since = r.Seq
	}
	r.queues.put(s, now)
}

// enqueueAll enqueues every step of the plan.
func (r scheduler) enqueueAll() {
	r.queues = queues{}
	r.every(func(s *StepState) { s.sched.drop() })
	r.every(r.enqueue)
}

// needOf computes what a step needs next. For a step that could start, it stores
// the call, or the reason why there is none.
func (r scheduler) needOf(s *StepState) need {
	if s.Draft {
		return needNothing
	}
	s.call = readyCall{}
	switch {
	case r.Revision == 0 && s.Parent == "" || s.awaitsUser || s.inner.answered:
		return needNothing
	case s.item.step != nil && s.held():
		return needNothing
	case s.Status == StepRunning:
		return s.needOfRunning()
	case s.Status == StepChecking:
		return needCheck
	case s.Status == StepFailed && r.retries(s):
		return needRecord
	case s.Status != StepPending || s.fill.asking:
		return needNothing
	case s.orphaned():
		s.skip.reason = "the step that asked for it has ended"
		return needRecord
	case s.skip.reason != "":
		return needRecord
	case s.node.blocked():
		return needNothing
	case !r.takes(s):
		return needRecord
	case s.expands():
		if next, known := r.needOfItems(s); known {
			return next
		}
		fallthrough
	case r.dryRun:
		s.call.flaw = r.prepareDry(s)
		return needRecord
	case !s.RetryAt.IsZero() && !r.fired(r.retryTimer(s)):
		return needTimer
	}
	if s.ReadyAt.IsZero() {
		s.ReadyAt = r.Now
	}
	return r.needOfCall(s)
}

// needOfRunning returns the next need of a step that runs.
func (s *StepState) needOfRunning() need {
	switch {
	case s.Loop != nil:
		return s.Loop.need()
	case s.expands() && s.itemsOver():
		return needRecord
	default:
		return needNothing
	}
}

// needOfCall returns the next need of a step that only a slot, a gate or its own
// flaw keeps from starting.
func (r scheduler) needOfCall(s *StepState) need {
	flawed := func(kind event.FailureKind, sentence string) need {
		s.call.flaw = &flaw{kind, sentence}
		return needRecord
	}
	switch s.Step.Executor {
	case plan.ExecutorSelf:
		if r.Model == "" {
			return flawed(event.FailureModel, "there is no model to carry it out; start Ollama, or choose one with --host and --model")
		}
		return needModelSlot
	case plan.ExecutorAgent:
		profile, known := r.prompting.Profile(s.Step.Profile)
		switch {
		case !known:
			return flawed(event.FailureArgs, fmt.Sprintf("there is no profile %q to carry it out", s.Step.Profile))
		case r.Model == "":
			return flawed(event.FailureModel, "there is no model to carry it out; start Ollama, or choose one with --host and --model")
		case !r.modelTools && profile.Model == "":
			return flawed(event.FailureModel, fmt.Sprintf("the model %s cannot call tools, which a sub-agent has to; choose another, or name one in the profile %q", r.Model, profile.Name))
		}
		return needModelSlot
	}
	facts := r.facts(s.Step.Tool)
	switch {
	case s.inner.unknown != nil:
		return flawed(event.FailureArgs, s.inner.unknown.Error())
	case prompt.IsPlanTool(facts.Tool) && s.Parent != prompt.ChatParent:
		return flawed(event.FailureArgs, "only a model in chat can call "+facts.Tool.Name)
	case prompt.IsFindTool(facts.Tool) && s.inner.loop == nil:
		return flawed(event.FailureArgs, "only a model that makes its own calls can call "+facts.Tool.Name)
	case facts.Err != nil:
		return flawed(event.FailureArgs, facts.Err.Error())
	case s.gate.answer == gateDenied:
		return flawed(event.FailureDenied, plan.DeniedAtGate)
	case facts.blocked():
		return flawed(event.FailureDenied, deniedBy(facts.Rules[0]))
	case len(s.fill.missing) > 0 && s.fill.args == nil && s.fill.problem != "":
		return flawed(event.FailureModel, "the model did not fill in "+strings.Join(s.fill.missing, " and ")+": "+s.fill.problem)
	case len(s.fill.missing) > 0 && s.fill.args == nil && r.Model == "":
		return flawed(event.FailureArgs, "it lacks "+strings.Join(s.fill.missing, " and ")+", and there is no model to fill that in")
	case len(s.fill.missing) > 0 && s.fill.args == nil:
		return needModelSlot
	}
	if err := r.prepare(s, facts); err != nil {
		return flawed(event.FailureArgs, err.Error())
	}
	keepBound(s, facts.Tool)
	return r.needByRule(s, r.ruleFor(s, facts))
}

// deniedBy says which rule denied a call.
func deniedBy(r rule.Rule) string {
	switch r.Source {
	case rule.SourceFlag:
		return "denied by --deny " + r.String()
	case rule.SourceBuiltIn: // no gate can show how its server has changed the tool
		return "denied: " + string(r.Why)
	}
	return "denied by a rule: " + string(r.Why)
}

// needByRule returns the next need of a step whose call is ready, given the rule
// that decides about it.
func (r scheduler) needByRule(s *StepState, matched rule.Rule) need {
	switch {
	case matched.Verdict == rule.VerdictBlock:
		s.call.flaw = &flaw{event.FailureDenied, deniedBy(matched)}
		return needRecord
	case s.gate.unsettled() != "":
		s.call.flaw = &flaw{event.FailureTool, s.gate.unsettled()}
		return needRecord
	case matched.Verdict == rule.VerdictAsk && !s.gate.allowed() && !r.passed(s):
		return needGate
	default:
		return needToolSlot
	}
}

// prepare resolves the call of a step and checks it against the tool's schema.
func (r scheduler) prepare(s *StepState, facts *toolFacts) error {
	args := s.args()
	if len(args) > 0 && s.inner.loop == nil && s.author.edits == 0 { // text written by a model in a call, or by the user at a gate, is no reference
		var err error
		if args, err = plan.ResolveArgs(args, r.valuesFor(s)); err != nil {
			return err
		}
	}
	if len(s.fill.args) > 0 {
		args = merge(args, s.fill.args)
	}
	args, s.call.fitted = r.fit(facts, args)
	check := facts.Signature.Check
	if r.strict {
		check = facts.Signature.CheckStrict
	}
	if err := check(args); err != nil {
		return fmt.Errorf("the args of %s do not fit: %w", s.Step.Tool, err)
	}
	s.call.args = args
	return nil
}

// fit fits args to the schema of the tool, if nothing is lost and the run is not
// strict. What a dry run does not know stays as it is.
func (r *Run) fit(facts *toolFacts, args map[string]any) (map[string]any, []plan.Coercion) {
	if r.strict {
		return args, nil
	}
	var unknown []plan.Placeholder
	if r.dryRun {
		for _, value := range r.values() {
			if text, ok := value.(plan.Placeholder); ok && text != "" {
				unknown = append(unknown, text)
			}
		}
	}
	return facts.Signature.Fit(args, unknown...)
}

// prepareDry resolves the call of a step, with placeholders for unknown results.
func (r scheduler) prepareDry(s *StepState) *flaw {
	if s.Step.Executor == plan.ExecutorTool && len(r.Catalogue) > 0 {
		facts := r.facts(s.Step.Tool)
		if facts.Err != nil {
			return &flaw{event.FailureArgs, facts.Err.Error()}
		}
		if facts.blocked() {
			return &flaw{event.FailureDenied, "would be " + deniedBy(facts.Rules[0])}
		}
	}
	s.call.args = s.args()
	if s.inner.loop == nil { // text written by a model in a call is no reference
		args, err := plan.ResolveArgs(s.call.args, r.valuesFor(s))
		if err != nil {
			return &flaw{event.FailureArgs, err.Error()}
		}
		s.call.args = args
	}
	if s.Step.Executor == plan.ExecutorTool && len(r.Catalogue) > 0 {
		s.call.args, s.call.fitted = r.fit(r.facts(s.Step.Tool), s.call.args)
		if matched := r.ruleFor(s, r.facts(s.Step.Tool)); matched.Verdict == rule.VerdictBlock {
			return &flaw{event.FailureDenied, "would be " + deniedBy(matched)}
		}
	}
	return nil
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

// args returns the arguments of a step as written: those of the user if there are
// any, else those of the plan.
func (s *StepState) args() map[string]any {
	if s.author.args != nil {
		return s.author.args
	}
	return s.Step.Args
}

// repeatable reports whether running a step again has no second effect.
func (r *Run) repeatable(s *StepState) bool {
	if s.Step.Executor != plan.ExecutorTool {
		return true
	}
	facts := r.facts(s.Step.Tool)
	return facts.Err == nil && (facts.Tool.Repeatable() || prompt.IsPlanTool(facts.Tool)) // a resume continues the run of a plan tool
}

// takes reports whether the condition of a step that could start takes it. A condition
// without an answer is a flaw of the step, which is taken and fails.
func (r scheduler) takes(s *StepState) bool {
	if s.Step.When == "" || s.expands() && ownCondition(s.Step) {
		return true
	}
	names := expression.NamesOf(s.Step.When)
	values := decision(r.ledger).checkValues(s, names)
	for _, v := range values {
		if _, unknown := v.(plan.Placeholder); unknown {
			return true // of a dry run
		}
	}
	compiled, err := expression.Compile(s.Step.When, nil)
	if err == nil {
		var holds bool
		if holds, s.call.saw, err = compiled.Holds(values); err == nil {
			s.call.out = !holds
			return holds
		}
	}
	s.call.flaw = &flaw{event.FailureArgs, "its condition has no answer: " + s.Step.When + " (" + err.Error() + ")"}
	return false
}

// notTakenWords says why a step is not taken.
func notTakenWords(d event.StepSkipped) untrusted.Text {
	if saw := plan.SawWords(d.Saw); saw != "" {
		return untrusted.Text("not taken: " + saw)
	}
	return "not taken: it needs the result of a step that is not taken"
}

// passBy lets the steps go on that only waited for one that is not taken. Those that
// need its result are not taken either.
func (r scheduler) passBy(s *StepState) {
	if s.item.step != nil {
		r.endItem(s)
		return
	}
	for d := range r.feeds(s) {
		if d.Status == StepPending && d.skip.reason == "" && s.Step.ResultVariable != "" && plan.Needs(d.Step, s.Step.ResultVariable) {
			d.skip.reason = string(event.NotTaken)
			r.enqueue(d)
			continue
		}
		if d.node.fed() {
			r.enqueue(d)
		}
	}
}

// cutBehind skips the steps that depend on a step that will not succeed.
func (r scheduler) cutBehind(s *StepState) {
	if s.item.step != nil {
		r.endItem(s)
		return
	}
	for d := range r.feeds(s) {
		if d.Status == StepPending && d.skip.reason == "" {
			d.skip.reason = fmt.Sprintf("step %s (%s) did not succeed", s.Step.Index, s.Step.Title)
			r.enqueue(d)
		}
	}
}
