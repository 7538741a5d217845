package plans

import (
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/tui/plain"
)

func TestDiffShowsEveryChangedField(t *testing.T) {
	before := plan.Step{Index: "2", Title: "Wait", Executor: plan.ExecutorTool, Tool: "http.get", Args: map[string]any{"url": "a"}}
	after := plan.Step{
		Index: "2", Title: "Wait", Executor: plan.ExecutorAgent, Profile: "explorer", DependsOn: []string{"1"}, ExpectedOutcome: "one\ntwo",
		Until: &plan.Until{Expect: "result.ok", Every: time.Second, For: time.Minute}, Args: map[string]any{"url": strings.Repeat("b", 100)},
	}
	var out strings.Builder
	d := event.PlanDiff{Revision: 2, Reason: "it failed", Revised: []string{"2"}, Plan: plan.Plan{Steps: []plan.Step{after}}}
	writeRevision(plain.NewPrinter(&out, plain.Options{}), plan.Plan{Steps: []plan.Step{before}}, d, true)
	for _, want := range []string{
		"tool: http.get -> (none)", "executor: tool -> agent", "profile: (none) -> explorer", "after: (none) -> 1", "expects: (none) -> one; two",
		"until: (none) -> result.ok, every 1s for 1m0s", `url: "a" -> "` + strings.Repeat("b", 78) + "…",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing from:\n%s", want, out.String())
		}
	}
}
