package planning

import (
	"strconv"
	"strings"

	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// again is the new plan of a small model whose only patch, of a function that rules have
// aimed it at, did not make the tests pass: the same place is written once more, now with what failed in the title of the step, and the
// tests run again. Asked for a new plan, such a model looks around and changes nothing.
func (r *replanner) again() (Outcome, bool) {
	failed, ok := r.situation.Plan.Step(r.situation.Failed)
	if !ok || !r.brief.For(prompt.PurposeReplan).Prompting.Small || failed.Tool != "test.run" || !intent.WantsChange(r.brief.Goal) {
		return Outcome{}, false
	}
	c := completion{brief: r.brief, steps: r.situation.Plan.Steps}
	var patches []plan.HistoryItem
	for _, item := range r.situation.History {
		if item.Parent == "" && item.Status == plan.ItemCompleted && c.changes(plan.Step{Executor: plan.ExecutorTool, Tool: item.Tool, Args: item.Args}) {
			patches = append(patches, item)
		}
	}
	if len(patches) != 1 || patches[0].Tool != "fs.patch" {
		return Outcome{}, false
	}
	first, ok := r.situation.Plan.Step(patches[0].Index)
	written, _ := patches[0].Args["new"].(string)
	if !ok || strings.TrimSpace(written) == "" || patches[0].Args["path"] == nil || first.Args["old"] == nil || first.Args["new"] != nil {
		return Outcome{}, false
	}
	reason, _, _ := strings.Cut(strings.TrimSpace(r.situation.Error), "\n")
	next, _ := strconv.Atoi(c.free())
	patch, check := first, failed
	patch.Index, check.Index = strconv.Itoa(next), strconv.Itoa(next+1)
	patch.Title = untrusted.Text(plan.OneLine("Change "+pathOf(first)+" again, since "+reason, 200))
	patch.Args = map[string]any{"path": patches[0].Args["path"], "old": written}
	check.DependsOn = []string{patch.Index}
	steps := []plan.Step{patch, check}
	for _, s := range r.situation.Remaining {
		if s.Index != failed.Index {
			steps = append(steps, s)
		}
	}
	outcome, faults := r.judge(reply.Proposal{Read: true, Plan: plan.Plan{Steps: steps}})
	return outcome, len(faults) == 0 && outcome.Kind == OutcomePlanned
}
