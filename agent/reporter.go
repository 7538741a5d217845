package agent

import (
	"fmt"
	"strings"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// reporter records what becomes of steps that need no slot.
type reporter struct {
	terms  termsView
	tools  toolsView
	board  boardView
	clock  clockView
	caller *caller
	guards *guards
}

// recordFor returns the record for a step that needs nothing else.
func (r *reporter) recordFor(s stepView, free *slots) []Action {
	index := s.index()
	switch {
	case s.status() == StepRunning && s.expands():
		return []Action{{Record: r.endedItems(s)}}
	case s.status() == StepRunning:
		return []Action{{Record: r.ended(s)}}
	case s.status() == StepFailed && free.stepsLeft() <= 0 && !s.isItem():
		return r.guards.stopped(event.GuardSteps, index) // instead of waiting for an attempt that the budget forbids
	case s.status() == StepFailed:
		pause := retryBase << min(s.tries()-1, 6)
		return []Action{{Record: event.StepRetry{Index: index, Attempt: s.attempt(), Error: s.why(), At: r.clock.now().Add(pause)}}}
	case s.skipReason() != "":
		return []Action{{Record: event.StepSkipped{Index: index, Reason: untrusted.Text(s.skipReason())}}}
	}
	call, number := s.callState(), s.nextAttempt()
	saw, isOut := call.leftOut()
	items, expands := call.expansion()
	switch {
	case isOut:
		return []Action{{Record: event.StepSkipped{Index: index, Reason: event.NotTaken, Saw: saw}}}
	case free.stepsLeft() <= 0 && !s.isItem():
		return r.guards.stopped(event.GuardSteps, index)
	case expands:
		free.useStep(s)
		return []Action{{Record: event.StepExpanded{Index: index, Attempt: number, Title: s.title(), Items: list(items)}}}
	case call.startFlaw().kind != "":
		free.useStep(s)
		return []Action{{Record: event.StepFailed{Index: index, Attempt: number, Error: untrusted.Text(call.startFlaw().sentence), Failure: call.startFlaw().kind}}}
	}
	if s.executor() != plan.ExecutorTool {
		free.useStep(s)
		return []Action{{Record: r.dryStep(s, number)}}
	}
	facts := r.tools.facts(s.tool())
	actions, passes := r.guards.askGuards(s, facts, free)
	if passes {
		free.start(facts, s.ofBudget())
		actions = append(actions, Action{Record: r.dryStep(s, number)})
	}
	return actions
}

// dryStep returns what a step would do: its call, the gate that would ask, and a
// placeholder for its result.
func (r *reporter) dryStep(s stepView, number int) event.StepCompleted {
	done := event.StepCompleted{
		Index: s.index(), Attempt: number, DryRun: true, Args: s.callState().args(), Coerced: s.callState().coerced(), Result: string(placeholder(s.planned())),
		Title: s.title(), Executor: s.executor(), Tool: s.tool(), DependsOn: r.board.needs(s),
	}
	if s.executor() != plan.ExecutorTool {
		return done
	}
	facts := r.tools.facts(s.tool())
	if facts.Err == nil {
		if matched := r.caller.ruleFor(s, facts); matched.Verdict != rule.VerdictRun {
			done.Gate = &matched
		}
	} else if s.hasGate() {
		asking := gatedByPlan(s.tool())
		done.Gate = &asking
	}
	return done
}

// ended returns the event that ends the step of a finished loop.
func (r *reporter) ended(s stepView) event.Data {
	ms := r.clock.now().Sub(s.begun()).Milliseconds()
	answer, failed := s.loop().ended()
	if failed.kind != "" {
		return event.StepFailed{Index: s.index(), Attempt: s.attempt(), Error: untrusted.Text(failed.sentence), Failure: failed.kind, MS: ms}
	}
	return event.StepCompleted{Index: s.index(), Attempt: s.attempt(), Result: answer, MS: ms, Tokens: s.loop().tokens()}
}

// endedItems returns the event that ends a step with items.
func (r *reporter) endedItems(s stepView) event.Data {
	ms := r.clock.now().Sub(s.begun()).Milliseconds()
	items := s.fanOutState().all()
	done, denied, taken := 0, 0, len(items)
	results := make([]any, len(items))
	for i, item := range items {
		switch {
		case item.status() == StepCompleted:
			results[i] = item.result()
			done++
		case item.gateState().denied() && !item.notTaken():
			denied++
		case item.notTaken():
			taken--
		}
	}
	switch stopper := s.fanOutState().stoppedBy(); {
	case denied > 0 && denied == taken:
		return event.StepFailed{Index: s.index(), Attempt: s.attempt(), Error: plan.DeniedAtGate, Failure: event.FailureDenied, MS: ms}
	case stopper != nil:
		sentence := fmt.Sprintf("%s (%s) failed: %s", stopper.index(), stopper.title(), stopper.why())
		if done > 0 {
			sentence = fmt.Sprintf("%s\n%d of %s done, which are not repeated if this step stays: %s",
				sentence, done, english.Count(len(items), "item"), strings.Join(s.fanOutState().done(), ", "))
		}
		return event.StepFailed{Index: s.index(), Attempt: s.attempt(), Error: untrusted.Text(sentence), Failure: stopper.failure(), MS: ms}
	case r.terms.DryRun():
		return event.StepCompleted{Index: s.index(), Attempt: s.attempt(), DryRun: true, Result: string(placeholder(s.planned())), Title: s.title(), Executor: s.executor(), Tool: s.tool(), DependsOn: r.board.needs(s), MS: ms}
	default:
		return event.StepCompleted{Index: s.index(), Attempt: s.attempt(), Result: results, MS: ms}
	}
}

// retryBase is the pause before the second attempt of a step; it doubles for each
// further attempt.
const retryBase = 500 * time.Millisecond

// placeholder returns the stand-in for the result of a step in a dry run.
func placeholder(s plan.Step) plan.Placeholder {
	by := s.Tool
	switch s.Executor {
	case plan.ExecutorSelf:
		by = "step " + s.Index
	case plan.ExecutorAgent:
		by = s.Profile
	}
	return plan.Placeholder("<" + by + " result>")
}
