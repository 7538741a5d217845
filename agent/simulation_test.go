package agent_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// executors is the number of kinds of steps to draw from; the last kind is
// sub-agents.
const executors = 10

// randomPlan draws a plan whose steps depend only on earlier ones.
func randomPlan(t *rapid.T, first, kinds int) string {
	n := rapid.IntRange(0, 6).Draw(t, "steps")
	steps := []map[string]any{}
	for i := range n {
		index := fmt.Sprint(first + i)
		step := map[string]any{"index": index, "title": "Step " + index, "args": map[string]any{"at": index}}
		switch rapid.IntRange(0, kinds-1).Draw(t, "executor") {
		case 0:
			step["executor"] = "self"
			delete(step, "args")
		case 1:
			step["tool"] = "nowhere"
		case executors - 1:
			step["executor"], step["profile"] = "agent", "scout"
			delete(step, "args")
		case 2, 3, 4:
			step["tool"] = "change"
		case 5:
			step["tool"] = "fill"
			delete(step, "args")
		default:
			step["tool"] = "look"
		}
		var deps []string
		for d := range i {
			if rapid.Bool().Draw(t, "dep") {
				deps = append(deps, fmt.Sprint(first+d))
			}
		}
		step["depends_on"] = deps
		if rapid.IntRange(0, 7).Draw(t, "gate") == 0 {
			step["gate"] = true
		}
		if kinds == executors {
			drawChecks(t, step)
			drawWhen(t, step)
			drawUntil(t, step)
			drawForEach(t, step)
		}
		step["retries"] = rapid.IntRange(0, 2).Draw(t, "retries")
		step["on_failure"] = rapid.SampledFrom([]string{"", "abort", "skip", "replan"}).Draw(t, "on_failure")
		if step["on_failure"] == "" {
			delete(step, "on_failure")
		}
		steps = append(steps, step)
	}
	drawn := map[string]any{"title": "Random", "steps": steps, "variables": map[string]any{"on": true}}
	if kinds == executors && rapid.IntRange(0, 3).Draw(t, "acceptance") == 0 {
		drawn["acceptance"] = []any{map[string]any{"tool": "look", "expect": "result == 'there'"}}
	}
	text, err := json.Marshal(drawn)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// randomWorld draws a world with random behavior, and the start of its run. That
// has a goal or a plan, is attended or not, and has random limits.
func randomWorld(t *rapid.T, kinds int) (*world, event.RunStarted) {
	w := newWorld(t)
	next := 1
	w.reply = func(r prompt.Request) (string, error) {
		if rapid.IntRange(0, 11).Draw(t, "silent") == 0 {
			return "", fmt.Errorf("the model fell silent")
		}
		switch r.Purpose {
		case prompt.PurposePlan, prompt.PurposeRepair, prompt.PurposeReplan:
			plan := randomPlan(t, next, kinds)
			next += rapid.IntRange(0, 6).Draw(t, "renumber")
			return plan, nil
		case prompt.PurposeStep:
			return rapid.SampledFrom([]string{`{"at":"x"}`, "words"}).Draw(t, "words"), nil
		case prompt.PurposeAgent:
			return rapid.SampledFrom([]string{"", "words", "more words"}).Draw(t, "said"), nil
		default:
			return "words", nil
		}
	}
	w.calls = func(r prompt.Request) []reply.ToolUse {
		var uses []reply.ToolUse
		if r.Purpose == prompt.PurposeAgent {
			for range rapid.IntRange(0, 2).Draw(t, "calls") {
				uses = append(uses, use(rapid.SampledFrom([]string{"look", "change", "fill", "nowhere"}).Draw(t, "called"), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "at")))
			}
		}
		return uses
	}
	w.tool = func(c agent.CallTool) event.Data {
		kind := event.FailureTool
		if c.Hold && rapid.Bool().Draw(t, "removes") {
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "refused", Failure: kind, Removes: "removes 9 of 10 lines of a"}
		}
		switch rapid.IntRange(0, 9).Draw(t, "outcome") {
		case 0:
			kind = event.FailureTimeout
		case 1:
		case 2:
			if c.Tool.ReadOnly && rapid.Bool().Draw(t, "interrupted") {
				kind = event.FailureInterrupted
			}
		case 3:
			if !c.Tool.ReadOnly {
				return event.StepInDoubt{Index: c.Index, Attempt: c.Attempt, Reason: "lost"}
			}
		default:
			return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: map[string]any{"n": json.Number("1.50")}, MS: 1}
		}
		return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "broke", Failure: kind}
	}
	w.finds = func(c agent.CallCheck) event.CheckCompleted { return drawFinding(t, c) }
	w.gate = func(event.GateRequested) event.Decision {
		if rapid.IntRange(0, 7).Draw(t, "deny") == 0 {
			return event.Deny
		}
		return event.Allow
	}
	w.scope = rapid.SampledFrom([]event.Scope{event.ScopeOnce, event.ScopeOnce, event.ScopeRun}).Draw(t, "scope")
	w.failed = func(q agent.Question) event.FailureResolved {
		answer := event.FailureResolved{Decision: rapid.SampledFrom([]event.FailureDecision{
			event.FailureRetry, event.FailureSkip, event.FailureReplan, event.FailureAbort,
		}).Draw(t, "decision")}
		if answer.Decision == event.FailureReplan && !q.Replan {
			answer.Decision = event.FailureSkip
		}
		if answer.Decision == event.FailureRetry && rapid.Bool().Draw(t, "edited") {
			answer.Args = map[string]any{"at": "edited"}
		}
		return answer
	}
	w.doubt = func(agent.Question) event.DoubtDecision {
		return rapid.SampledFrom([]event.DoubtDecision{event.DoubtDone, event.DoubtRerun, event.DoubtAbort}).Draw(t, "doubt")
	}
	w.flaw = func(agent.OpenGate) string {
		return rapid.SampledFrom([]string{"", "", "", "", "it does not apply"}).Draw(t, "flaw")
	}
	w.review = func(v *agent.Review) event.ReviewDecision {
		changeAtRandom(t, v)
		return rapid.SampledFrom([]event.ReviewDecision{event.ReviewRun, event.ReviewRun, event.ReviewRun, event.ReviewRefuse}).Draw(t, "reviewed")
	}
	w.choose = func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "next") }
	w.drawElicitations(t)
	return w, randomStart(t, kinds)
}

