package agent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// checkedPlan starts a plan of a change with checks, and of a step that reads its result.
func checkedPlan(onFailure plan.OnFailure, checks ...plan.Check) event.RunStarted {
	p := plan.Plan{Title: "Change it", OnFailure: onFailure, Steps: []plan.Step{
		{Index: "1", Title: "Change", Executor: plan.ExecutorTool, Tool: "change", Args: map[string]any{"at": "here"}, ResultVariable: "changed", Checks: checks},
		{Index: "2", Title: "Look", Executor: plan.ExecutorTool, Tool: "look", Args: map[string]any{"at": "${changed}"}},
	}}
	start := started(event.DefaultLimits())
	start.Goal, start.Plan, start.SkipSynthesis, start.Limits.MaxSteps = p.Title, &p, true, 0
	return start
}

// returning makes every tool return a value.
func (w *world) returning(v any) {
	w.tool = func(c agent.CallTool) event.Data {
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: v, MS: 1}
	}
}

// evidence returns the states in a result, in order.
func evidence(r event.Result) []plan.EvidenceState {
	var out []plan.EvidenceState
	for _, e := range r.Evidence {
		out = append(out, e.State)
	}
	return out
}

var failedIs0 = plan.Check{Title: "nothing failed", Expect: "result.failed == 0"}

func results(failed int) map[string]any {
	return map[string]any{"failed": json.Number(fmt.Sprint(failed))}
}

func TestVerifiedCheckLetsItsDependentsStart(t *testing.T) {
	w := newWorld(t)
	w.returning(results(0))
	result := w.play(checkedPlan(plan.OnFailureAbort, failedIs0, plan.Check{Expect: "args.at == 'here' and changed.failed == 0"}))
	if result.Status != event.StatusCompleted || !slices.Equal(w.starts(), []string{"1", "2"}) {
		t.Fatalf("the run is %s and started %v", result.Status, w.starts())
	}
	if got := evidence(result); !slices.Equal(got, []plan.EvidenceState{"verified", "verified"}) || result.Verified != 2 || result.Of != 2 {
		t.Errorf("the evidence is %v, %d of %d", got, result.Verified, result.Of)
	}
	if saw := result.Evidence[0].Saw; len(saw) != 1 || saw[0].Path != "result.failed" {
		t.Errorf("the check saw %v", saw)
	}
}

func TestRefutedCheckFailsItsStep(t *testing.T) {
	w := newWorld(t)
	w.returning(results(3))
	result := w.play(checkedPlan(plan.OnFailureAbort, failedIs0))
	failed := all[event.StepFailed](w)
	if result.Reason != event.ReasonStepFailed || len(failed) != 1 || failed[0].Failure != event.FailureCheck {
		t.Fatalf("the run ended with %s and the failures %v", result.Reason, failed)
	}
	if want := `the check "nothing failed" does not hold: result.failed == 0, since result.failed is 3`; string(failed[0].Error) != want {
		t.Errorf("the error is %q, want %q", failed[0].Error, want)
	}
	if !slices.Equal(w.starts(), []string{"1"}) {
		t.Errorf("%v started", w.starts())
	}
	if _, bound := result.Variables["changed"]; bound {
		t.Error("a refuted result became a variable")
	}
	if h := result.History; len(h) != 1 || h[0].Status != plan.ItemFailed || h[0].Error != failed[0].Error {
		t.Errorf("the history is %+v", h)
	}
	if got := evidence(result); !slices.Equal(got, []plan.EvidenceState{"refuted"}) {
		t.Errorf("the evidence is %v", got)
	}
}

func TestRefutedCheckReplans(t *testing.T) {
	w := newWorld(t)
	w.returning(results(3))
	w.reply = script{prompt.PurposeReplan: {`{"title":"Again","steps":[{"index":"3","title":"Look","tool":"look","args":{}}]}`}}.reply
	if result := w.play(checkedPlan(plan.OnFailureReplan, failedIs0)); result.Status != event.StatusCompleted || result.Usage.Replans != 1 {
		t.Errorf("the run is %s after %d replans", result.Status, result.Usage.Replans)
	}
}

