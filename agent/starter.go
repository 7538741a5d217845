package agent

import (
	"slices"

	"replan/agent/event"
)

// starter starts the steps that are ready, within what is free.
type starter struct {
	queues   queuesView
	guards   *guards
	checker  *checker
	gates    *gateopener
	calls    *callstarter
	models   *requester
	reporter *reporter
}

// nextSteps starts the ready steps, longest remaining path first. Nothing starts
// after a record that may end the run until that record is applied.
func (r *starter) nextSteps() []Action { return r.nextOf(r.queues) }

// nextOf starts the ready steps of some queues.
func (r *starter) nextOf(q queuesView) []Action {
	free := r.guards.freeSlots()
	r.guards.reserveApproved(q, &free)
	// Their diffs may be being made, so they reserve budget before any record takes it.
	gates, blocked := r.gates.nextGates(q, &free)
	var out []Action
	for _, s := range q.first(needRecord, recordsAtOnce) {
		actions := r.reporter.recordFor(s, &free)
		if len(actions) == 1 && actions[0].blocks() {
			return append(out, actions...)
		}
		out = append(out, actions...)
	}
	if slices.ContainsFunc(out, Action.mayEnd) {
		return out
	}
	for _, s := range q.first(needTimer, 1) {
		out = append(out, Action{Effect: Wake{ID: s.retryTimer(), At: s.retryAt()}})
	}
	out = append(out, r.models.nextDeadlines()...)
	out = append(out, r.checker.nextChecks(q.all(needCheck), &free)...)
	if slices.ContainsFunc(out, Action.mayEnd) {
		return out
	}
	out = append(out, gates...)
	if blocked {
		return out
	}
	if out = r.calls.startInLine(out, q, &free); len(out) > 0 && out[len(out)-1].mayEnd() {
		return out
	}
	for s := range r.calls.toolSteps(q, &free) {
		if free.noTool() {
			break
		}
		if out = r.calls.startTool(out, s, &free); len(out) > 0 && out[len(out)-1].mayEnd() {
			return out
		}
	}
	for _, s := range q.first(needModelSlot, free.freeModels()) {
		if out = append(out, r.models.startModel(s, &free)...); len(out) > 0 && out[len(out)-1].mayEnd() {
			return out
		}
	}
	return out
}

// nextOfLoops continues only the loops; nothing else starts.
func (r *starter) nextOfLoops() []Action {
	some := r.queues.only(func(s stepView) bool { return s.byModel() || s.status() == StepRunning })
	return r.nextOf(some)
}

// recordsAtOnce bounds the records without a slot that are returned at once.
const recordsAtOnce = 64

// settled reports whether every step of the plan has finally ended.
func (r *starter) settled() bool { return r.guards.idle() && r.queues.empty() }

// started begins an attempt of a step that needs other steps.
func started(s stepView, needs []string, args map[string]any, number int) event.StepStarted {
	if args == nil {
		args = map[string]any{}
	}
	return event.StepStarted{
		Index: s.index(), Parent: s.parent(), Attempt: number, Title: s.title(), Executor: s.executor(), Tool: s.tool(),
		DependsOn: needs, ExpectedOutcome: s.planned().ExpectedOutcome, Args: args, Draft: s.isDraft(),
	}
}