// randomStart draws the start of a run.
func randomStart(t *rapid.T, kinds int) event.RunStarted {
	start := started(randomLimits(t))
	start.Catalog = slices.Clone(catalog)
	start.Catalog[1].Trusted, start.Catalog[1].Previews = true, true
	start.Prompting.ModelTools = rapid.IntRange(0, 5).Draw(t, "no tools") > 0
	start.Prompting.Profiles = []prompt.Profile{{Name: "scout", MaxTurns: rapid.IntRange(1, 5).Draw(t, "turns"), MaxTokens: rapid.SampledFrom([]int{0, 0, 200}).Draw(t, "tokens of the sub-agent")}}
	start.Attended = rapid.Bool().Draw(t, "attended")
	start.InDoubt = randomInDoubt(t)
	start.Review = rapid.IntRange(0, 3).Draw(t, "review") == 0
	start.SkipSynthesis = rapid.Bool().Draw(t, "no answer")
	if rapid.IntRange(0, 2).Draw(t, "looks") == 0 {
		start.Goal = rapid.SampledFrom([]untrusted.Text{changesBoth, asksAboutBoth}).Draw(t, "goal")
		start.Catalog = append(start.Catalog, readFile)
		start.Routing.Facts = intent.Facts{Known: true, Files: []string{"a.go", "b.go"}}
	}
	if rapid.Bool().Draw(t, "given") {
		start.Plan = randomGiven(t, kinds)
		start.OnFailure = rapid.SampledFrom([]plan.OnFailure{"", plan.OnFailureAbort, plan.OnFailureSkip, plan.OnFailureReplan}).Draw(t, "fallback")
		start.Model = rapid.SampledFrom([]string{"m", ""}).Draw(t, "model")
		start.SkipSynthesis = start.SkipSynthesis || start.Model == ""
	}
	return start
}

// randomGiven draws a plan that needs no planner.
func randomGiven(t *rapid.T, kinds int) *plan.Plan {
	p, faults := plan.DecodePlan([]byte(randomPlan(t, 1, kinds)))
	if len(faults) > 0 {
		t.Fatal(plan.FaultError(faults))
	}
	return &p
}

func randomInDoubt(t *rapid.T) event.DoubtDecision {
	return rapid.SampledFrom([]event.DoubtDecision{"", event.DoubtDone, event.DoubtRerun, event.DoubtAbort}).Draw(t, "in doubt")
}

