package agent

import (
	"cmp"
	"fmt"
	"slices"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/expression"
	"replan/planning/plan"
)

// checker evaluates the checks of steps, and the acceptance of a plan.
type checker struct {
	terms      termsView
	tools      toolsView
	board      boardView
	outcome    outcomeView
	acceptance acceptanceView
	queues     queuesView
	clock      clockView
	caller     *caller
	guards     *guards
	origins    *origins
}

// looksAtNoTests returns why an expression of a check shows nothing: it is about tests, and none
// ran. It is "" otherwise. A wait is over all the same.
func (r *checker) looksAtNoTests(subject checkSubject, names []string) untrusted.Text {
	s := subject.step
	if s != nil && s.planned().Until != nil && len(subject.done) == 0 {
		return ""
	}
	for _, name := range names {
		from := []stepView{s}
		switch {
		case s == nil:
			from = r.origins.producersFor(&StepState{}, name)
		case name != "result" && name != s.planned().ResultVariable:
			from = r.origins.producersFor(s, name)
		}
		for _, other := range from {
			if why := nothingRan(r.tools.facts(other.tool()).Tool, other.result()); why != "" {
				return why
			}
		}
	}
	return ""
}

// nextChecks evaluates the checks of the steps whose work is done.
func (r *checker) nextChecks(ready []stepView, free *slots) []Action {
	var out []Action
	// Those whose call is under way come first, so that no more run than there are slots.
	waiting := slices.SortedFunc(slices.Values(ready), func(a, b stepView) int { return cmp.Compare(a.checksState().since(), b.checksState().since()) })
	for _, s := range waiting[:min(len(waiting), recordsAtOnce)] {
		subject := subjectOf(s)
		if subject.over() {
			failed := event.StepFailed{Index: s.index(), Attempt: s.attempt(), Error: untrusted.Text(refutation(s.checked())), Failure: event.FailureCheck, MS: s.ms()}
			return append(out, Action{Record: failed})
		}
		actions := r.nextCheck(subject, free)
		if len(actions) > 0 && s.planned().Until != nil && len(s.checked()) == 0 {
			if actions = r.poll(s, actions); actions[0].mayEnd() {
				return append(out, actions...)
			}
		}
		out = append(out, actions...)
	}
	return out
}

// poll returns the next actions of a step that waits, given those of its condition. The step
// continues, calls again later, or fails because its time is up.
func (r *checker) poll(s stepView, actions []Action) []Action {
	found, evaluated := actions[0].Record.(event.CheckCompleted)
	if !evaluated || found.State == plan.StateVerified {
		return actions
	}
	why := cmp.Or(string(found.Reason), plan.SawWords(found.Saw))
	left := s.planned().Until.For - s.waited(r.clock.Elapsed()) // without the time in which the run was stopped
	if left <= 0 {
		sentence := fmt.Sprintf("it waited %s, and %s does not hold", s.planned().Until.For, s.planned().Until.Expect)
		if why != "" {
			sentence += " (" + why + ")"
		}
		return []Action{{Record: event.StepFailed{Index: s.index(), Attempt: s.attempt(), Error: untrusted.Text(sentence), Failure: event.FailureTimeout, MS: s.waited(r.clock.Elapsed()).Milliseconds()}}}
	}
	at := r.clock.now().Add(min(s.planned().Until.Every, left))
	return []Action{{Record: event.StepRetry{Index: s.index(), Attempt: s.attempt(), Error: untrusted.Text("not yet: " + cmp.Or(why, s.planned().Until.Expect+" does not hold")), At: at}}}
}

// nextCheck evaluates the next check, or has its tool called if a slot is free.
func (r *checker) nextCheck(subject checkSubject, free *slots) []Action {
	check := subject.checks[len(subject.done)]
	done := event.CheckCompleted{
		Attempt: subject.number, Check: len(subject.done) + 1, Title: titleOf(check), Expect: check.Expect,
		Saw: []expression.Sight{},
	}
	if subject.step != nil {
		done.Index = subject.step.index()
	}
	values := r.caller.checkValues(subject.step, expression.NamesOf(check.Expect))
	if why := r.unknownTo(subject, check); why != "" {
		done.State, done.Reason = plan.StateUnchecked, untrusted.Text(why)
		return []Action{{Record: done}}
	}
	if check.Tool == "" {
		done = untested(evaluated(done, values), r.looksAtNoTests(subject, expression.NamesOf(check.Expect)))
		return []Action{{Record: done}}
	}
	if free.noTool() {
		return nil
	}
	call, why := r.checkCall(subject, check, free)
	if why != "" {
		done.State, done.Reason = plan.StateUnchecked, untrusted.Text(why)
		return []Action{{Record: done}}
	}
	free.takeTool()
	facts := r.tools.facts(check.Tool)
	free.start(facts, 0) // it is no step of its own
	done.Tool, done.Args = facts.Tool.QualifiedName(), call
	timeout, limit := r.guards.timeLimit(0, facts.Tool)
	return []Action{{Effect: CallCheck{Check: done, Values: values, Tool: facts.Tool, Paths: r.caller.judgedPaths(&StepState{}, facts), Round: subject.round, Timeout: timeout, Limit: limit}}}
}

