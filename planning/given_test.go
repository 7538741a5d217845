package planning_test

import (
	"strings"
	"testing"

	"replan/planning"
)

// decided asserts that a planner asks for nothing, whatever it is told, and
// returns what it came to.
func decided(t *testing.T, p planning.Planner) planning.Outcome {
	t.Helper()
	p.Absorb(planning.Reply{Text: `{"steps":[]}`})
	p.Fail("nobody was asked", planning.Reply{})
	if request, more := p.Next(); more {
		t.Errorf("it asks for %s", request.Purpose)
	}
	if skipped := p.Skipped(); len(skipped) > 0 {
		t.Errorf("it skipped %v", skipped)
	}
	return p.Outcome()
}

func TestAGivenPlanIsPlannedAtOnce(t *testing.T) {
	plan := planning.Plan{Title: "T", Steps: []planning.Step{{Index: "1", Title: "a", Tool: "t"}, {Index: "2", Title: "b", Executor: planning.ExecutorSelf}}}
	out := decided(t, planning.Given(plan))
	if out.Kind != planning.OutcomePlanned || out.Plan.Goal != "T" || indices(out.Plan.Steps) != "1 2" {
		t.Fatalf("got %+v", out)
	}
	if got := out.Plan.Steps; got[0].Executor != planning.ExecutorTool || got[1].Executor != planning.ExecutorSelf {
		t.Errorf("the executors are %q and %q", got[0].Executor, got[1].Executor)
	}
	if plan.Steps[0].Executor != "" {
		t.Error("the plan that was given was changed")
	}
	if out := decided(t, planning.Given(planning.Plan{Title: "T"})); out.Kind != planning.OutcomePlanned || out.Plan.Steps != nil {
		t.Errorf("a plan without steps: got %+v", out)
	}
}

func TestPhasesAskTheModel(t *testing.T) {
	planners := planning.Phases()
	first, ok := planners.Plan(brief()).Next()
	if !ok || first.Purpose != planning.PurposeAnalysis {
		t.Errorf("the plan begins with %q", first.Purpose)
	}
	again, ok := planners.Replan(brief(), situation()).Next()
	if !ok || again.Purpose != planning.PurposeReplan {
		t.Errorf("the replan begins with %q", again.Purpose)
	}
}

func TestAScriptAnswersEachReplanInTurn(t *testing.T) {
	first := planning.Plan{Title: "First", Steps: []planning.Step{{Index: "1", Title: "a", Tool: "fs.read", Args: map[string]any{"path": "x"}}}}
	after, same := mustPlan(t, newTail), mustPlan(t, sameTail)
	wrong := planning.Plan{Title: "Wrong", Steps: []planning.Step{{Index: "7", Title: "a", Tool: "no.such"}}}
	end := planning.Plan{Title: "a.go is generated"}
	done := planning.Plan{Title: "Done", Steps: []planning.Step{{Index: "2", Title: "Run tests", Tool: "test.run", Args: map[string]any{}}}}
	for _, tt := range []struct {
		name    string
		plans   []planning.Plan
		attempt int // 0 asks for the plan
		change  func(*planning.Brief, *planning.Situation)
		kind    planning.OutcomeKind
		steps   string
		reason  string
	}{
		{name: "the first is the plan", plans: []planning.Plan{first, after}, kind: planning.OutcomePlanned, steps: "1"},
		{name: "no plan is no steps", kind: planning.OutcomeEmpty, reason: "no steps"},
		{name: "a plan without steps is empty", plans: []planning.Plan{end}, kind: planning.OutcomeEmpty, reason: "no steps"},
		{name: "a plan that is not valid fails", plans: []planning.Plan{wrong}, kind: planning.OutcomeFailed, reason: `no tool is called "no.such"`},
		{name: "a plan with more steps than there may be fails", plans: []planning.Plan{after}, change: func(b *planning.Brief, _ *planning.Situation) { b.MaxSteps = 2 }, kind: planning.OutcomeFailed, reason: "at most 2"},
		{name: "the second answers the first replan", plans: []planning.Plan{first, after, end}, attempt: 1, kind: planning.OutcomePlanned, steps: "1 2 5 3 4"},
		{name: "the third answers the second replan", plans: []planning.Plan{first, same, after}, attempt: 2, kind: planning.OutcomePlanned, steps: "1 2 5 3 4"},
		{name: "an answer without steps gives up and says why", plans: []planning.Plan{first, end}, attempt: 1, kind: planning.OutcomeGaveUp, reason: "a.go is generated"},
		{name: "after the last answer it gives up", plans: []planning.Plan{first, after}, attempt: 2, kind: planning.OutcomeGaveUp, reason: "no further plan"},
		{name: "an answer that repeats what failed is refused", plans: []planning.Plan{first, same}, attempt: 1, kind: planning.OutcomeRefused, reason: "repeats"},
		{name: "an answer that is not valid fails", plans: []planning.Plan{first, wrong}, attempt: 1, kind: planning.OutcomeFailed, reason: `no tool is called "no.such"`},
		{name: "an answer with nothing but finished steps fails", plans: []planning.Plan{first, done}, attempt: 1, kind: planning.OutcomeFailed, reason: "nothing is left to do"},
		{name: "an answer longer than what is left fails", plans: []planning.Plan{first, after}, attempt: 1, change: func(_ *planning.Brief, s *planning.Situation) { s.StepsLeft = 2 }, kind: planning.OutcomeFailed, reason: "at most 2 steps"},
		{name: "with no step left nothing is looked at", plans: []planning.Plan{first, after}, attempt: 1, change: func(_ *planning.Brief, s *planning.Situation) { s.StepsLeft = 0 }, kind: planning.OutcomeFailed, reason: "max_steps"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, s := brief(), situation()
			s.Attempt = tt.attempt
			if tt.change != nil {
				tt.change(&b, &s)
			}
			planners := planning.Scripted(tt.plans...)
			ask := func() planning.Planner {
				if tt.attempt == 0 {
					return planners.Plan(b)
				}
				return planners.Replan(b, s)
			}
			out := decided(t, ask())
			if out.Kind != tt.kind || indices(out.Plan.Steps) != tt.steps || !strings.Contains(out.Reason, tt.reason) {
				t.Errorf("ended %s with steps %q (%s); want %s, %q (%s)", out.Kind, indices(out.Plan.Steps), out.Reason, tt.kind, tt.steps, tt.reason)
			}
			if again := decided(t, ask()); planning.CanonicalJSON(again) != planning.CanonicalJSON(out) {
				t.Errorf("asked the same again, it comes to %+v", again)
			}
		})
	}
}
