package dag

import (
	"slices"
	"strings"

	"replan/agent"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/wording"
)

// unfolded reports whether the rows that a revision removed are visible.
func (v *shownPlan) unfolded(r *agent.Revision) bool { return v.Folds.showsRevision(r, v.newest()) }

// heading reports whether a row is one that can be expanded and collapsed, and whether it is
// collapsed.
func (v *shownPlan) heading(r *Row) (collapsed, heads bool) {
	switch r.Kind {
	case RowCalls:
		return !v.Folds.showsCalls(r.owner.Step.Index), true
	case RowGroup:
		return !r.Group.Open, true
	case RowRevision:
		return !v.unfolded(r.Revision), true
	default:
		return false, false
	}
}

// newest returns the newest revision, or nil.
func (v *shownPlan) newest() *agent.Revision {
	if n := len(v.Run.Revisions); n > 0 {
		return &v.Run.Revisions[n-1]
	}
	return nil
}

// versionBefore returns the step as it was before the newest revision changed
// it, or nil.
func (v *shownPlan) versionBefore(s *agent.StepState) *agent.StepState {
	newest := v.newest()
	if s.Change != agent.ChangeRevised || newest == nil {
		return nil
	}
	for i := range newest.Before {
		if newest.Before[i].Step.Index == s.Step.Index {
			return &newest.Before[i]
		}
	}
	return nil
}

// changeWords describes what a revision changed in a step: "tool: fs.read →
// fs.search", "args: path".
func changeWords(l *draw.Styles, before, now *agent.StepState) string {
	var parts []string
	if was, is := wording.StepTool(&before.Step), wording.StepTool(&now.Step); was != is {
		arrow := "→"
		if l.Theme.Mode.ASCII {
			arrow = "->"
		}
		parts = append(parts, "tool: "+was+" "+arrow+" "+is)
	}
	if names := plan.ChangedArgs(before.Step.Args, now.Step.Args); len(names) > 0 {
		parts = append(parts, "args: "+untrusted.Line(strings.Join(names, ", ")))
	}
	if len(parts) == 0 && before.Step.Title == now.Step.Title && !slices.Equal(before.Step.DependsOn, now.Step.DependsOn) {
		parts = append(parts, "after: "+untrusted.Line(strings.Join(now.Step.DependsOn, ", ")))
	}
	return strings.Join(parts, ", ")
}