// unknownTo returns which unknown value a check looks at, "" if there is none.
func (r *checker) unknownTo(subject checkSubject, check plan.Check) string {
	names := expression.NamesOf(check.Expect)
	for _, reference := range plan.References(check.Args) {
		names = append(names, reference.Name)
	}
	values := r.caller.checkValues(subject.step, names)
	for _, name := range names {
		own := subject.step != nil && (name == subject.step.planned().ResultVariable || name == "result" && check.Tool == "")
		_, there := values[name]
		switch {
		case own && subject.step.checksState().lostResult():
			return "nobody knows the result of the step"
		case !own && !there && name != "result":
			return name + " has no value"
		}
	}
	return ""
}

// checkCall returns the args of a check's call, or why it cannot be made. A check asks
// no one: a call that needs a gate is not made.
func (r *checker) checkCall(subject checkSubject, check plan.Check, free *slots) (args map[string]any, why string) {
	facts := r.tools.facts(check.Tool)
	switch {
	case facts.Err != nil:
		return nil, facts.Err.Error()
	case !facts.Tool.ReadOnly:
		return nil, facts.Tool.QualifiedName() + " is not read-only"
	case free.noDiscoveryCall():
		return nil, "no calls are left for it"
	case r.guards.noneLeft(facts, free):
		return nil, "no calls of " + facts.Tool.QualifiedName() + " are left"
	}
	step := plan.Step{Title: check.Title, Executor: plan.ExecutorTool, Tool: check.Tool, Args: check.Args}
	var names []string
	for _, reference := range plan.References(check.Args) {
		names = append(names, reference.Name)
	}
	args, err := plan.ResolveArgs(check.Args, r.caller.checkValues(subject.step, names))
	if err != nil {
		return nil, err.Error()
	}
	if args == nil {
		args = map[string]any{}
	}
	if args, _ = r.caller.coerce(facts, args); facts.Signature.Check(args) != nil {
		return nil, fmt.Sprintf("the args of %s do not fit: %v", check.Tool, facts.Signature.Check(args))
	}
	var probe stepView = newProbe(step, args, r.origins.authorRead(step))
	if subject.step != nil {
		probe = subject.step.checkCall(step, args, slices.Concat(subject.step.authorState().textsRead(), r.origins.checkedText(subject.step, check)))
	}
	switch matched := r.caller.ruleFor(probe, facts); matched.Verdict {
	case rule.VerdictRun:
		return args, ""
	case rule.VerdictBlock:
		return nil, deniedBy(matched)
	default:
		return nil, "its call would need a gate: " + string(matched.Why)
	}
}

// nextAcceptance evaluates the plan's acceptance, after its last step.
func (r *checker) nextAcceptance() []Action {
	subject := r.acceptance.acceptanceOf(r.board)
	if r.board.revision() == 0 || r.terms.DryRun() || r.outcome.answer().Direct || r.outcome.answer().Started && !r.outcome.answer().Done || subject.over() {
		return nil
	}
	free := r.guards.freeSlots()
	return r.nextCheck(subject, &free)
}

// checksBeforeEnd evaluates what is left when the run is about to end, as calls that run may
// finish. After a stop nothing can be called; a resume evaluates it.
func (r *checker) checksBeforeEnd() []Action {
	if e, _ := r.outcome.plannedEnding(); r.outcome.isPaused() || e.reason == event.ReasonTimeBudget {
		return nil
	}
	return r.nextDue()
}

// nextDue evaluates the checks of all steps whose work is done.
func (r *checker) nextDue() []Action {
	free := r.guards.freeSlots()
	return r.nextChecks(r.queues.all(needCheck), &free)
}
