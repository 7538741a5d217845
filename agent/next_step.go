package agent

import (
	"fmt"
	"slices"
	"time"

	"replan/planning"
)

// retryBase is the pause before the second attempt of a step; it doubles with
// each further one.
const retryBase = 500 * time.Millisecond

// slots counts what is free while Next collects what may start. Of a budget
// without a limit there are -1, which never comes to 0.
type slots struct {
	tools, models               int
	steps                       int
	plans                       int // calls of plan tools that are about to start
	calls, discovery, execution int
	promised                    map[*toolFacts]int // calls of a tool that are about to start
}

func (r *Run) freeSlots() slots {
	concurrency := r.Limits.MaxConcurrency
	if concurrency <= 0 {
		concurrency = DefaultLimits().MaxConcurrency
	}
	return slots{
		tools: concurrency - len(r.inFlight), models: r.modelSlots() - r.modelBusy, steps: r.stepsLeft(),
		calls:     left(r.Limits.MaxToolCalls, r.Usage.ToolCalls),
		discovery: left(r.Limits.MaxDiscoveryCalls, r.Usage.DiscoveryCalls),
		execution: left(r.Limits.MaxExecutionCalls, r.Usage.ToolCalls-r.Usage.DiscoveryCalls),
	}
}

// plansUnderWay reports whether a run that a plan tool asked for goes on, or is
// about to: the next waits for it, so that both can be given what is left of the
// one account, and of the one model.
func (r *Run) plansUnderWay(free *slots) bool {
	return free.plans > 0 || r.Chat != nil && slices.ContainsFunc(r.Chat.newest, func(c *StepState) bool {
		return c.Status == StepActive && planning.IsPlanTool(r.facts(c.Step.Tool).tool)
	})
}

// left is what is left of a budget, -1 where it has no limit.
func left(limit, used int) int {
	if limit == 0 {
		return -1
	}
	return max(limit-used, 0)
}

func (r *Run) modelSlots() int { return max(r.Limits.ModelSlots, 1) }

// gatesAtOnce is how many gates may be open or about to open at once: more than
// anybody looks at, and few enough that a plan of a thousand changes does not
// apply all of them dry before the first is answered.
const gatesAtOnce = 16

// nextSteps starts what is ready, longest remaining path first. Nothing starts
// behind a record that may end the run: what it comes to is seen first.
func (r *Run) nextSteps() []Action { return r.nextOf(&r.queues) }

// nextOf starts what is ready of some queues.
func (r *Run) nextOf(q *queues) []Action {
	free := r.freeSlots()
	var out []Action
	for _, s := range q[standsWord].first(wordsAtOnce) {
		out = append(out, r.word(s, &free)...)
	}
	if slices.ContainsFunc(out, Action.mayEnd) {
		return out
	}
	for _, s := range q[standsTimer].first(1) {
		out = append(out, Action{Effect: Wake{ID: r.retryTimer(s), At: s.RetryAt}})
	}
	out = append(out, r.nextDeadlines()...)
	for _, s := range inPlanOrder(q[standsGate].first(gatesAtOnce - len(r.Gates))) {
		if free.steps == 0 {
			return append(out, r.stopped(GuardSteps, s.Step.Index)...) // rather than ask for what could not run
		}
		out = append(out, Action{Effect: r.gate(s)})
	}
	for _, s := range q[standsTool].first(free.tools) {
		if out = r.startTool(out, s, &free); len(out) > 0 && out[len(out)-1].mayEnd() {
			return out
		}
	}
	for _, s := range q[standsModel].first(free.models) {
		if out = append(out, r.startModel(s, &free)...); len(out) > 0 && out[len(out)-1].mayEnd() {
			return out
		}
	}
	return out
}

// inPlanOrder sorts steps as the plan has them: who is asked about several looks
// at the first of them first.
func inPlanOrder(steps []*StepState) []*StepState {
	slices.SortStableFunc(steps, func(a, b *StepState) int { return planning.CompareIndices(a.Step.Index, b.Step.Index) })
	return steps
}

