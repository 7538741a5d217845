package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// starter starts the steps that are ready, within what is free.
type starter struct {
	checker       *checker
	caller        *caller
	origins       *origins
	guards        *guards
	briefing      *briefing
	terms         termsView
	tools         toolsView
	board         boardView
	steps         stepsView
	queues        queuesView
	permissions   permissionsView
	conversations conversationsView
	clock         clockView
	meter         meterView
}

// nextSteps starts the ready steps, longest remaining path first. Nothing starts
// after a record that may end the run until that record is applied.
func (r *starter) nextSteps() []Action { return r.nextOf(r.queues) }

// nextOf starts the ready steps of some queues.
func (r *starter) nextOf(q queuesView) []Action {
	free := r.guards.freeSlots()
	r.guards.reserveApproved(q, &free)
	// Their diffs may be being made, so they reserve budget before any record takes it.
	gates, blocked := r.nextGates(q, &free)
	var out []Action
	for _, s := range q.first(needRecord, recordsAtOnce) {
		actions := r.recordFor(s, &free)
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
	out = append(out, r.nextDeadlines()...)
	out = append(out, r.checker.nextChecks(q.all(needCheck), &free)...)
	if slices.ContainsFunc(out, Action.mayEnd) {
		return out
	}
	out = append(out, gates...)
	if blocked {
		return out
	}
	if out = r.startInLine(out, q, &free); len(out) > 0 && out[len(out)-1].mayEnd() {
		return out
	}
	for _, s := range r.toolSteps(q, free) {
		if out = r.startTool(out, s, &free); len(out) > 0 && out[len(out)-1].mayEnd() {
			return out
		}
	}
	for _, s := range q.first(needModelSlot, free.freeModels()) {
		if out = append(out, r.startModel(s, &free)...); len(out) > 0 && out[len(out)-1].mayEnd() {
			return out
		}
	}
	return out
}

// claimed returns the files that running, approved or reopened calls will change.
func (r *starter) claimed(q queuesView, free *slots) *slots {
	claimed := free.alsoChanging()
	for _, g := range r.permissions.openGates() {
		if s := r.steps.find(g.index); s != nil && g.again {
			claimed.change(s.gateState().wasChanging())
		}
	}
	for _, s := range q.all(needToolSlot) {
		if s.gateState().allowed() {
			claimed.change(s.gateState().changing())
		}
	}
	return claimed
}

// toolSteps returns the steps that may use the free tool slots, at most one serial call of a
// server. If budget is reserved, the first steps may have to wait while those with a
// reservation may start.
func (r *starter) toolSteps(q queuesView, free slots) []stepView {
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
	if !free.reserves() || len(steps) == q.count(needToolSlot) {
		return steps
	}
	var approved []stepView
	for _, s := range q.approvedCalls() {
		if !slices.Contains(steps, s) {
			approved = append(approved, s)
		}
	}
	return append(steps, approved...)
}

// nextGates opens gates after checking the guards, so that no gate opens for a
// call that they refuse.
func (r *starter) nextGates(q queuesView, free *slots) (out []Action, blocked bool) {
	var again *slots // files of the calls whose gates open again
	next := q.top(needGate)
	if next == nil {
		return nil, false
	}
	most := gatesFor(next) - len(r.permissions.openGates())
	for _, s := range q.first(needGate, most) {
		facts := r.tools.facts(s.tool())
		if s.gateState().reopens() != "" {
			if again == nil {
				again = r.claimed(q, free)
			}
			if again.changes(s.gateState().wasChanging()) {
				continue // its effect may be different after that call
			}
		}
		actions, passes := r.guards.askGuards(s, facts, free)
		if len(actions) > 0 && actions[0].blocks() {
			return actions, true
		}
		out = append(out, actions...)
		if passes {
			free.reserve(facts, 1, s.ofBudget())
			if again != nil {
				again.change(s.gateState().wasChanging())
			}
			out = append(out, Action{Effect: r.caller.gate(s)})
		}
	}
	return out, false
}

// recordFor returns the record for a step that needs nothing else.
func (r *starter) recordFor(s stepView, free *slots) []Action {
	index := s.index()
	switch {
	case s.status() == StepRunning && s.expands():
		return []Action{{Record: r.cameItems(s)}}
	case s.status() == StepRunning:
		return []Action{{Record: r.came(s)}}
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
	items, expands := call.begins()
	switch {
	case isOut:
		return []Action{{Record: event.StepSkipped{Index: index, Reason: event.NotTaken, Saw: saw}}}
	case free.stepsLeft() <= 0 && !s.isItem():
		return r.guards.stopped(event.GuardSteps, index)
	case expands:
		free.useStep(s)
		return []Action{{Record: event.StepExpanded{Index: index, Attempt: number, Title: s.title(), Items: list(items)}}}
	case call.faulty().kind != "":
		free.useStep(s)
		return []Action{{Record: event.StepFailed{Index: index, Attempt: number, Error: untrusted.Text(call.faulty().sentence), Failure: call.faulty().kind}}}
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
func (r *starter) dryStep(s stepView, number int) event.StepCompleted {
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
		rule := gatedByPlan(s.tool())
		done.Gate = &rule
	}
	return done
}

// startTool starts a tool call and appends the actions for it to out.
func (r *starter) startTool(out []Action, s stepView, free *slots) []Action {
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
	timeout, limit := r.checker.timeLimit(s.timeout(), facts.Tool)
	number := s.nextAttempt()
	if prompt.IsFindTool(facts.Tool) {
		words, _ := s.callState().args()["words"].(string)
		return append(out, Action{Record: r.startedCall(s, facts, number)}, Action{Record: event.StepCompleted{
			Index: index, Attempt: number, Result: prompt.FindTools(r.briefing.callable(s.askedIn()), words),
		}})
	}
	if prompt.IsPlanTool(facts.Tool) {
		free.takePlan()
		return append(out, Action{r.started(s, s.callState().args(), number), CallPlan{
			Index: index, Attempt: number, Tool: facts.Tool, Args: s.callState().args(), Limits: r.meter.leftOver(facts.Tool.ReadOnly, r.clock.Elapsed()), Run: s.runOfCall(), Used: s.usedByRun(),
		}})
	}
	hashes, command := s.gateState().showed()
	return append(out, Action{
		r.startedCall(s, facts, number),
		CallTool{Index: index, Attempt: number, Tool: facts.Tool, Args: s.callState().args(), Hashes: hashes, Diff: s.diff(), Command: command, Hold: r.caller.unseen(s, facts), Paths: r.caller.judgedPaths(s, facts), Timeout: timeout, Limit: limit},
	})
}

// startInLine starts at most one approved call of an item in line: before one of its step that
// has its turn and waits, because all that is left of a budget is reserved.
func (r *starter) startInLine(out []Action, q queuesView, free *slots) []Action {
	for _, s := range q.all(needTurn) {
		if facts := r.tools.facts(s.tool()); r.guards.allReserved(facts, free) && s.itemState().mayOvertake() {
			return r.startTool(out, s, free)
		}
	}
	return out
}

// startModel asks the model to execute a step in text, or to write the arguments
// that the plan left out.
func (r *starter) startModel(s stepView, free *slots) []Action {
	if s.status() == StepRunning {
		return r.nextTurn(s, free)
	}
	fills := s.executor() == plan.ExecutorTool
	if !fills && free.stepsLeft() <= 0 && !s.isItem() {
		return r.guards.stopped(event.GuardSteps, s.index())
	}
	if blocked := r.guards.stopped(event.GuardTokens, s.index()); blocked != nil {
		return blocked
	}
	if s.executor() == plan.ExecutorAgent {
		free.useStep(s)
		return []Action{{Record: r.started(s, nil, s.nextAttempt())}}
	}
	free.takeModel()
	if fills {
		request := prompt.ArgsRequest(r.briefing.brief(), r.board.current(), s.planned(), r.tools.facts(s.tool()).Tool, r.origins.inputs(s.planned()), s.requestState().refusal())
		return []Action{{
			event.ModelRequested{Purpose: request.Purpose, Step: s.index(), Request: request},
			CallModel{Request: request},
		}}
	}
	free.useStep(s)
	number := s.nextAttempt()
	request := prompt.StepRequest(r.briefing.brief(), r.board.current(), s.planned(), r.origins.inputs(s.planned()))
	started := r.started(s, nil, number)
	started.Request = &request
	return []Action{{
		started,
		CallModel{Request: request, Index: s.index(), Attempt: number, Timeout: s.timeout(), Tools: plan.Offer(r.tools.catalog())},
	}}
}

func (r *starter) started(s stepView, args map[string]any, number int) event.StepStarted {
	if args == nil {
		args = map[string]any{}
	}
	return event.StepStarted{
		Index: s.index(), Parent: s.parent(), Attempt: number, Title: s.title(), Executor: s.executor(), Tool: s.tool(),
		DependsOn: r.board.needs(s), ExpectedOutcome: s.planned().ExpectedOutcome, Args: args, Draft: s.isDraft(),
	}
}

// came returns the event that ends the step of a finished loop.
func (r *starter) came(s stepView) event.Data {
	ms := r.clock.now().Sub(s.begun()).Milliseconds()
	answer, failed := s.loop().ended()
	if failed.kind != "" {
		return event.StepFailed{Index: s.index(), Attempt: s.attempt(), Error: untrusted.Text(failed.sentence), Failure: failed.kind, MS: ms}
	}
	return event.StepCompleted{Index: s.index(), Attempt: s.attempt(), Result: answer, MS: ms, Tokens: s.loop().tokens()}
}

// nextTurn asks a sub-agent for its next turn, or for its own plan.
func (r *starter) nextTurn(s stepView, free *slots) []Action {
	l := s.loop()
	for _, blocked := range [][]Action{r.guards.stopped(event.GuardTokens, s.index()), r.guards.stuck(l)} {
		if blocked != nil {
			return blocked
		}
	}
	free.takeModel()
	profile := l.profileOf()
	request, plans := l.planRequest()
	if plans {
		request.Step, request.Model = s.index(), cmp.Or(profile.Model, r.terms.prompting().Models.Of(request.Purpose).Name) // a resume may have changed it
	} else {
		profile.WritesCalls = r.conversations.holdsCalls(profile.Model)
		request = prompt.AgentRequest(r.briefing.briefOf(l), r.board.current(), s.planned(), profile, r.origins.inputs(s.planned()), l.conversation(), l.turn())
	}
	request.Think = request.Think && !l.stalled() // a model that got stuck thinking should answer now
	return []Action{{
		event.ModelRequested{Purpose: request.Purpose, Step: s.index(), Attempt: s.attempt(), Request: request},
		CallModel{Request: request, Index: s.index(), Attempt: s.attempt(), Tools: r.briefing.readable(r.briefing.callable(l))},
	}}
}

// nextOfLoops continues only the loops; nothing else starts.
func (r *starter) nextOfLoops() []Action {
	some := r.queues.only(func(s stepView) bool { return s.byModel() || s.status() == StepRunning })
	return r.nextOf(some)
}

// nextDeadlines requests timers for the time limits of agent steps whose clocks
// run.
func (r *starter) nextDeadlines() []Action {
	var out []Action
	for _, s := range r.conversations.atWork() {
		if !s.loop().over() && !s.loop().stands() {
			out = append(out, Action{Effect: Wake{ID: s.loop().timer(), At: s.loop().deadline()}})
		}
	}
	return out
}

// startedCall begins an attempt of a call. A call with effects that passed no
// gate records the rule that allowed it, and the origin of its text. So does a
// call that sends such text to another server.
func (r *starter) startedCall(s stepView, facts toolFacts, number int) event.StepStarted {
	started := r.started(s, s.callState().args(), number)
	started.Coerced = s.callState().coerced()
	if s.gateState().allowed() {
		return started
	}
	matched := r.caller.ruleFor(s, facts)
	if from := r.origins.provenance(s); !facts.Tool.ReadOnly || len(from) > 0 && !facts.Tool.Trusted && matched.Source != rule.SourceBuiltIn {
		if r.caller.passed(s) {
			matched = rule.Rule{Tool: facts.Tool.Name, Verdict: rule.VerdictRun, Source: rule.SourceUser, Why: "you approved this call in the review of the plan"}
		}
		rule := matched // a copy escapes only here
		started.Rule, started.Provenance = &rule, from
	}
	return started
}

// cameItems returns the event that ends a step with items.
func (r *starter) cameItems(s stepView) event.Data {
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

// startDrafts starts the draft steps that can start, while slots are free. The planner
// waits for looks: they start again if a resume found them under way, and no bound on the
// length of a plan stops them.
func (r *starter) startDrafts(looks bool) []Action {
	free := r.guards.freeSlots()
	var out []Action
	for i, s := range r.board.steps() {
		if most := r.meter.mayPropose(); !looks && most > 0 && i >= most {
			break // a plan of that length will be refused
		}
		if free.noDiscovery() {
			break
		}
		if s.startable() && s.status() == StepPending && (s.attempt() == 0 || looks) {
			out = r.startTool(out, s, &free)
		}
	}
	return out
}

// retryBase is the pause before the second attempt of a step; it doubles for each
// further attempt.
const retryBase = 500 * time.Millisecond

// gatesAtOnce bounds the gates that are open or about to open. It is more than a
// user looks at. It is small enough that a plan of a thousand changes does not do
// a dry run of all before the first answer.
const gatesAtOnce = 16

// gatesFor returns how many gates may be open: of a step with items, those of a usual list, so
// that the user can answer them together.
func gatesFor(next stepView) int {
	if next.isItem() {
		return plan.DefaultMax
	}
	return gatesAtOnce
}

// waitingAtOnce bounds the calls that wait for others of their servers while later ones start.
const waitingAtOnce = 64

// recordsAtOnce bounds the records without a slot that are returned at once.
const recordsAtOnce = 64

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
