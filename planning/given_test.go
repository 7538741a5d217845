package planning_test

import (
	"strings"
	"testing"

	"replan/planning"
	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/prompt"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

// decided checks that a planner makes no request, and returns its outcome.
func decided(t *testing.T, p planning.Planner) planning.Outcome {
	t.Helper()
	p.Absorb(reply.Reply{Text: `{"steps":[]}`})
	p.Fail("nobody was asked", reply.Reply{})
	if request, more := p.Next(); more {
		t.Errorf("got a request for %s", request.Purpose)
	}
	if skipped := p.Skipped(); len(skipped) > 0 {
		t.Errorf("got the skipped phases %v", skipped)
	}
	return p.Outcome()
}

func TestGivenPlanNeedsNoRequest(t *testing.T) {
	p := plan.Plan{Title: "T", Steps: []plan.Step{{Index: "1", Title: "a", Tool: "t"}, {Index: "2", Title: "b", Executor: plan.ExecutorSelf}}}
	out := decided(t, planning.Given(p))
	if out.Kind != planning.OutcomePlanned || out.Plan.Goal != "T" || indices(out.Plan.Steps) != "1 2" {
		t.Fatalf("got %+v", out)
	}
	if got := out.Plan.Steps; got[0].Executor != plan.ExecutorTool || got[1].Executor != plan.ExecutorSelf {
		t.Errorf("got the executors %q and %q", got[0].Executor, got[1].Executor)
	}
	if p.Steps[0].Executor != "" {
		t.Error("the given plan was changed")
	}
	if out := decided(t, planning.Given(plan.Plan{Title: "T"})); out.Kind != planning.OutcomePlanned || out.Plan.Steps != nil {
		t.Errorf("plan without steps: got %+v", out)
	}
}

func TestPhasesAskTheModel(t *testing.T) {
	planners := planning.Phases()
	first, ok := planners.Plan(prompttest.Brief()).Next()
	if !ok || first.Purpose != prompt.PurposeAnalysis {
		t.Errorf("the plan starts with the request %q", first.Purpose)
	}
	again, ok := planners.Replan(prompttest.Brief(), prompttest.Situation()).Next()
	if !ok || again.Purpose != prompt.PurposeReplan {
		t.Errorf("the replan starts with the request %q", again.Purpose)
	}
}

func TestScriptAnswersEachReplanInTurn(t *testing.T) {
	first := plan.Plan{Title: "First", Steps: []plan.Step{{Index: "1", Title: "a", Tool: "fs.read", Args: map[string]any{"path": "x"}}}}
	after, same := readPlan(t, plantest.NewTail), readPlan(t, plantest.SameTail)
	wrong := plan.Plan{Title: "Wrong", Steps: []plan.Step{{Index: "7", Title: "a", Tool: "no.such"}}}
	end := plan.Plan{Title: "a.go is generated"}
	done := plan.Plan{Title: "Done", Steps: []plan.Step{{Index: "2", Title: "Run tests", Tool: "test.run", Args: map[string]any{}}}}
	for _, tt := range []struct {
		name    string
		plans   []plan.Plan
		attempt int // 0 for the first plan
		change  func(*prompt.Brief, *prompt.Situation)
		kind    planning.OutcomeKind
		steps   string
		reason  string
	}{
		{name: "first plan", plans: []plan.Plan{first, after}, kind: planning.OutcomePlanned, steps: "1"},
		{name: "no plans", kind: planning.OutcomeEmpty, reason: "no further plan"},
		{name: "plan without steps", plans: []plan.Plan{end}, kind: planning.OutcomeEmpty, reason: "a.go is generated"},
		{name: "invalid plan", plans: []plan.Plan{wrong}, kind: planning.OutcomeFailed, reason: `there is no tool "no.such"`},
		{name: "plan exceeds the step limit", plans: []plan.Plan{after}, change: func(b *prompt.Brief, _ *prompt.Situation) { b.MaxSteps = 2 }, kind: planning.OutcomeFailed, reason: "at most 2"},
		{name: "first replan", plans: []plan.Plan{first, after, end}, attempt: 1, kind: planning.OutcomePlanned, steps: "1 2 5 3 4"},
		{name: "second replan", plans: []plan.Plan{first, same, after}, attempt: 2, kind: planning.OutcomePlanned, steps: "1 2 5 3 4"},
		{name: "replan without steps gives up", plans: []plan.Plan{first, end}, attempt: 1, kind: planning.OutcomeGaveUp, reason: "a.go is generated"},
		{name: "no further plan gives up", plans: []plan.Plan{first, after}, attempt: 2, kind: planning.OutcomeGaveUp, reason: "no further plan"},
		{name: "repeated steps are refused", plans: []plan.Plan{first, same}, attempt: 1, kind: planning.OutcomeRefused, reason: "repeats"},
		{name: "invalid replan", plans: []plan.Plan{first, wrong}, attempt: 1, kind: planning.OutcomeFailed, reason: `there is no tool "no.such"`},
		{name: "replan with only finished steps", plans: []plan.Plan{first, done}, attempt: 1, kind: planning.OutcomeFailed, reason: "repeats a finished one"},
		{name: "replan exceeds the step limit", plans: []plan.Plan{first, after}, attempt: 1, change: func(_ *prompt.Brief, s *prompt.Situation) { s.StepsLeft = 2 }, kind: planning.OutcomeFailed, reason: "at most 2 steps"},
		{name: "no steps left", plans: []plan.Plan{first, after}, attempt: 1, change: func(_ *prompt.Brief, s *prompt.Situation) { s.StepsLeft = 0 }, kind: planning.OutcomeFailed, reason: "max_steps"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, s := prompttest.Brief(), prompttest.Situation()
			s.Attempt = tt.attempt
			if tt.change != nil {
				tt.change(&b, &s)
			}
			planners := planning.FixedPlans(tt.plans...)
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
			if again := decided(t, ask()); plan.CanonicalJSON(again) != plan.CanonicalJSON(out) {
				t.Errorf("the same request gave another outcome: %+v", again)
			}
		})
	}
}

func TestFunctionPlansAndReplans(t *testing.T) {
	steps := planning.PlanFunc(func(b prompt.Brief, failure *prompt.Situation) plan.Plan {
		if failure == nil {
			return plan.Plan{Title: "First", Steps: []plan.Step{{Index: "1", Title: plan.Text(b.Goal), Tool: "fs.read", Args: map[string]any{"path": "x"}}}}
		}
		return plan.Plan{Title: plan.Text("nothing helps against " + failure.Error)}
	})
	b, s := prompttest.Brief(), prompttest.Situation()
	if out := decided(t, steps.Plan(b)); out.Kind != planning.OutcomePlanned || indices(out.Plan.Steps) != "1" || string(out.Plan.Goal) != b.Goal {
		t.Errorf("the plan: got %+v", out)
	}
	if out := decided(t, steps.Replan(b, s)); out.Kind != planning.OutcomeGaveUp || out.Reason != "nothing helps against "+s.Error {
		t.Errorf("the replan: got %+v", out)
	}
}

func readPlan(t *testing.T, text string) plan.Plan {
	t.Helper()
	p, faults := plan.DecodePlan([]byte(text))
	if len(faults) > 0 {
		t.Fatal(plan.FaultError(faults))
	}
	return p
}