// mayEnd reports whether nothing new may start any more once this has been
// applied.
func (a Action) mayEnd() bool {
	switch a.Record.(type) {
	case StepFailed, GuardBlocked:
		return true
	default:
		return false
	}
}

// wordsAtOnce is how many records that need no slot are returned at once.
const wordsAtOnce = 64

// retryTimer names the timer that a step's next attempt waits for.
func (r *Run) retryTimer(s *StepState) string {
	return fmt.Sprintf("retry/%s/%d", s.Step.Index, s.tries+1)
}

// word returns what is to be said of a step of which nothing else can be done.
func (r *Run) word(s *StepState, free *slots) []Action {
	index := s.Step.Index
	switch {
	case s.Status == StepActive:
		return []Action{{Record: r.came(s)}}
	case s.Status == StepBroken && free.steps == 0:
		return r.stopped(GuardSteps, index) // rather than wait for an attempt that may not be made
	case s.Status == StepBroken:
		pause := retryBase << min(s.Attempt-s.tried-1, 6)
		return []Action{{Record: StepRetry{Index: index, Attempt: s.Attempt, Error: s.Error, At: r.Now.Add(pause)}}}
	case s.cut != "":
		return []Action{{Record: StepSkipped{Index: index, Reason: s.cut}}}
	case free.steps == 0:
		return r.stopped(GuardSteps, index)
	}
	free.steps--
	number := s.tries + 1
	if s.flaw != nil {
		return []Action{{Record: StepFailed{Index: index, Attempt: number, Error: s.flaw.sentence, Failure: s.flaw.kind}}}
	}
	return []Action{{Record: r.dryStep(s, number)}}
}

// dryStep is what a step would do: its call, the gate that would ask, and a
// placeholder for what would come of it.
func (r *Run) dryStep(s *StepState, number int) StepCompleted {
	done := StepCompleted{Index: s.Step.Index, Attempt: number, DryRun: true, Args: s.call, Result: string(placeholder(s.Step))}
	if s.Step.Executor != planning.ExecutorTool {
		return done
	}
	facts := r.facts(s.Step.Tool)
	if facts.err == nil {
		if rule := r.ruleFor(s, facts); rule.Verdict != VerdictRun {
			done.Gate = &rule
		}
	} else if s.Step.Gate {
		rule := gatedByPlan(s.Step.Tool)
		done.Gate = &rule
	}
	return done
}

// placeholder stands for the result of a step in a dry run.
func placeholder(s planning.Step) planning.Placeholder {
	by := s.Tool
	switch s.Executor {
	case planning.ExecutorSelf:
		by = "step " + s.Index
	case planning.ExecutorAgent:
		by = s.Profile
	}
	return planning.Placeholder("<" + by + " result>")
}

