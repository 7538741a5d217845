package agent

import (
	"cmp"
	"fmt"
	"time"

	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// guards bound what a run may do: they end it, or warn, before it uses more.
type guards struct {
	steps         stepsView
	tools         toolsView
	board         boardView
	planning      planningView
	conversations conversationsView
	permissions   permissionsView
	flight        flightView
	meter         meterView
	clock         clockView
}

// budgets returns every budget of the run.
func (r *guards) budgets() [7]budget { return r.meter.budgets(r.clock.Elapsed()) }

// spent returns the action that ends the run if the guard's budget is used up, or
// nil if something is left. step is the step that the guard keeps from starting,
// or "".
func (r *guards) spent(guard, step string) *Action {
	for _, b := range r.budgets() {
		if b.guard == guard && b.isBound() && b.used >= b.limit {
			return &Action{Record: event.GuardBlocked{
				Guard: b.guard, Step: step, Used: b.used, Limit: b.limit,
				Reason: untrusted.Text(b.sentence(step)),
			}}
		}
	}
	return nil
}

// stopped returns the action that ends the run if a budget is used up. It returns
// nothing if the rest of the budget is promised to steps that are about to start.
func (r *guards) stopped(guard, step string) []Action {
	if blocked := r.spent(guard, step); blocked != nil {
		return []Action{*blocked}
	}
	return nil
}

// perTool checks the budget of the call's tool, given the calls that are starting
// or reserved. It returns the action that ends the run, a warning, or whether the
// rest is promised to those calls.
func (r *guards) perTool(s stepView, facts toolFacts, starting, reserved int) (blocked, warned *Action, promised bool) {
	b := budget{guard: event.GuardPerTool, used: int64(r.tools.timesCalled(facts)), limit: int64(r.meter.limits().MaxCallsPerTool), flag: "max-calls-per-tool"}
	if b.limit == 0 {
		return nil, nil, false
	}
	if b.used >= b.limit {
		b.words = cmp.Or(facts.Tool.Name, s.tool()) + " call"
		return &Action{Record: event.GuardBlocked{
			Guard: event.GuardPerTool, Step: s.index(), Used: b.used, Limit: b.limit,
			Reason: untrusted.Text(b.sentence(s.index())),
		}}, nil, false
	}
	before := b
	before.used += int64(starting)
	if before.used+int64(reserved) >= b.limit {
		return nil, nil, true
	}
	b.used = before.used + 1
	if b.low() && (starting == 0 || !before.low()) && !r.meter.hasWarned(guardKey(event.GuardPerTool, facts.Tool.QualifiedName())) {
		return nil, &Action{Record: event.GuardWarned{
			Guard: event.GuardPerTool, Step: s.index(), Used: b.used, Limit: b.limit,
			Reason: untrusted.Text(fmt.Sprintf("%d of %d calls of %s", b.used, b.limit, facts.Tool.QualifiedName())),
		}}, false
	}
	return nil, nil, false
}

// repeats applies the runaway guard to a call that is about to start. It reacts
// when so many successive revisions made the same call that another would only
// repeat it.
func (r *guards) repeats(s stepView, args map[string]any) (blocked, warned *Action) {
	most := r.meter.limits().MaxRepeats
	if most == 0 {
		return nil, nil
	}
	b := budget{used: int64(r.meter.repeats(callKey(r.tools.toolName(s.tool()), args), r.board.revision())), limit: int64(most)}
	if b.used >= b.limit {
		return &Action{Record: event.GuardBlocked{
			Guard: event.GuardRunaway, Step: s.index(), Used: b.used, Limit: b.limit,
			Reason: untrusted.Text(fmt.Sprintf("%s in a row made the same call of %s, so the run was stopped%s", english.Count(int(b.used), "plan"), s.tool(), whom(s.index()))),
		}}, nil
	}
	b.used++
	if b.used > 1 && b.low() && !r.meter.hasWarned(guardKey(event.GuardRunaway, s.index())) {
		return nil, &Action{Record: event.GuardWarned{
			Guard: event.GuardRunaway, Step: s.index(), Used: b.used, Limit: b.limit,
			Reason: untrusted.Text(fmt.Sprintf("%d plans in a row make the same call of %s", b.used, s.tool())),
		}}
	}
	return nil, nil
}

// sameFailure applies the runaway guard before a replan. It reacts when the same
// tool failed in the same way in too many successive revisions.
func (r *guards) sameFailure() []Action {
	most := r.meter.limits().MaxRepeats
	step, _ := r.planning.failure()
	s := r.steps.find(step)
	if most == 0 || s == nil || s.tool() == "" {
		return nil
	}
	used := r.meter.repeats(resultKey(r.tools.toolName(s.tool()), string(s.why())), r.board.revision()) + 1
	if used < max(most, 2) { // the first failure of its kind repeats nothing
		return nil
	}
	return []Action{{Record: event.GuardBlocked{
		Guard: event.GuardRunaway, Step: s.index(), Used: int64(used), Limit: int64(most),
		Reason: untrusted.Text(fmt.Sprintf("%d plans in a row failed in the same way, at %s, so the run was stopped: %s", used, s.tool(), headline(string(s.why())))),
	}}}
}

func (r *guards) freeSlots() slots {
	concurrency := r.meter.limits().MaxConcurrency
	if concurrency <= 0 {
		concurrency = event.DefaultLimits().MaxConcurrency
	}
	free := newSlots(concurrency-r.flight.callsUnderWay(), r.meter.modelSlots()-r.flight.modelsUnderWay(), r.meter.account(), r.meter.limits().MaxCallsPerTool > 0)
	for a := range r.flight.calls() {
		if s := r.steps.find(a.Index); s != nil && s.status() == StepRunning {
			free.change(s.gateState().changing())
			free.call(r.tools.facts(s.tool()).Tool)
		}
	}
	return free
}

// reserveApproved reserves budget for the calls of open gates, and for calls that
// passed one and have not started, in line or not. While a failed step waits for the planner,
// only the calls of loops still start.
func (r *guards) reserveApproved(q queuesView, free *slots) {
	for _, g := range r.permissions.openGates() {
		if s := r.steps.find(g.index); s != nil && (!r.planning.wantsReplan() || s.byModel()) {
			free.reserve(r.tools.facts(s.tool()), 1, s.ofBudget())
		}
	}
	q.approvedByTool(func(tool string, calls, steps int) { free.reserve(r.tools.facts(tool), calls, steps) })
	for _, s := range q.all(needTurn) {
		free.reserve(r.tools.facts(s.tool()), 1, s.ofBudget())
	}
}

// allReserved reports whether all that is left for calls of the tool is reserved.
func (r *guards) allReserved(facts toolFacts, free *slots) bool {
	return free.allReserved(facts) || r.noneLeft(facts, free)
}

// noneLeft reports whether all calls of a tool are made, about to start, or reserved.
func (r *guards) noneLeft(facts toolFacts, free *slots) bool {
	most := r.meter.limits().MaxCallsPerTool
	return most > 0 && r.tools.timesCalled(facts)+free.comingCalls(facts) >= most
}

// plansUnderWay reports whether a run requested by a plan tool is active or about
// to start. The next one waits, so that each gets all that remains of the shared
// budget, and the one model.
func (r *guards) plansUnderWay(free *slots) bool {
	return free.startsPlan() || r.conversations.plansUnderWay(func(name string) plan.Tool { return r.tools.facts(name).Tool })
}

// repeated applies the runaway guard to a call that a loop is about to repeat. It
// also does so to one after a result that failed in the same way before.
func (r *guards) repeated(c stepView) *Action {
	most := r.meter.limits().MaxRepeats
	if most == 0 {
		return nil
	}
	b := budget{used: int64(c.askedIn().timesMade(c.tool(), c.callState().args())), limit: int64(most)}
	if b.used >= b.limit {
		return &Action{Record: event.GuardBlocked{
			Guard: event.GuardRunaway, Step: c.index(), Used: b.used, Limit: b.limit,
			Reason: untrusted.Text(fmt.Sprintf("the model made the same call of %s %d times, so the run was stopped; step %s was next", c.title(), b.used, c.index())),
		}}
	}
	b.used++
	if b.low() && !r.meter.hasWarned(guardKey(event.GuardRunaway, c.index())) {
		return &Action{Record: event.GuardWarned{
			Guard: event.GuardRunaway, Step: c.index(), Used: b.used, Limit: b.limit,
			Reason: untrusted.Text(fmt.Sprintf("the model makes the same call of %s again: %d of %d times", c.title(), b.used, b.limit)),
		}}
	}
	return nil
}

// stuck ends the run if a loop has met the same failure so often that another
// turn would only repeat it.
func (r *guards) stuck(l loopView) []Action {
	most := r.meter.limits().MaxRepeats
	if most == 0 {
		return nil
	}
	if c, used := l.failsAgain(most); c != nil {
		return []Action{{Record: event.GuardBlocked{
			Guard: event.GuardRunaway, Step: c.index(), Used: int64(used), Limit: int64(most),
			Reason: untrusted.Text(fmt.Sprintf("calls of %s failed %d times in the same way, so the run was stopped: %s", c.title(), used, headline(string(c.why())))),
		}}}
	}
	return nil
}

// askGuards checks the guards for a call that is about to start or to be shown to
// the user. It returns their actions, which may end the run. A call passes if
// they do not refuse it and the rest of its budgets is not promised to others.
func (r *guards) askGuards(s stepView, facts toolFacts, free *slots) (actions []Action, passes bool) {
	kind := event.GuardExecution
	if facts.Tool.ReadOnly {
		kind = event.GuardDiscovery
	}
	reserved, ofTool := free.reservedFor(facts, s.gateState().reserved()) // part of the reservation is its own
	switch {
	case free.noStep(reserved) && s.polls() == 0 && !s.isItem():
		return r.stopped(event.GuardSteps, s.index()), false
	case free.noCall(reserved):
		return r.stopped(event.GuardToolCalls, s.index()), false
	case free.noneOfKind(facts, reserved):
		return r.stopped(kind, s.index()), false
	}
	blocked, warned, promised := r.perTool(s, facts, free.startingCalls(facts), ofTool)
	if promised {
		return nil, false
	}
	switch {
	case blocked != nil:
	case s.byModel() && s.runOfCall() != "":
	case s.byModel():
		if again := r.repeated(s); again != nil && again.mayEnd() {
			blocked = again
		} else if again != nil {
			warned = again
		}
	case r.board.revision() > 1:
		var again *Action
		if blocked, again = r.repeats(s, s.callState().args()); again != nil {
			warned = again
		}
	}
	switch {
	case blocked != nil:
		return []Action{*blocked}, false
	case warned != nil:
		return []Action{*warned}, true
	default:
		return nil, true
	}
}

// whom names the step that a guard keeps from starting.
func whom(step string) string {
	if step == "" {
		return ""
	}
	return "; step " + step + " was next"
}

// guardKey returns the key of a warning by a guard that counts per tool or per
// step.
func guardKey(guard, what string) string { return guard + " " + what }

// SpentReason returns the reason that a run ends with when the guard blocks it.
func SpentReason(guard string) event.Reason {
	switch guard {
	case event.GuardSteps:
		return event.ReasonStepBudget
	case event.GuardReplans:
		return event.ReasonReplanBudget
	case event.GuardTokens:
		return event.ReasonTokenBudget
	case event.GuardTime:
		return event.ReasonTimeBudget
	case event.GuardToolCalls, event.GuardDiscovery, event.GuardExecution, event.GuardPerTool:
		return event.ReasonToolBudget
	default:
		return event.ReasonGuard
	}
}

// overdue ends the run when its time is up.
func (r *guards) overdue() *Action {
	limit := r.meter.limits().MaxDurationMS
	used := r.clock.Elapsed().Milliseconds()
	if limit <= 0 || used < limit {
		return nil
	}
	return &Action{Record: event.GuardBlocked{
		Guard: event.GuardTime, Used: used, Limit: limit,
		Reason: untrusted.Text(fmt.Sprintf("the run took longer than its limit of %s", time.Duration(limit)*time.Millisecond)),
	}}
}

// deadline requests a timer for the end of the run's time.
func (r *guards) deadline() []Action {
	if r.meter.limits().MaxDurationMS <= 0 || r.clock.fired(event.GuardTime) {
		return nil
	}
	return []Action{{Effect: Wake{ID: event.GuardTime, At: r.clock.reaches(time.Duration(r.meter.limits().MaxDurationMS) * time.Millisecond)}}}
}

// timeLimit returns how long a call may take, and whose limit that is. The step's own
// comes first, then that of the tool's server, then the general one.
func (r *guards) timeLimit(own time.Duration, tool plan.Tool) (limit time.Duration, whose string) {
	switch {
	case own > 0:
		return own, "the step's own"
	case tool.TimeoutMS > 0:
		return time.Duration(tool.TimeoutMS) * time.Millisecond, "that of the server " + tool.Server
	default:
		return time.Duration(r.meter.limits().StepTimeoutMS) * time.Millisecond, "step_timeout"
	}
}

// lowBudgets returns the warnings about budgets that run low, each once.
func (r *guards) lowBudgets() []Action {
	var out []Action
	for _, b := range r.budgets() {
		if b.low() && !r.meter.hasWarned(b.guard) {
			out = append(out, Action{Record: event.BudgetWarned{Guard: b.guard, Used: b.used, Limit: b.limit}})
		}
	}
	return out
}

// modelsBusy reports whether the models work on as many requests as they may.
func (r *guards) modelsBusy() bool { return r.flight.modelsUnderWay() >= r.meter.modelSlots() }

// idle reports whether nothing is under way, and no gate is open.
func (r *guards) idle() bool { return r.flight.quiet() && len(r.permissions.openGates()) == 0 }

// leftOver returns the limits of a run that a call requests.
func (r *guards) leftOver(readOnly bool) event.Limits {
	return r.meter.leftOver(readOnly, r.clock.Elapsed())
}