func TestCheckThatCannotBeEvaluatedIsRefuted(t *testing.T) {
	w := newWorld(t)
	w.returning(map[string]any{"passed": json.Number("4")})
	w.play(checkedPlan(plan.OnFailureAbort, failedIs0))
	if failed := all[event.StepFailed](w); len(failed) != 1 || !strings.Contains(string(failed[0].Error), `there is no field "failed", only passed`) {
		t.Errorf("the failures are %v", failed)
	}
}

func TestStepThatOnlyReadsIsTriedAgainAfterARefutedCheck(t *testing.T) {
	w := newWorld(t)
	left := 2
	w.tool = func(c agent.CallTool) event.Data {
		left--
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: results(left), MS: 1}
	}
	start := checkedPlan(plan.OnFailureAbort)
	start.Plan.Steps = []plan.Step{{Index: "1", Title: "Look", Executor: plan.ExecutorTool, Tool: "look", Retries: 1, Checks: []plan.Check{failedIs0}}}
	if result := w.play(start); result.Status != event.StatusCompleted || !slices.Equal(w.starts(), []string{"1", "1"}) {
		t.Errorf("the run is %s and started %v", result.Status, w.starts())
	}
}

// readsThere holds when the tool that reads finds the change.
var readsThere = plan.Check{Title: "it is there", Tool: "look", Args: map[string]any{"at": "${changed.failed}"}, Expect: "result == 'there' and changed.failed == 0"}

func TestRefutedCheckNeverRepeatsAnEffect(t *testing.T) {
	there := false
	look := func(c agent.CallCheck) event.CheckCompleted {
		if there {
			return c.Returned("there", 1)
		}
		return c.Returned("not there", 1)
	}
	t.Run("when the user tries again", func(t *testing.T) {
		w := newWorld(t)
		w.finds, there = look, false
		w.returning(results(0))
		w.failed = func(agent.Question) event.FailureResolved {
			there = true
			return event.FailureResolved{Decision: event.FailureRetry}
		}
		start := checkedPlan(plan.OnFailureAbort, readsThere)
		start.Attended = true
		if result := w.play(start); result.Status != event.StatusCompleted || !slices.Equal(w.starts(), []string{"1", "2"}) {
			t.Errorf("the run is %s and started %v", result.Status, w.starts())
		}
	})
	t.Run("when the run is resumed", func(t *testing.T) {
		w := newWorld(t)
		w.finds, there = look, false
		w.returning(results(0))
		start := checkedPlan(plan.OnFailureAbort, readsThere)
		if result := w.play(start); result.Status != event.StatusFailed {
			t.Fatalf("the run is %s", result.Status)
		}
		there = true
		w.kill(len(w.events))
		if result := w.resume(resumed(start)); result.Status != event.StatusCompleted || !slices.Equal(w.starts(), []string{"1", "2"}) {
			t.Errorf("the run is %s and started %v", result.Status, w.starts())
		}
	})
	t.Run("wherever the program is killed", func(t *testing.T) {
		w := newWorld(t)
		w.finds, there = look, true
		w.returning(results(0))
		start := checkedPlan(plan.OnFailureAbort, readsThere, readsThere)
		start.InDoubt = event.DoubtDone
		w.play(start)
		events := w.events
		for n := 1; n < len(events); n++ {
			w.events = events
			w.kill(n)
			result := w.resume(resumed(start))
			if changes := slices.DeleteFunc(w.starts(), func(step string) bool { return step != "1" }); len(changes) != 1 {
				t.Fatalf("killed after event %d, the change started %d times:\n%s", n, len(changes), w.tail())
			}
			if result.Status == event.StatusFailed && !strings.Contains(string(result.Error), "changed.failed") {
				t.Fatalf("killed after event %d, the run failed: %s", n, result.Error)
			}
		}
	})
}

func TestUserMayChangeTheArgsAfterARefutedCheck(t *testing.T) {
	w := newWorld(t)
	failures := 1
	w.tool = func(c agent.CallTool) event.Data {
		failures--
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: results(failures + 1), MS: 1}
	}
	w.failed = func(agent.Question) event.FailureResolved {
		return event.FailureResolved{Decision: event.FailureRetry, Args: map[string]any{"at": "there"}}
	}
	start := checkedPlan(plan.OnFailureAbort, failedIs0)
	start.Attended = true
	if result := w.play(start); result.Status != event.StatusCompleted || !slices.Equal(w.starts(), []string{"1", "1", "2"}) {
		t.Errorf("the run is %s and started %v", result.Status, w.starts())
	}
}

