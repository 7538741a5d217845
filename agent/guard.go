package agent

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// budgets returns every budget of the run.
func (r *Run) budgets() [7]budget { return r.Meter.budgets(r.Elapsed()) }

// Budgets returns the budgets of the run that have a limit, as the guards count
// them.
func (r *Run) Budgets() []Budget {
	var out []Budget
	for _, b := range r.budgets() {
		if b.limit > 0 {
			out = append(out, Budget{Guard: b.guard, Used: b.used, Limit: b.limit, Low: b.low()})
		}
	}
	return out
}

// spent returns the action that ends the run if the guard's budget is used up, or
// nil if something is left. step is the step that the guard keeps from starting,
// or "".
func (r decision) spent(guard, step string) *Action {
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

// whom names the step that a guard keeps from starting.
func whom(step string) string {
	if step == "" {
		return ""
	}
	return "; step " + step + " was next"
}

// stopped returns the action that ends the run if a budget is used up. It returns
// nothing if the rest of the budget is promised to steps that are about to start.
func (r decision) stopped(guard, step string) []Action {
	if blocked := r.spent(guard, step); blocked != nil {
		return []Action{*blocked}
	}
	return nil
}

// perTool checks the budget of the call's tool, given the calls that are starting
// or reserved. It returns the action that ends the run, a warning, or whether the
// rest is promised to those calls.
func (r decision) perTool(s *StepState, facts *toolFacts, starting, reserved int) (blocked, warned *Action, promised bool) {
	b := budget{guard: event.GuardPerTool, used: int64(facts.timesCalled()), limit: int64(r.Limits.MaxCallsPerTool), flag: "max-calls-per-tool"}
	if b.limit == 0 {
		return nil, nil, false
	}
	if b.used >= b.limit {
		b.words = cmp.Or(facts.Tool.Name, s.Step.Tool) + " call"
		return &Action{Record: event.GuardBlocked{
			Guard: event.GuardPerTool, Step: s.Step.Index, Used: b.used, Limit: b.limit,
			Reason: untrusted.Text(b.sentence(s.Step.Index)),
		}}, nil, false
	}
	before := b
	before.used += int64(starting)
	if before.used+int64(reserved) >= b.limit {
		return nil, nil, true
	}
	b.used = before.used + 1
	if b.low() && (starting == 0 || !before.low()) && !r.Meter.hasWarned(guardKey(event.GuardPerTool, facts.Tool.QualifiedName())) {
		return nil, &Action{Record: event.GuardWarned{
			Guard: event.GuardPerTool, Step: s.Step.Index, Used: b.used, Limit: b.limit,
			Reason: untrusted.Text(fmt.Sprintf("%d of %d calls of %s", b.used, b.limit, facts.Tool.QualifiedName())),
		}}, false
	}
	return nil, nil, false
}

// guardKey returns the key of a warning by a guard that counts per tool or per
// step.
func guardKey(guard, what string) string { return guard + " " + what }

// callKey and resultKey return keys to recognize a repeated call or failing
// result.
func callKey(tool string, args map[string]any) string {
	return "call " + hashOf(tool+" ", args)
}

func resultKey(tool, err string) string { return "result " + tool + " " + err }

// repeats applies the runaway guard to a call that is about to start. It reacts
// when so many successive revisions made the same call that another would only
// repeat it.
func (r decision) repeats(s *StepState, args map[string]any) (blocked, warned *Action) {
	most := r.Limits.MaxRepeats
	if most == 0 {
		return nil, nil
	}
	b := budget{used: int64(r.Meter.repeats(callKey(r.toolName(s.Step.Tool), args), r.Revision)), limit: int64(most)}
	if b.used >= b.limit {
		return &Action{Record: event.GuardBlocked{
			Guard: event.GuardRunaway, Step: s.Step.Index, Used: b.used, Limit: b.limit,
			Reason: untrusted.Text(fmt.Sprintf("%s in a row made the same call of %s, so the run was stopped%s", english.Count(int(b.used), "plan"), s.Step.Tool, whom(s.Step.Index))),
		}}, nil
	}
	b.used++
	if b.used > 1 && b.low() && !r.Meter.hasWarned(guardKey(event.GuardRunaway, s.Step.Index)) {
		return nil, &Action{Record: event.GuardWarned{
			Guard: event.GuardRunaway, Step: s.Step.Index, Used: b.used, Limit: b.limit,
			Reason: untrusted.Text(fmt.Sprintf("%d plans in a row make the same call of %s", b.used, s.Step.Tool)),
		}}
	}
	return nil, nil
}

// sameFailure applies the runaway guard before a replan. It reacts when the same
// tool failed in the same way in too many successive revisions.
func (r decision) sameFailure() []Action {
	most := r.Limits.MaxRepeats
	step, _ := r.Planning.failure()
	s := r.Step(step)
	if most == 0 || s == nil || s.Step.Tool == "" {
		return nil
	}
	used := r.Meter.repeats(resultKey(r.toolName(s.Step.Tool), string(s.Error)), r.Revision) + 1
	if used < max(most, 2) { // the first failure of its kind repeats nothing
		return nil
	}
	return []Action{{Record: event.GuardBlocked{
		Guard: event.GuardRunaway, Step: s.Step.Index, Used: int64(used), Limit: int64(most),
		Reason: untrusted.Text(fmt.Sprintf("%d plans in a row failed in the same way, at %s, so the run was stopped: %s", used, s.Step.Tool, headline(string(s.Error)))),
	}}}
}

// nextDirty says, once, that the folder held changes before the run makes its
// own.
func (r decision) nextDirty() []Action {
	text := r.uncommitted.warning()
	if text == "" || r.dryRun || r.planOnly || slices.ContainsFunc(r.Notes, func(n event.Note) bool { return string(n.Text) == text }) {
		return nil
	}
	return []Action{{Record: event.Note{Level: "warn", Text: untrusted.Text(text)}}}
}

// slots counts free resources while Next collects what may start.
type slots struct {
	tools, models int
	plans         int                // plan tool calls that are about to start
	left          account            // remaining budgets, after what is about to start
	starting      map[*toolFacts]int // calls per tool that are about to start; nil if none are counted
	// reserved is kept back for calls that are shown to the user or approved, so
	// that no guard refuses a call after the user was asked about it.
	reserved        account
	changing        map[string]bool // files that running calls will change
	calling         map[string]bool // servers of running serial calls
	reservedPerTool map[*toolFacts]int
}

// account counts the budget of steps that are about to start.
type account struct {
	steps, calls, discovery, execution int
}

// ofKind returns the count for calls of the tool's kind.
func (a *account) ofKind(facts *toolFacts) *int {
	if facts.Tool.ReadOnly {
		return &a.discovery
	}
	return &a.execution
}

// add counts so many calls of the tool, and the steps that they are.
func (a *account) add(facts *toolFacts, calls, steps int) {
	a.steps += steps
	a.calls += calls
	*a.ofKind(facts) += calls
}

// unlimited is the remainder of a budget without a limit.
const unlimited = math.MaxInt32

func (r decision) freeSlots() slots {
	concurrency := r.Limits.MaxConcurrency
	if concurrency <= 0 {
		concurrency = event.DefaultLimits().MaxConcurrency
	}
	free := slots{tools: concurrency - r.flight.callsUnderWay(), models: r.modelSlots() - r.flight.modelsUnderWay(), left: r.Meter.account()}
	for a := range r.flight.calls() {
		if s := r.Step(a.Index); s != nil && s.Status == StepRunning {
			free.change(slices.Collect(maps.Keys(s.gate.hashes)))
			free.call(r.facts(s.Step.Tool).Tool)
		}
	}
	if r.Limits.MaxCallsPerTool > 0 {
		free.starting, free.reservedPerTool = map[*toolFacts]int{}, map[*toolFacts]int{}
	}
	return free
}

// ofBudget returns how many steps of the budget an execution is: an item is none, since its
// step counts once for all.
func (s *StepState) ofBudget() int {
	if s.item.step != nil {
		return 0
	}
	return 1
}

// stepsLeft returns how many unapproved steps may start.
func (f *slots) stepsLeft() int { return f.left.steps - f.reserved.steps }

// start counts a call that is about to start.
func (f *slots) start(facts *toolFacts, steps int) {
	f.left.add(facts, -1, -steps)
	if f.starting != nil {
		f.starting[facts]++
	}
}

// reserve reserves budget for calls, or releases it if calls is negative.
func (f *slots) reserve(facts *toolFacts, calls, steps int) {
	f.reserved.add(facts, calls, steps)
	if f.reservedPerTool != nil {
		f.reservedPerTool[facts] += calls
	}
}

// change records files that a call is about to change.
func (f *slots) change(files []string) {
	if f.changing == nil && len(files) > 0 {
		f.changing = map[string]bool{}
	}
	for _, name := range files {
		f.changing[name] = true
	}
}

// changes reports whether a call is about to change one of the files.
func (f *slots) changes(files []string) bool {
	return slices.ContainsFunc(files, func(name string) bool { return f.changing[name] })
}

// call records a call that is under way or about to start.
func (f *slots) call(t plan.Tool) {
	if !t.Serial {
		return
	}
	if f.calling == nil {
		f.calling = map[string]bool{}
	}
	f.calling[t.Server] = true
}

// waits reports whether a call of the tool has to wait for another one of its server.
func (f *slots) waits(t plan.Tool) bool { return t.Serial && f.calling[t.Server] }

// reserveApproved reserves budget for the calls of open gates, and for calls that
// passed one and have not started, in line or not. While a failed step waits for the planner,
// only the calls of loops still start.
func (r decision) reserveApproved(q *queues, free *slots) {
	for _, g := range r.Gates {
		if s := r.Step(g.Step); s != nil && (!r.Planning.wantsReplan() || s.inner.loop != nil) {
			free.reserve(r.facts(s.Step.Tool), 1, s.ofBudget())
		}
	}
	for _, s := range q[needToolSlot] {
		if s.reserved() {
			free.reserve(r.facts(s.Step.Tool), 1, s.ofBudget())
		}
	}
	for _, s := range q[needTurn] {
		free.reserve(r.facts(s.Step.Tool), 1, s.ofBudget())
	}
}

// allReserved reports whether all that is left for calls of the tool is reserved.
func (r decision) allReserved(facts *toolFacts, free *slots) bool {
	used, most := facts.timesCalled()+free.starting[facts]+free.reservedPerTool[facts], r.Limits.MaxCallsPerTool
	return free.left.calls <= free.reserved.calls || *free.left.ofKind(facts) <= *free.reserved.ofKind(facts) || most > 0 && used >= most
}

// reserved reports whether budget is reserved for the step's approved call. Another
// call after it has no reservation: calls whose gate is open come first.
func (s *StepState) reserved() bool { return s.gate.allowed() && !s.gate.called }

// plansUnderWay reports whether a run requested by a plan tool is active or about
// to start. The next one waits, so that each gets all that remains of the shared
// budget, and the one model.
func (r decision) plansUnderWay(free *slots) bool {
	return free.plans > 0 || r.Chat.plansUnderWay(func(name string) plan.Tool { return r.facts(name).Tool })
}

// left returns the remainder of a budget.
func left(limit, used int) int {
	if limit == 0 {
		return unlimited
	}
	return max(limit-used, 0)
}
