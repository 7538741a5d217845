package agent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
)

// testedPlan is a plan whose step 1 changes a file, and whose step 2 does something after it.
func testedPlan(change map[string]any, second plan.Step) event.RunStarted {
	start := checkedPlan(plan.OnFailureAbort)
	tool := func(name string) plan.Tool { return plan.Tool{Server: "workspace", Name: name, Trusted: true} }
	start.Catalog = plan.Catalog{tool("fs.write"), tool("test.run"), tool("test.lint"), tool("proc.run")}
	start.Rules = nil
	second.Index, second.Title, second.Executor, second.DependsOn = "2", "Second", plan.ExecutorTool, []string{"1"}
	start.Plan.Steps = []plan.Step{{Index: "1", Title: "Change", Executor: plan.ExecutorTool, Tool: "fs.write", Args: change}, second}
	start.Plan.Acceptance = nil
	return start
}

func TestStepsThatRanSomethingAreTheirOwnEvidence(t *testing.T) {
	const verified, claimed, unchecked = plan.StateVerified, plan.StateClaimed, plan.StateUnchecked
	ran := func(passed bool, total, ok, skipped int, summary string) map[string]any {
		n := func(i int) json.Number { return json.Number(fmt.Sprint(i)) }
		return map[string]any{"passed": passed, "total": n(total), "ok": n(ok), "skipped": n(skipped), "summary": summary, "command": "go test ./slug"}
	}
	green := ran(true, 3, 3, 0, "the tests passed: 3 tests")
	slug, tests := map[string]any{"path": "slug/slug.go"}, func(args map[string]any) plan.Step { return plan.Step{Tool: "test.run", Args: args} }
	program := func(words ...any) plan.Step { return plan.Step{Tool: "proc.run", Args: map[string]any{"argv": words}} }
	for name, c := range map[string]struct {
		change map[string]any
		second plan.Step
		result map[string]any
		want   []plan.EvidenceState
	}{
		"tests of everything":            {slug, tests(nil), green, []plan.EvidenceState{verified, verified}},
		"tests of the folder":            {slug, tests(map[string]any{"path": "./slug"}), green, []plan.EvidenceState{verified, verified}},
		"tests of the tree":              {slug, tests(map[string]any{"path": "./..."}), green, []plan.EvidenceState{verified, verified}},
		"tests of another folder":        {slug, tests(map[string]any{"path": "./slugs"}), green, []plan.EvidenceState{claimed, verified}},
		"tests chosen by name":           {slug, tests(map[string]any{"run": "TestA"}), green, []plan.EvidenceState{claimed, verified}},
		"a file of another language":     {map[string]any{"path": "slug/slug.py"}, tests(nil), green, []plan.EvidenceState{claimed, verified}},
		"a text that no test reads":      {map[string]any{"path": "README.md"}, tests(nil), green, []plan.EvidenceState{claimed, verified}},
		"no test is there":               {slug, tests(nil), ran(true, 0, 0, 0, "there are no tests to run here"), []plan.EvidenceState{claimed, unchecked}},
		"all tests were skipped":         {slug, tests(nil), ran(true, 2, 0, 2, "the tests passed: 2 tests, 2 of them skipped"), []plan.EvidenceState{claimed, unchecked}},
		"a runner that counts no tests":  {slug, tests(nil), map[string]any{"passed": true, "summary": "the tests passed"}, []plan.EvidenceState{claimed, claimed}},
		"tests that may fail, and do":    {slug, tests(map[string]any{"allow_failures": true}), ran(false, 2, 1, 0, "1 failed: TestA"), []plan.EvidenceState{claimed}},
		"a linter that found nothing":    {slug, plan.Step{Tool: "test.lint"}, map[string]any{"passed": true, "summary": "vet found nothing"}, []plan.EvidenceState{claimed, verified}},
		"a build":                        {slug, program("go", "build", "./..."), map[string]any{"exit": json.Number("0")}, []plan.EvidenceState{claimed, verified}},
		"a build that failed unnoticed":  {slug, program("go", "build"), map[string]any{"exit": json.Number("1")}, []plan.EvidenceState{claimed, claimed}},
		"a build whose end is not known": {slug, program("go", "build"), map[string]any{}, []plan.EvidenceState{claimed, claimed}},
		"another program":                {slug, program("go", "run", "build"), map[string]any{"exit": json.Number("0")}, []plan.EvidenceState{claimed, claimed}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.tool = func(call agent.CallTool) event.Data {
				result := any(map[string]any{})
				if call.Index == "2" {
					result = c.result
				}
				return event.StepCompleted{Index: call.Index, Attempt: call.Attempt, Result: result}
			}
			allowAll(w)
			result := w.play(testedPlan(c.change, c.second))
			if got := evidence(result); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v: %+v", got, c.want, result.Evidence)
			}
			for i, s := range w.run.Steps[:min(len(c.want), len(w.run.Steps))] {
				if got := w.run.StateOf(s); got != c.want[i] {
					t.Errorf("step %s is %q", s.Step.Index, got)
				}
			}
		})
	}
}

func TestEarlierTestsDoNotVerifyALaterChange(t *testing.T) {
	start := testedPlan(map[string]any{"path": "a.go"}, plan.Step{Tool: "test.run"})
	start.Plan.Steps[0].DependsOn, start.Plan.Steps[1].DependsOn = []string{"2"}, nil
	w := newWorld(t)
	w.tool = func(call agent.CallTool) event.Data {
		return event.StepCompleted{Index: call.Index, Attempt: call.Attempt, MS: 1, Result: map[string]any{"passed": true, "total": json.Number("1"), "ok": json.Number("1"), "command": "go test ./..."}}
	}
	allowAll(w)
	if got := evidence(w.play(start)); !slices.Equal(got, []plan.EvidenceState{plan.StateClaimed, plan.StateVerified}) {
		t.Errorf("got %v", got)
	}
}