func randomLimits(t *rapid.T) event.Limits {
	limits := event.DefaultLimits()
	limits.MaxConcurrency = rapid.IntRange(1, 3).Draw(t, "slots")
	limits.MaxReplans = rapid.IntRange(1, 3).Draw(t, "replans")
	limits.MaxSteps, limits.GrowSteps = rapid.IntRange(1, 12).Draw(t, "max steps"), rapid.Bool().Draw(t, "grow")
	limits.MaxTokens = rapid.SampledFrom([]int{0, 0, 0, 300, 2000}).Draw(t, "tokens")
	few := []int{0, 0, 0, 1, 3}
	limits.MaxToolCalls = rapid.SampledFrom(few).Draw(t, "tool calls")
	limits.MaxDiscoveryCalls = rapid.SampledFrom(few).Draw(t, "discovery calls")
	limits.MaxExecutionCalls = rapid.SampledFrom(few).Draw(t, "execution calls")
	limits.MaxCallsPerTool = rapid.SampledFrom(few).Draw(t, "calls per tool")
	return limits
}

// TestSimulation plays random plans in a random world, and checks the invariants
// of every run.
func TestSimulation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, start := randomWorld(t, executors)
		w.watch = func(_ []event.Data, pending []agent.Effect) { checkSlots(t, start.Limits, pending) }
		mirror(w)

		result := w.play(start)
		w.undo(resumed(start))

		checkOrder(t, w.events)
		checkBudgets(t, start.Limits, result.Usage, w.events)
		if next := w.run.Next(); next != nil {
			t.Fatalf("an ended run has the actions %v", next)
		}
	})
}

// mirror folds every event a second time, as written and read, and checks after
// each that both runs are in the same state.
func mirror(w *world) {
	again := agent.NewRun(w.planners)
	w.check = func(e event.Event) {
		w.t.Helper()
		if e.Data.Kind().Passing() {
			return
		}
		if err := again.Apply(reread(w.t, e)); err != nil {
			w.t.Fatal(err)
		}
		if here, there := dump(w.t, w.run), dump(w.t, again); here != there {
			w.t.Fatalf("the refolded run is\n%s\nwant\n%s\nafter\n%s", there, here, w.tail())
		}
	}
}

// dump returns the visible state of a run as text.
func dump(t tester, r *agent.Run) string {
	t.Helper()
	type step struct {
		Index   string
		Status  agent.StepStatus
		Attempt int
		Args    map[string]any
		Result  any
		Error   string
		Gate    string
	}
	var steps []step
	for _, of := range r.Steps {
		for _, s := range append([]*agent.StepState{of}, of.Items...) {
			steps = append(steps, step{s.Step.Index, s.Status, s.Attempt, s.Args, s.Result, string(s.Error), s.Gate})
		}
	}
	text, err := json.MarshalIndent(map[string]any{
		"next": actions(r.Next()), "standing": r.Snapshot(true), "steps": steps, "questions": r.Questions(),
		"gates": r.Gates, "elicitations": r.Elicitations, "held": r.AwaitsReview(), "reviews": r.Reviews, "undone": r.Undone, "phases": r.Phases, "revision": r.Revision, "usage": r.Usage, "variables": r.Variables(),
	}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkBudgets checks that no limit was exceeded.
func checkBudgets(t *rapid.T, limits event.Limits, used event.Usage, events []event.Event) {
	calls, executed := map[string]int{}, used.Steps
	toolOf := map[string]string{} // step → tool of its latest call
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.StepStarted:
			calls[d.Tool]++
			toolOf[d.Index] = d.Tool
		case event.StepFailed:
			if d.Gate != "" {
				executed-- // the call did not apply: counted, but never made
			}
			if d.Removes != "" || d.Outdated != "" {
				calls[toolOf[d.Index]]-- // its tool refused the call, which must ask first
			}
		}
	}
	for name, b := range map[string][2]int{
		"replans":         {used.Replans, limits.MaxReplans},
		"tool calls":      {used.ToolCalls, limits.MaxToolCalls},
		"discovery calls": {used.DiscoveryCalls, limits.MaxDiscoveryCalls},
		"execution calls": {used.ToolCalls - used.DiscoveryCalls, limits.MaxExecutionCalls},
		"calls of look":   {calls["look"], limits.MaxCallsPerTool},
		"calls of change": {calls["change"], limits.MaxCallsPerTool},
		"calls of fill":   {calls["fill"], limits.MaxCallsPerTool},
	} {
		if b[1] > 0 && b[0] > b[1] {
			t.Fatalf("got %d %s, want at most %d:\n%s", b[0], name, b[1], eventLines(events))
		}
	}
	if limits.MaxSteps > 0 && !limits.GrowSteps && executed > limits.MaxSteps {
		t.Fatalf("executed %d steps, want at most %d:\n%s", executed, limits.MaxSteps, eventLines(events))
	}
}