func TestCheckWhoseToolFailsIsRefuted(t *testing.T) {
	w := newWorld(t)
	w.returning(results(0))
	w.finds = func(c agent.CallCheck) event.CheckCompleted { return c.ToolFailed("there is no such file", 1) }
	w.play(checkedPlan(plan.OnFailureAbort, readsThere))
	if failed := all[event.StepFailed](w); len(failed) != 1 || !strings.HasSuffix(string(failed[0].Error), "(there is no such file)") {
		t.Errorf("the failures are %v", failed)
	}
}

func TestCheckWithoutAnAnswerIsUncheckedAndFailsNothing(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*world, *event.RunStarted)
		reason string
	}{
		{"its server does not answer", func(w *world, _ *event.RunStarted) {
			w.finds = func(c agent.CallCheck) event.CheckCompleted { return c.Unanswered("the server is gone", 1) }
		}, "the server is gone"},
		{"its tool has effects", func(_ *world, start *event.RunStarted) {
			start.Plan.Steps[0].Checks[0].Tool = "change"
		}, "w:change is not read-only"},
		{"a rule denies its call", func(_ *world, start *event.RunStarted) {
			start.Rules = slices.Concat([]rule.Rule{{Tool: "look", Verdict: rule.VerdictBlock, Why: "no looking"}}, start.Rules)
			start.Plan.Steps = start.Plan.Steps[:1]
		}, "denied by a rule: no looking"},
		{"no calls are left", func(_ *world, start *event.RunStarted) {
			start.Plan.Steps, start.Limits.MaxToolCalls = start.Plan.Steps[:1], 1
		}, "no calls are left for it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.returning(results(0))
			start := checkedPlan(plan.OnFailureAbort, readsThere)
			start.Rules = slices.Clone(start.Rules)
			start.Rules[0].Untrusted = true
			c.change(w, &start)
			result := w.play(start)
			checked := all[event.CheckCompleted](w)
			if len(checked) != 1 || checked[0].State != plan.StateUnchecked || string(checked[0].Reason) != c.reason {
				t.Fatalf("the checks are %+v", checked)
			}
			if result.Status != event.StatusCompleted || result.Verified != 0 {
				t.Errorf("the run is %s with %d verified", result.Status, result.Verified)
			}
		})
	}
}

func TestChecksFinishBeforeAFailedRunEnds(t *testing.T) {
	w := newWorld(t)
	start := checkedPlan(plan.OnFailureAbort, readsThere)
	start.Plan.Steps[1] = plan.Step{Index: "2", Title: "Break", Executor: plan.ExecutorTool, Tool: "look"}
	w.tool = func(c agent.CallTool) event.Data {
		if c.Index == "2" {
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "broke", Failure: event.FailureTool}
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: results(0), MS: 1}
	}
	// The change returns first, then the other step fails, and then the check is answered.
	w.choose = func(n int) int {
		last := func(e agent.Effect) int {
			switch e := e.(type) {
			case agent.CallCheck:
				return 2
			case agent.CallTool:
				if e.Index == "2" {
					return 1
				}
			}
			return 0
		}
		order := make([]int, n)
		for i := range w.pending {
			order[i] = last(w.pending[i])
		}
		return slices.Index(order, slices.Min(order))
	}
	result := w.play(start)
	if got := evidence(result); result.Reason != event.ReasonStepFailed || !slices.Equal(got, []plan.EvidenceState{"verified"}) {
		t.Errorf("the run ended with %s, and the evidence is %v", result.Reason, got)
	}
}

func TestStepSaidToBeDoneIsStillChecked(t *testing.T) {
	w := newWorld(t)
	w.tool = func(c agent.CallTool) event.Data {
		if c.Index == "1" {
			return event.StepInDoubt{Index: c.Index, Attempt: c.Attempt, Reason: "the server was lost"}
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "seen", MS: 1}
	}
	start := checkedPlan(plan.OnFailureAbort, failedIs0, plan.Check{Expect: "result == 'there'", Tool: "look"})
	start.InDoubt = event.DoubtDone
	if got := evidence(w.play(start)); !slices.Equal(got, []plan.EvidenceState{"unchecked", "verified"}) {
		t.Errorf("the evidence is %v", got)
	}
}

