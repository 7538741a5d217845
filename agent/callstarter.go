package agent

import (
	"iter"
	"slices"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/prompt"
)

// callstarter starts calls of tools, within what is free.
type callstarter struct {
	tools    toolsView
	board    boardView
	caller   *caller
	origins  *origins
	guards   *guards
	briefing *briefing
}

// toolSteps returns the steps that may use the free tool slots, at most one serial call of a
// server. If budget is reserved, the first steps may have to wait while those with a
// reservation may start.
func (r *callstarter) toolSteps(q queuesView, free *slots) iter.Seq[stepView] {
	first := r.firstToolSteps(q, free)
	if !free.reserves() || len(first) == q.count(needToolSlot) {
		return slices.Values(first)
	}
	return func(yield func(stepView) bool) {
		for _, s := range first {
			if !yield(s) {
				return
			}
		}
		for s := range q.approvedCalls() {
			if !slices.Contains(first, s) && !yield(s) {
				return
			}
		}
	}
}

// firstToolSteps returns the first of the steps that may use the free tool slots.
func (r *callstarter) firstToolSteps(q queuesView, free *slots) []stepView {
	var steps []stepView
	next := free.servers()
	waiting := 0
	ready := q.inOrder(needToolSlot)
	for s := ready.next(); s != nil; s = ready.next() {
		if len(steps) >= free.freeTools() || waiting == waitingAtOnce {
			break
		}
		tool := r.tools.facts(s.tool()).Tool
		if next.waits(tool) {
			waiting++
			continue
		}
		next.call(tool)
		steps = append(steps, s)
	}
	return steps
}

// startTool starts a tool call and appends the actions for it to out.
func (r *callstarter) startTool(out []Action, s stepView, free *slots) []Action {
	index, facts := s.index(), r.tools.facts(s.tool())
	switch plans := prompt.IsPlanTool(facts.Tool); {
	case free.noTool(), free.waits(facts.Tool):
		return out
	case plans && (free.callsSerially() || r.guards.plansUnderWay(free)), facts.Tool.Serial && r.guards.plansUnderWay(free):
		return out // the run of a plan calls the same servers
	}
	files := s.gateState().changing()
	if free.changes(files) {
		return out // its effect after that call may differ from the approved one
	}
	actions, passes := r.guards.askGuards(s, facts, free)
	out = append(out, actions...)
	if !passes {
		return out
	}
	free.change(files)
	free.call(facts.Tool)
	free.takeTool()
	free.start(facts, s.ofBudget())
	if s.gateState().reserved() {
		free.reserve(facts, -1, -s.ofBudget())
	}
	timeout, limit := r.guards.timeLimit(s.timeout(), facts.Tool)
	number := s.nextAttempt()
	if prompt.IsFindTool(facts.Tool) {
		words, _ := s.callState().args()["words"].(string)
		return append(out, Action{Record: r.startedCall(s, facts, number)}, Action{Record: event.StepCompleted{
			Index: index, Attempt: number, Result: prompt.FindTools(r.briefing.callable(s.askedIn()), words),
		}})
	}
	if prompt.IsPlanTool(facts.Tool) {
		free.takePlan()
		return append(out, Action{started(s, r.board.needs(s), s.callState().args(), number), CallPlan{
			Index: index, Attempt: number, Tool: facts.Tool, Args: s.callState().args(), Limits: r.guards.leftOver(facts.Tool.ReadOnly), Run: s.runOfCall(), Used: s.usedByRun(),
		}})
	}
	hashes, command := s.gateState().showed()
	return append(out, Action{
		r.startedCall(s, facts, number),
		CallTool{Index: index, Attempt: number, Tool: facts.Tool, Args: s.callState().args(), Hashes: hashes, Diff: s.diff(), Command: command, Hold: r.caller.unseen(s, facts), Paths: r.caller.judgedPaths(s, facts), Timeout: timeout, Limit: limit},
	})
}

// startInLine starts at most one approved call of an item in line. Another item of its step has
// its turn and waits, because all that is left of a budget is reserved.
func (r *callstarter) startInLine(out []Action, q queuesView, free *slots) []Action {
	for _, s := range q.all(needTurn) {
		if facts := r.tools.facts(s.tool()); r.guards.allReserved(facts, free) && s.itemState().mayOvertake() {
			return r.startTool(out, s, free)
		}
	}
	return out
}

// startedCall begins an attempt of a call. A call with effects that passed no
// gate records the rule that allowed it, and the origin of its text. So does a
// call that sends such text to another server.
func (r *callstarter) startedCall(s stepView, facts toolFacts, number int) event.StepStarted {
	started := started(s, r.board.needs(s), s.callState().args(), number)
	started.Coerced = s.callState().coerced()
	if s.gateState().allowed() {
		return started
	}
	matched := r.caller.ruleFor(s, facts)
	if from := r.origins.provenance(s); !facts.Tool.ReadOnly || len(from) > 0 && !facts.Tool.Trusted && matched.Source != rule.SourceBuiltIn {
		if r.caller.passed(s) {
			matched = rule.Rule{Tool: facts.Tool.Name, Verdict: rule.VerdictRun, Source: rule.SourceUser, Why: "you approved this call in the review of the plan"}
		}
		allowing := matched // a copy escapes only here
		started.Rule, started.Provenance = &allowing, from
	}
	return started
}

// waitingAtOnce bounds the calls that wait for others of their servers while later ones start.
const waitingAtOnce = 64
