package policy_test

import (
	"fmt"
	"slices"
	"testing"

	"replan/agent/policy"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

func TestForeseeFindsCallsThatAsk(t *testing.T) {
	catalog := plan.Catalog{
		{Name: "look", Server: "w", ReadOnly: true, Annotated: true},
		{Name: "change", Server: "w", Annotated: true, Destructive: true},
		{Name: "push", Server: "w", Annotated: true},
		{Name: "other", Server: "w", ReadOnly: true, Annotated: true, Changed: "-a\n+b\n"},
		{Name: "much", Server: "w", ReadOnly: true, Annotated: true, Changed: "it has changed", TooLong: true},
	}
	deny, err := policy.Parse("push", rule.VerdictBlock, rule.SourceFlag)
	if err != nil {
		t.Fatal(err)
	}
	allow, err := policy.Parse("change path=docs/**", rule.VerdictRun, rule.SourceFlag)
	if err != nil {
		t.Fatal(err)
	}
	rules := append([]rule.Rule{deny, allow}, policy.BuiltIn(policy.Trust{})...)
	call := func(index, tool string, args map[string]any) plan.Step {
		return plan.Step{Index: index, Title: untrusted.Text(tool), Executor: plan.ExecutorTool, Tool: tool, Args: args}
	}
	gated := call("4", "look", map[string]any{})
	gated.Gate = true
	p := plan.Plan{Title: "T", Steps: []plan.Step{
		call("1", "look", map[string]any{}),
		call("2", "change", map[string]any{"path": "docs/a.md"}),
		call("3", "change", map[string]any{"path": "a.go"}),
		gated,
		call("5", "push", map[string]any{}),
		call("6", "unknown", map[string]any{}),
		call("7", "change", nil), // the model writes its arguments later
		call("8", "other", map[string]any{}),
		call("9", "much", map[string]any{}),
	}}
	var got []string
	for _, f := range policy.Foresee(rules, p, plan.NewGraph(p), catalog) {
		got = append(got, fmt.Sprint(f.Step, " ", f.Rule.Verdict, " ", f.Asks))
	}
	if want := []string{"1 run false", "2 run false", "3 ask true", "4 run true", "5 block false", "6 run false", "7 ask true", "8 ask true", "9 block false"}; !slices.Equal(got, want) {
		t.Errorf("foreseen %q, want %q", got, want)
	}
}