// startTool begins one call of a tool, and adds that to out.
func (r *Run) startTool(out []Action, s *StepState, free *slots) []Action {
	index, facts := s.Step.Index, r.facts(s.Step.Tool)
	kind, kindLeft := GuardExecution, &free.execution
	if facts.tool.ReadOnly {
		kind, kindLeft = GuardDiscovery, &free.discovery
	}
	switch {
	case free.steps == 0:
		return append(out, r.stopped(GuardSteps, index)...)
	case free.calls == 0:
		return append(out, r.stopped(GuardToolCalls, index)...)
	case *kindLeft == 0:
		return append(out, r.stopped(kind, index)...)
	}
	blocked, warned, promised := r.perTool(s, facts, free.promised[facts])
	if promised || planning.IsPlanTool(facts.tool) && r.plansUnderWay(free) {
		return out
	}
	switch {
	case blocked != nil:
	case s.loop != nil && s.Run != "":
	case s.loop != nil:
		if again := r.repeated(s); again != nil && again.mayEnd() {
			blocked = again
		} else if again != nil {
			warned = again
		}
	case r.Revision > 1:
		var again *Action
		if blocked, again = r.repeats(s, s.call); again != nil {
			warned = again
		}
	}
	if blocked != nil {
		return append(out, *blocked)
	}
	if warned != nil {
		out = append(out, *warned)
	}
	free.tools--
	free.steps--
	free.calls--
	*kindLeft--
	if r.Limits.MaxCallsPerTool > 0 {
		if free.promised == nil {
			free.promised = map[*toolFacts]int{}
		}
		free.promised[facts]++
	}
	timeout := s.Step.Timeout
	if timeout == 0 {
		timeout = time.Duration(r.Limits.StepTimeoutMS) * time.Millisecond
	}
	number := s.tries + 1
	if planning.IsPlanTool(facts.tool) {
		free.plans++
		return append(out, Action{r.started(s, s.call, number), CallPlan{
			Index: index, Attempt: number, Tool: facts.tool, Args: s.call, Limits: r.leftOver(facts.tool), Run: s.Run, Used: s.ranUp,
		}})
	}
	return append(out, Action{
		r.startedCall(s, facts, number),
		CallTool{Index: index, Attempt: number, Tool: facts.tool, Args: s.call, Hashes: s.hashes, Hold: r.unseen(s, facts), Timeout: timeout},
	})
}

// startModel has the model carry a step out in its own words, or write the
// arguments that the plan left out.
func (r *Run) startModel(s *StepState, free *slots) []Action {
	if s.Status == StepActive {
		return r.nextTurn(s, free)
	}
	fills := s.Step.Executor == planning.ExecutorTool
	if !fills && free.steps == 0 {
		return r.stopped(GuardSteps, s.Step.Index)
	}
	if blocked := r.stopped(GuardTokens, s.Step.Index); blocked != nil {
		return blocked
	}
	if s.Step.Executor == planning.ExecutorAgent {
		free.steps--
		return []Action{{Record: r.started(s, nil, s.tries+1)}}
	}
	free.models--
	if fills {
		request := planning.ArgsRequest(r.brief(), r.Plan, s.Step, r.facts(s.Step.Tool).tool, r.inputs(s.Step))
		return []Action{{
			ModelRequested{Purpose: request.Purpose, Step: s.Step.Index, Request: request},
			CallModel{Request: request},
		}}
	}
	free.steps--
	number := s.tries + 1
	request := planning.StepRequest(r.brief(), r.Plan, s.Step, r.inputs(s.Step))
	started := r.started(s, nil, number)
	started.Request = &request
	return []Action{{
		started,
		CallModel{Request: request, Index: s.Step.Index, Attempt: number, Timeout: s.Step.Timeout},
	}}
}

// needs returns what a step waits for, by references to results too.
func (r *Run) needs(s *StepState) []string {
	if r.graph == nil || s.Parent != "" {
		return list(s.Step.DependsOn) // a draft, which waits for nothing
	}
	if len(r.graph.Needs(s.node)) == len(s.Step.DependsOn) {
		return list(s.Step.DependsOn) // it says them all itself
	}
	return list(r.graph.Dependencies(s.Step.Index))
}

func (r *Run) started(s *StepState, args map[string]any, number int) StepStarted {
	if args == nil {
		args = map[string]any{}
	}
	return StepStarted{
		Index: s.Step.Index, Parent: s.Parent, Attempt: number, Title: s.Step.Title, Executor: s.Step.Executor, Tool: s.Step.Tool,
		DependsOn: r.needs(s), ExpectedOutcome: s.Step.ExpectedOutcome, Args: args, Draft: s.Draft,
	}
}

// inputs returns the completed items of history that a step depends on.
func (r *Run) inputs(step planning.Step) []planning.HistoryItem {
	needed := map[string]bool{}
	for _, d := range r.graph.Dependencies(step.Index) {
		needed[d] = true
	}
	var out []planning.HistoryItem
	for _, h := range r.History {
		if needed[h.Index] && h.Status == planning.ItemCompleted {
			out = append(out, h)
		}
	}
	return out
}
