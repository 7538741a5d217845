package agent

import (
	"slices"

	"replan/agent/rule"
	"replan/planning/plan"
)

// inRun returns texts of a run as another run knows them.
func inRun(id string, read []rule.Provenance) []rule.Provenance {
	out := slices.Clone(read)
	for i := range out {
		if out[i].Arg = ""; out[i].Run == "" && out[i].Mention == "" {
			out[i].Run = id
		}
		out[i].Exact, out[i].Decides, out[i].Written = false, false, true
	}
	return out
}

// failsByText reports whether it depends on text of a result whether a step fails: it has
// checks, its arguments carry such text, or a model carries it out.
func failsByText(s plan.Step) bool {
	return s.Executor != plan.ExecutorTool || s.Until != nil || len(s.Checks) > 0 || len(plan.References(s.Args)) > 0
}