func TestNothingIsCalledVerifiedWithoutACheck(t *testing.T) {
	w := newWorld(t)
	start := checkedPlan(plan.OnFailureAbort)
	start.Plan.Steps = append(start.Plan.Steps, plan.Step{Index: "3", Title: "Say it is done", Executor: plan.ExecutorSelf})
	w.reply = func(prompt.Request) (string, error) { return "It is done and verified.", nil }
	result := w.play(start)
	want := []plan.Evidence{{Title: "Change", State: plan.StateClaimed, Step: "1"}, {Title: "Say it is done", State: plan.StateClaimed, Step: "3"}}
	if !slices.EqualFunc(result.Evidence, want, func(a, b plan.Evidence) bool { return a.Title == b.Title && a.State == b.State && a.Step == b.Step }) || result.Verified != 0 {
		t.Errorf("the evidence is %+v", result.Evidence)
	}
}

// accepting starts a plan of one change that is accepted if a tool finds it.
func accepting(onFailure plan.OnFailure) event.RunStarted {
	start := checkedPlan(onFailure)
	start.Plan.Steps = start.Plan.Steps[:1]
	start.Plan.Acceptance = []plan.Check{{Title: "it is there", Tool: "look", Expect: "result == 'there'"}}
	return start
}

func TestAcceptanceIsHeldAfterTheLastStep(t *testing.T) {
	w := newWorld(t)
	start := accepting(plan.OnFailureAbort)
	start.SkipSynthesis = false
	var asked string
	w.reply = func(r prompt.Request) (string, error) {
		asked = r.Messages[len(r.Messages)-1].Content
		return "done", nil
	}
	result := w.play(start)
	if !strings.Contains(asked, "verified: the whole plan, it is there") {
		t.Errorf("the synthesizer does not see the evidence:\n%s", asked)
	}
	kinds := w.kinds()
	if result.Reason != event.ReasonGoalMet || slices.Index(kinds, event.KindCheckCompleted) < slices.Index(kinds, event.KindStepCompleted) ||
		slices.Index(kinds, event.KindSynthesisStarted) < slices.Index(kinds, event.KindCheckCompleted) {
		t.Errorf("the run ended with %s after %v", result.Reason, kinds)
	}
	if got := evidence(result); !slices.Equal(got, []plan.EvidenceState{"claimed", "verified"}) {
		t.Errorf("the evidence is %v", got)
	}
}

func TestRefutedAcceptanceEndsARunThatDoesNotReplan(t *testing.T) {
	w := newWorld(t)
	there := "not there"
	w.finds = func(c agent.CallCheck) event.CheckCompleted { return c.Returned(there, 1) }
	start := accepting(plan.OnFailureAbort)
	result := w.play(start)
	if result.Status != event.StatusFailed || result.Reason != event.ReasonRefuted || result.Reason.ExitCode() != 1 {
		t.Fatalf("the run is %s, %s", result.Status, result.Reason)
	}
	if want := untrusted.Text(`the steps have ended, but the check "it is there" does not hold: result == 'there', since result is "not there"`); result.Error != want {
		t.Errorf("the error is %q, want %q", result.Error, want)
	}
	there = "there"
	if result := w.resume(resumed(start)); result.Reason != event.ReasonGoalMet || !slices.Equal(w.starts(), []string{"1"}) {
		t.Errorf("resumed, the run ended with %s and started %v", result.Reason, w.starts())
	}
}

func TestRefutedAcceptanceReplansWithinTheBudget(t *testing.T) {
	for _, c := range []struct {
		name   string
		looks  int // until the change is there
		reason event.Reason
		starts []string
	}{
		{"the second plan brings it about", 2, event.ReasonGoalMet, []string{"1", "2"}},
		{"no plan brings it about", 9, event.ReasonReplanBudget, []string{"1", "2", "3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			left := c.looks
			w.finds = func(check agent.CallCheck) event.CheckCompleted {
				if left--; left <= 0 {
					return check.Returned("there", 1)
				}
				return check.Returned("not there", 1)
			}
			var errors []string
			w.reply = script{prompt.PurposeReplan: {
				`{"title":"Again","steps":[{"index":"2","title":"Change more","tool":"change","args":{"at":"2"}}]}`,
				`{"title":"Again","steps":[{"index":"3","title":"Change more","tool":"change","args":{"at":"3"}}]}`,
			}}.reply
			start := accepting(plan.OnFailureReplan)
			start.Limits.MaxReplans = 2
			result := w.play(start)
			for _, d := range all[event.ReplanStarted](w) {
				errors = append(errors, string(d.Error))
			}
			if result.Reason != c.reason || !slices.Equal(w.starts(), c.starts) {
				t.Errorf("the run ended with %s after the steps %v: %s", result.Reason, w.starts(), result.Error)
			}
			if len(errors) == 0 || !strings.HasPrefix(errors[0], `the steps have ended, but the check "it is there" does not hold`) {
				t.Errorf("the replans are about %q", errors)
			}
		})
	}
}

