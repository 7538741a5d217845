package dag

import (
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/wording"
)

// removedKey returns the row key of a step that a revision removed.
func removedKey(r *agent.Revision, index string) string {
	return fmt.Sprintf("gone %d %s", r.Number, index)
}

func revisionKey(r *agent.Revision) string { return fmt.Sprintf("revision %d", r.Number) }

// The list shows changes by revisions among the steps: removed steps in their
// old place, and the previous version above a revised step. The reason precedes
// the first change. An older revision is one line that expands.

// gatherRemoved returns the rows for what revisions removed, keyed by the index
// of the step they follow.
func (v *planView) gatherRemoved() map[string][]Row {
	run := v.Run
	out := make(map[string][]Row)
	for n := range run.Revisions {
		r := &run.Revisions[n]
		place := ""
		if len(r.Removed) > 0 {
			place = run.RemovedAfter(n, 0)
		}
		if n < len(run.Revisions)-1 || len(r.Removed) > 0 {
			out[place] = append(out[place], Row{Kind: RowRevision, Key: revisionKey(r), Revision: r})
		}
		if !v.unfolded(r) {
			continue
		}
		for i := range r.Removed {
			place := run.RemovedAfter(n, i)
			out[place] = append(out[place], Row{
				Kind: RowGone, Key: removedKey(r, r.Removed[i].Step.Index), Step: &r.Removed[i], Revision: r,
			})
		}
	}
	return out
}

// unfolded reports whether the rows that a revision removed are visible. Those
// of the newest revision are, until the user collapses them.
func (v *planView) unfolded(r *agent.Revision) bool {
	if open, chosen := v.opened[r.Number]; chosen {
		return open
	}
	return v.newest() == r
}

// newest returns the newest revision, or nil.
func (v *planView) newest() *agent.Revision {
	if n := len(v.Run.Revisions); n > 0 {
		return &v.Run.Revisions[n-1]
	}
	return nil
}

// addRemoved adds rows for removed steps above a node, between its lanes.
func (o *outline) addRemoved(v *planView, removed []Row, node int) {
	for _, r := range removed {
		r.rails, r.node = railsAbove, node
		newest := r.Revision == v.newest()
		if newest {
			o.addReason(v, r)
		}
		if r.Kind == RowRevision && newest {
			continue
		}
		o.add(r)
	}
}

// addReason adds the line with the reason for the newest revision, above the
// first row that it changed.
func (o *outline) addReason(v *planView, over Row) {
	newest := v.newest()
	if newest == nil || o.reasoned {
		return
	}
	o.reasoned = true
	over.Kind, over.Key, over.Revision = RowRevision, revisionKey(newest), newest
	over.Step, over.Group = nil, nil
	over.liftRails()
	o.add(over)
}

// addBefore adds the rows above a step that the newest revision changed: the
// reason, and the previous version if the difference is visible.
func (o *outline) addBefore(v *planView, r Row) {
	if r.Step.Change == agent.ChangeNone {
		return
	}
	o.addReason(v, r)
	newest, b := v.newest(), v.versionBefore(r.Step)
	if b != nil && v.unfolded(newest) && (b.Step.Tool != r.Step.Step.Tool || b.Step.Title != r.Step.Step.Title) {
		r.Kind, r.Key, r.Step, r.Revision = RowGone, removedKey(newest, b.Step.Index), b, newest
		r.liftRails()
		o.add(r)
	}
}

// liftRails gives a row that moves above its node the rails that lead to the
// node.
func (r *Row) liftRails() {
	if r.rails == railsBeside {
		r.rails = railsAbove
	}
}

// versionBefore returns the step as it was before the newest revision changed
// it, or nil.
func (v *planView) versionBefore(s *agent.StepState) *agent.StepState {
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