// checkSlots checks that no more calls run than there are slots.
func checkSlots(t *rapid.T, limits event.Limits, pending []agent.Effect) {
	tools, models := 0, 0
	for _, e := range pending {
		switch e.(type) {
		case agent.CallTool, agent.CallCheck:
			tools++
		case agent.CallModel:
			models++
		}
	}
	if tools > limits.MaxConcurrency || models > 1 {
		t.Fatalf("%d tool calls in %d slots and %d model calls in 1", tools, limits.MaxConcurrency, models)
	}
}

// order tracks the events of a run's steps.
type order struct {
	t        *rapid.T
	events   []event.Event
	plan     *plan.Graph
	done     map[string]bool
	allowed  map[string]bool                // step → its gate allowed the next call
	forAll   bool                           // a grant covers every call of the tool
	open     map[string]event.GateRequested // by gate
	shown    map[string]event.GateRequested // the answered gate of each step
	running  map[string]int                 // step → attempt that counts
	drafted  map[string]plan.Step
	early    map[string]bool
	waits    bool            // the plan is held for review
	reviews  bool            // every plan is held
	inFlight map[string]bool // running steps with effects
	lost     map[string]bool // of those, the ones that ran when the program ended
	tried    map[attempt]bool
	checks   checkedSteps
}

// attempt is one attempt of one step.
type attempt struct {
	step   string
	number int
}

// checkOrder checks that a step starts only after its dependencies completed and
// its gate was passed, and not again after it completed. If it has effects and was
// lost with its program, it is reported in doubt before anything else happens.
func checkOrder(t *rapid.T, events []event.Event) {
	o := order{
		t: t, events: events, done: map[string]bool{}, allowed: map[string]bool{}, open: map[string]event.GateRequested{}, shown: map[string]event.GateRequested{},
		running: map[string]int{}, drafted: map[string]plan.Step{}, early: map[string]bool{},
		inFlight: map[string]bool{}, lost: map[string]bool{}, tried: map[attempt]bool{},
		checks: checkedSteps{held: map[string]int{}, changed: map[string]bool{}, notTaken: map[string]bool{}},
	}
	for _, e := range events {
		o.see(e.Data)
	}
}

func (o *order) see(d event.Data) {
	if o.checks.see(o, d) {
		o.done[d.(event.CheckCompleted).Index] = true
	}
	switch d := d.(type) {
	case event.RunResumed:
		o.lost = maps.Clone(o.inFlight)
	case event.StepInDoubt:
		delete(o.inFlight, d.Index)
		delete(o.lost, d.Index)
	case event.RunPaused, event.RunUndone: // the user may stop at any time, and undo what was killed at any time
	default:
		if len(o.lost) > 0 {
			o.t.Fatalf("%s happened before steps %v were reported in doubt:\n%s", d.Kind(), o.lost, eventLines(o.events))
		}
	}
	switch d := d.(type) {
	case event.PhaseSkipped: // planning starts, perhaps again; the looks come before
		maps.DeleteFunc(o.drafted, func(_ string, s plan.Step) bool { return s.Tool != readFile.Name })
		planned := func(index string) bool { return o.drafted[index].Tool != readFile.Name }
		maps.DeleteFunc(o.early, func(index string, _ bool) bool { return planned(index) })
		maps.DeleteFunc(o.running, func(index string, _ int) bool { return planned(index) })
	case event.PlanDrafting:
		if d.Step.Tool == readFile.Name {
			o.early[d.Step.Index], o.running[d.Step.Index] = false, 0
		}
		if o.running[d.Step.Index] == 0 { // of two drafts with one index, the started one counts
			o.drafted[d.Step.Index] = d.Step
		}
	case event.RunStarted:
		o.reviews = d.Review
	case event.PlanCreated:
		o.waits = o.reviews
		o.take(d.Plan)
	case event.PlanDiff:
		o.waits = o.reviews
		o.plan, o.allowed = plan.NewGraph(d.Plan), map[string]bool{}
		for index, yes := range o.done {
			if _, stays := d.Plan.Step(index); yes && !stays && !strings.Contains(index, ".") { // inner calls end with their step
				o.t.Fatalf("revision %d lost the finished step %s:\n%s", d.Revision, index, eventLines(o.events))
			}
		}
	case event.PlanReviewed:
		o.reviewed(d)
	case event.GateRequested:
		o.open[d.Gate] = d
	case event.GateResolved:
		o.allowed[o.open[d.Gate].Step] = d.Decision == event.Allow
		o.shown[o.open[d.Gate].Step] = o.open[d.Gate]
		o.forAll = o.forAll || d.Decision == event.Allow && d.Scope == event.ScopeRun
	case event.DoubtResolved:
		o.done[d.Step] = d.Decision == event.DoubtDone && o.checks.of[d.Step] == 0
	case event.StepStarted:
		o.start(d)
	case event.StepFailed:
		delete(o.inFlight, d.Index)
	case event.StepCompleted:
		delete(o.inFlight, d.Index)
		switch {
		case o.plan == nil:
			o.early[d.Index] = true
		case o.running[d.Index] == d.Attempt:
			o.done[d.Index] = o.checks.of[d.Index] == 0
		}
	}
}

