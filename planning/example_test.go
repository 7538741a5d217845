package planning_test

import (
	"fmt"

	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// FixedPlans takes the place of a model: the first plan is executed, the second answers the
// first replan.
func ExampleFixedPlans() {
	tools := plan.Catalog{{Name: "fetch", Server: "web"}, {Name: "read", Server: "disk"}}
	fetch := plan.Step{Index: "1", Title: "Fetch", Tool: "fetch", Args: map[string]any{}}
	read := plan.Step{Index: "2", Title: "Read the copy", Tool: "read", Args: map[string]any{}}
	planners := planning.FixedPlans(
		plan.Plan{Title: "From the web", Steps: []plan.Step{fetch}},
		plan.Plan{Title: "From the disk", Steps: []plan.Step{read}},
	)
	brief := prompt.Brief{Goal: "Get the text", Catalog: tools}
	first := planners.Plan(brief).Outcome()
	fmt.Println(first.Kind, first.Plan.Title)

	second := planners.Replan(brief, prompt.Situation{
		Attempt: 1, Plan: first.Plan, Remaining: first.Plan.Steps, Failed: "1", Error: "no network", StepsLeft: 5,
	}).Outcome()
	fmt.Println(second.Kind, "removed", second.Diff.Removed, "added", second.Diff.Added)
	// Output:
	// planned From the web
	// planned removed [1] added [2]
}
