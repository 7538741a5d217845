package agent

import (
	"fmt"
	"strings"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// scheduler decides what each step needs next, and maintains the queues of steps
// that can be acted on.
type scheduler struct {
	preparer *preparer
	caller   *caller
	steps    *roster
	terms    *Terms
	tools    *Toolbox
	board    *Board
	queues   *queues
	clock    *Clock
	meter    *Meter
}

// enqueue recomputes what a step needs next and puts it into the right queue.
func (r *scheduler) enqueue(s *StepState) {
	if s.byModel() {
		s.inner().conversation().clock(r.clock.Now)
	}
	now := r.needOf(s)
	if s.isItem() {
		now = r.inTurn(s, r.asksForItems(s, now))
	}
	if now == needGate {
		s.gate().needed(r.clock.Seq)
	}
	r.queues.put(s, now)
}

// enqueueAll enqueues every step of the plan.
func (r *scheduler) enqueueAll() {
	*r.queues = queues{}
	r.steps.every(r.enqueue)
}

// needOf computes what a step needs next. For a step that could start, it stores
// the call, or the reason why there is none.
func (r *scheduler) needOf(s *StepState) need {
	if s.Draft {
		return needNothing
	}
	s.call().forget()
	switch {
	case r.board.Revision == 0 && s.Parent == "" || s.awaitsAnswer() || s.inner().isAnswered():
		return needNothing
	case s.isItem() && s.held():
		return needNothing
	case s.Status == StepRunning:
		return s.needOfRunning()
	case s.Status == StepChecking:
		return needCheck
	case s.Status == StepFailed && r.retries(s):
		return needRecord
	case s.Status != StepPending || s.request().asks():
		return needNothing
	case s.orphaned():
		s.skipFor("the step that asked for it has ended")
		return needRecord
	case s.skipReason() != "":
		return needRecord
	case r.board.blocked(s):
		return needNothing
	case !r.preparer.conditionHolds(s):
		return needRecord
	case s.expands():
		if next, known := r.needOfItems(s); known {
			return next
		}
		fallthrough
	case r.terms.DryRun():
		if flaw := r.preparer.prepareDry(s); flaw != nil {
			s.call().cannotStart(flaw.kind, flaw.sentence)
		}
		return needRecord
	case !s.RetryAt.IsZero() && !r.clock.fired(s.retryTimer()):
		return needTimer
	}
	s.ready(r.clock.Now)
	return r.needOfCall(s)
}

// needOfCall returns the next need of a step that only a slot, a gate or its own
// flaw keeps from starting.
func (r *scheduler) needOfCall(s *StepState) need {
	flawed := func(kind event.FailureKind, sentence string) need {
		s.call().cannotStart(kind, sentence)
		return needRecord
	}
	switch s.Step.Executor {
	case plan.ExecutorSelf:
		if r.terms.Model == "" {
			return flawed(event.FailureModel, noModel("carry it out"))
		}
		return needModelSlot
	case plan.ExecutorAgent:
		profile, known := r.terms.prompting().Profile(s.Step.Profile)
		switch {
		case !known:
			return flawed(event.FailureArgs, fmt.Sprintf("there is no profile %q to carry it out", s.Step.Profile))
		case r.terms.Model == "":
			return flawed(event.FailureModel, noModel("carry it out"))
		case !r.terms.ModelTools() && profile.Model == "":
			return flawed(event.FailureModel, fmt.Sprintf("the model %s cannot call tools, which a sub-agent has to; choose another, or name one in the profile %q", r.terms.Model, profile.Name))
		}
		return needModelSlot
	}
	facts := r.tools.facts(s.Step.Tool)
	lacking, problem := s.request().lacking()
	switch {
	case s.inner().unknownTool() != nil:
		return flawed(event.FailureArgs, s.inner().unknownTool().Error())
	case prompt.IsPlanTool(facts.Tool) && s.Parent != prompt.ChatParent:
		return flawed(event.FailureArgs, "only a model in chat can call "+facts.Tool.Name)
	case prompt.IsFindTool(facts.Tool) && !s.byModel():
		return flawed(event.FailureArgs, "only a model that makes its own calls can call "+facts.Tool.Name)
	case facts.Err != nil:
		return flawed(event.FailureArgs, facts.Err.Error())
	case s.gate().denied():
		return flawed(event.FailureDenied, plan.DeniedAtGate)
	case facts.blocked():
		return flawed(event.FailureDenied, deniedBy(facts.Rules[0]))
	case len(lacking) > 0 && problem != "":
		return flawed(event.FailureModel, "the model did not fill in "+strings.Join(lacking, " and ")+": "+problem)
	case len(lacking) > 0 && r.terms.Model == "":
		return flawed(event.FailureArgs, "it lacks "+strings.Join(lacking, " and ")+", and there is no model to fill that in")
	case len(lacking) > 0:
		return needModelSlot
	}
	if err := r.preparer.prepare(s, facts); err != nil {
		return flawed(event.FailureArgs, err.Error())
	}
	s.keepBound(facts.Tool)
	return r.needByRule(s, r.caller.ruleFor(s, facts))
}

// needByRule returns the next need of a step whose call is ready, given the rule
// that decides about it.
func (r *scheduler) needByRule(s *StepState, matched rule.Rule) need {
	switch {
	case matched.Verdict == rule.VerdictBlock:
		s.call().cannotStart(event.FailureDenied, deniedBy(matched))
		return needRecord
	case s.gate().unsettled() != "":
		s.call().cannotStart(event.FailureTool, s.gate().unsettled())
		return needRecord
	case matched.Verdict == rule.VerdictAsk && !s.gate().allowed() && !r.caller.passed(s):
		return needGate
	default:
		return needToolSlot
	}
}

// releaseNotTaken releases the steps that only waited for one that is not taken. Those
// that need its result are not taken either.
func (r *scheduler) releaseNotTaken(s *StepState) {
	if s.isItem() {
		r.endItem(s)
		return
	}
	for at, d := range r.board.dependents(s) {
		if s.Step.ResultVariable != "" && plan.Needs(d.Step, s.Step.ResultVariable) && d.skipFor(string(event.NotTaken)) {
			r.enqueue(d)
			continue
		}
		if r.board.dependencyDone(at) {
			r.enqueue(d)
		}
	}
}

// skipDependents skips the steps that depend on a step that will not succeed.
func (r *scheduler) skipDependents(s *StepState) {
	if s.isItem() {
		r.endItem(s)
		return
	}
	for _, d := range r.board.dependents(s) {
		if d.skipFor(fmt.Sprintf("step %s (%s) did not succeed", s.Step.Index, s.Step.Title)) {
			r.enqueue(d)
		}
	}
}

// release binds the result of a completed step and releases the steps that waited
// only for it.
func (r *scheduler) release(s *StepState) {
	if s.isItem() {
		r.endItem(s)
		return
	}
	r.board.bind(s)
	for at, d := range r.board.dependents(s) {
		if r.board.dependencyDone(at) {
			r.enqueue(d)
		}
	}
}

// retries reports whether a failed step will be retried: its tool is read-only
// and has attempts left.
func (r *scheduler) retries(s *StepState) bool {
	if s.Step.Retries == 0 || s.Items != nil || s.tries() > s.Step.Retries {
		return false
	}
	switch s.Failure {
	case event.FailureTool, event.FailureTimeout, event.FailureModel, event.FailureCheck:
		facts := r.tools.facts(s.Step.Tool)
		return facts.Err == nil && facts.Tool.ReadOnly
	default:
		return false // another attempt would fail the same way
	}
}

// rebuildGraph recomputes what follows from a changed plan: the order of the steps, and
// for each the missing args and the next need.
func (r *scheduler) rebuildGraph() {
	type work struct {
		by   plan.Executor
		tool string
	}
	weights := map[work]float64{} // one lookup per tool
	r.board.arrange(func(s plan.Step) float64 {
		key := work{s.Executor, s.Tool}
		w, ok := weights[key]
		if !ok {
			w = Weigh(s, r.tools.Catalog, r.terms.priors())
			weights[key] = w
		}
		return w * Rounds(r.board.Plan, s, r.tools.Catalog, r.meter.Limits)
	}, r.terms.fallback())
	r.preparer.learnTools("", r.board.Plan.Acceptance)
	r.board.executed(r.preparer.findMissingArgs)
	r.enqueueAll()
}

// skipModelSteps skips the steps of a routed plan that need a model if there is
// none, and their dependents.
func (r *scheduler) skipModelSteps() {
	if r.terms.Model != "" {
		return
	}
	for _, s := range r.board.Steps {
		if s.Step.Executor != plan.ExecutorTool {
			s.skipFor(needsModelReason)
			r.enqueue(s)
		}
	}
}

// onlyRechecks reports whether the work of a step is done, but its checks are not evaluated
// or refute it. A new attempt then evaluates them again and does not repeat the work.
func (r *scheduler) onlyRechecks(s *StepState) bool {
	if s.Status == StepChecking {
		return true
	}
	return s.Status == StepFailed && s.Failure == event.FailureCheck && !s.expands() && (s.Step.Executor == plan.ExecutorAgent || !r.caller.repeatable(s))
}

// beginChecks has the checks of a step evaluated, from the first.
func (r *scheduler) beginChecks(s *StepState) {
	s.beginChecks(r.clock.Seq)
}

// again makes a step wait for a new attempt, or only for its checks if its work is done.
func (r *scheduler) again(s *StepState) {
	if r.onlyRechecks(s) {
		r.beginChecks(s)
		s.countAfresh()
		return
	}
	s.again()
}

// refills asks a model once more for the arguments that the tool refused: small models
// copy a text nearly right. A change by one of the workspace's own operators is made whole
// or not at all, so that nothing has happened.
func (r *scheduler) refills(s *StepState) bool {
	if s.Failure != event.FailureTool || r.terms.Model == "" || s.isItem() {
		return false
	}
	if facts := r.tools.facts(s.Step.Tool); facts.Err != nil || !facts.Tool.Trusted || !facts.Tool.Previews {
		return false
	}
	if !s.refill() {
		return false
	}
	r.enqueue(s)
	return true
}
