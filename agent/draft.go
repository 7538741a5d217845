package agent

import (
	"slices"

	"replan/planning/plan"
)

// waitedFor reports whether a draft had waited for all of needs.
func waitedFor(drafts []*StepState, step plan.Step, needs []string) bool {
	waited := map[string]bool{}
	for _, d := range step.DependsOn {
		waited[d] = true
	}
	for _, ref := range plan.References(step.Args) {
		for _, d := range drafts {
			if d.Step.ResultVariable == ref.Name {
				waited[d.Step.Index] = true
			}
		}
	}
	return !slices.ContainsFunc(needs, func(index string) bool { return !waited[index] })
}