// take switches to the first plan, which adopts early results.
func (o *order) take(p plan.Plan) {
	o.plan = plan.NewGraph(p)
	before := o.running
	o.running = map[string]int{}
	for _, index := range o.plan.Order() {
		s, _ := p.Step(index)
		draft := o.drafted[s.Index]
		adopted := draft.Tool == s.Tool && plan.EqualValues(draft.Args, s.Args) && !s.Gate
		for _, d := range o.plan.Dependencies(s.Index) {
			adopted = adopted && o.done[d] && slices.Contains(draft.DependsOn, d)
		}
		o.done[s.Index] = o.early[s.Index] && adopted && len(agent.ChecksOf(s)) == 0
		if adopted {
			o.running[s.Index] = before[s.Index]
		}
	}
}

// reviewed applies the user's review of a plan.
func (o *order) reviewed(d event.PlanReviewed) {
	o.waits = d.Decision != event.ReviewRun
	if d.Plan != nil {
		o.plan = plan.NewGraph(*d.Plan)
	}
	for _, a := range d.Approved {
		o.allowed[a.Step] = true
	}
}

func (o *order) start(d event.StepStarted) {
	if o.waits || o.reviews && o.plan == nil {
		o.t.Fatalf("step %s started before the review of the plan:\n%s", d.Index, eventLines(o.events))
	}
	o.running[d.Index] = d.Attempt
	if call := (attempt{d.Index, d.Attempt}); o.tried[call] {
		o.t.Fatalf("attempt %d of step %s started twice:\n%s", d.Attempt, d.Index, eventLines(o.events))
	} else {
		o.tried[call] = true
	}
	if o.done[d.Index] {
		o.t.Fatalf("step %s started after it completed:\n%s", d.Index, eventLines(o.events))
	}
	if d.Tool == "change" {
		if !o.allowed[d.Index] && !o.forAll {
			o.t.Fatalf("attempt %d of step %s has effects but passed no gate:\n%s", d.Attempt, d.Index, eventLines(o.events))
		}
		if g, ok := o.shown[d.Index]; ok && d.Rule == nil && !plan.EqualValues(g.Args, d.Args) {
			o.t.Fatalf("step %s was approved with %v and started with %v:\n%s", d.Index, g.Args, d.Args, eventLines(o.events))
		}
		o.inFlight[d.Index] = true
	}
	delete(o.allowed, d.Index)
	if o.plan == nil {
		if d.Tool != "look" && d.Tool != "fs.read" {
			o.t.Fatalf("step %s (%s) started before there was a plan", d.Index, d.Tool)
		}
		return
	}
	for _, dep := range o.plan.Dependencies(d.Index) {
		if !o.done[dep] && !o.checks.notTaken[dep] {
			o.t.Fatalf("step %s started before step %s completed:\n%s", d.Index, dep, eventLines(o.events))
		}
	}
}
