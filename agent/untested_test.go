package agent_test

import (
	"slices"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
)

// That no test fails shows nothing where there is none. This holds for the step's check, and
// for an acceptance that looks at its result or runs the tests itself.
func TestChecksAboutNoTestsAreNotVerified(t *testing.T) {
	for summary, want := range map[string]plan.EvidenceState{"there are no tests to run here": plan.StateUnchecked, "the tests passed: 1 package; 2 tests": plan.StateVerified} {
		w := newWorld(t)
		w.returning(map[string]any{"passed": true, "summary": summary, "failed": []any{}})
		start := checkedPlan(plan.OnFailureAbort)
		start.Catalog = append(slices.Clone(start.Catalog), plan.Tool{Server: "workspace", Name: "test.run", Trusted: true, ReadOnly: true})
		green := plan.Check{Title: "no test fails", Expect: "result.passed and len(result.failed) == 0"}
		start.Plan.Steps = []plan.Step{{Index: "1", Title: "Test", Executor: plan.ExecutorTool, Tool: "test.run", ResultVariable: "tests", Checks: []plan.Check{green}}}
		start.Plan.Acceptance = []plan.Check{{Expect: "tests.passed"}, {Title: "green at the end", Tool: "test.run", Expect: "result.passed"}}
		w.finds = func(c agent.CallCheck) event.CheckCompleted {
			return c.Returned(map[string]any{"passed": true, "summary": summary, "failed": []any{}}, 1)
		}
		result := w.play(start)
		if got := evidence(result); result.Status != event.StatusCompleted || !slices.Equal(got, []plan.EvidenceState{want, want, want}) {
			t.Errorf("%s: the run is %s with %v", summary, result.Status, got)
		}
		for _, e := range result.Evidence {
			if (e.Reason == plan.NoTests) != (want == plan.StateUnchecked) {
				t.Errorf("%s: the reason is %q", summary, e.Reason)
			}
		}
	}
}

// A wait for tests is over where there are none.
func TestWaitForNoTestsIsOver(t *testing.T) {
	w := newWorld(t)
	w.returning(map[string]any{"passed": true, "summary": "there are no tests to run here", "failed": []any{}})
	start := checkedPlan(plan.OnFailureAbort)
	start.Catalog = append(slices.Clone(start.Catalog), plan.Tool{Server: "workspace", Name: "test.run", Trusted: true, ReadOnly: true})
	start.Plan.Steps = []plan.Step{{Index: "1", Title: "Test", Executor: plan.ExecutorTool, Tool: "test.run", Until: &plan.Until{Expect: "result.passed", Every: 1, For: 10}}}
	if result := w.play(start); result.Status != event.StatusCompleted || !slices.Equal(w.starts(), []string{"1"}) {
		t.Errorf("the run is %s after %v", result.Status, w.starts())
	}
}