// drawChecks draws checks of a step of a random plan.
func drawChecks(t *rapid.T, step map[string]any) {
	var checks []any
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "checks") {
		checks = append(checks, rapid.SampledFrom([]any{
			map[string]any{"expect": "result.n == 1.5"},
			map[string]any{"expect": "result.n == 2"},
			map[string]any{"tool": "look", "args": map[string]any{"at": "x"}, "expect": "result == 'there'"},
		}).Draw(t, "check"))
	}
	if checks != nil {
		step["check"] = checks
	}
}

// drawFinding draws the outcome of a check's call.
func drawFinding(t *rapid.T, c agent.CallCheck) event.CheckCompleted {
	switch rapid.IntRange(0, 5).Draw(t, "found") {
	case 0:
		return c.ToolFailed("there is none", 1)
	case 1:
		return c.Unanswered("the server is gone", 1)
	case 2:
		return c.Returned("not there", 1)
	default:
		return c.Returned("there", 1)
	}
}

// checkedSteps tracks the checks of a run's steps. It fails if a refuted check has an
// effect repeated: only a new plan, or a user who gives other args, may do that.
type checkedSteps struct {
	of      map[string]int  // step → number of its checks
	held    map[string]int  // step → number of those that were evaluated and not refuted since its work was done
	changed map[string]bool // steps whose change was made, and is being checked or refuted

	notTaken map[string]bool
	steps    map[string]plan.Step // of the current plan
}

// see follows an event, and reports whether it is that of the last check of a step, and
// none was refuted.
func (c *checkedSteps) see(o *order, d event.Data) bool {
	switch d := d.(type) {
	case event.PlanCreated:
		c.take(d.Plan)
	case event.PlanDiff:
		before := c.steps
		c.take(d.Plan)
		o.forgetItems(before, c.steps)
	case event.StepExpanded:
		o.running[d.Index] = d.Attempt
		c.takeItems(d)
	case event.PlanReviewed:
		if d.Plan != nil {
			c.take(*d.Plan)
		}
	case event.StepStarted:
		if c.changed[d.Index] && d.Tool == "change" {
			o.t.Fatalf("step %s repeats its change:\n%s", d.Index, eventLines(o.events))
		}
		c.held[d.Index] = 0
	case event.StepSkipped:
		c.notTaken[d.Index] = d.Reason == event.NotTaken
	case event.StepCompleted:
		if o.running[d.Index] == d.Attempt { // else it is the early call of a draft that the plan has not taken up
			c.changed[d.Index], c.held[d.Index] = c.of[d.Index] > 0, 0
		}
	case event.DoubtResolved:
		c.changed[d.Step] = d.Decision == event.DoubtDone && c.of[d.Step] > 0
	case event.FailureResolved:
		c.held[d.Step] = 0
		if d.Decision == event.FailureRetry && d.Args != nil {
			delete(c.changed, d.Step)
		}
	case event.CheckCompleted:
		if d.Check == 1 {
			c.held[d.Index] = 0
		}
		if d.State != plan.StateRefuted {
			c.held[d.Index]++
		}
		return d.Index != "" && c.held[d.Index] == c.of[d.Index]
	}
	return false
}

func (c *checkedSteps) take(p plan.Plan) {
	c.of, c.held, c.changed, c.notTaken = map[string]int{}, map[string]int{}, map[string]bool{}, map[string]bool{}
	c.steps = plan.ByIndex(p.Steps)
	for _, s := range p.Steps {
		c.of[s.Index] = len(agent.ChecksOf(s))
	}
}
