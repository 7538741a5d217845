package dag

import (
	"fmt"

	"replan/agent"
)

// removedKey returns the row key of a step that a revision removed.
func removedKey(r *agent.Revision, index string) string {
	return fmt.Sprintf("gone %d %s", r.Number, index)
}

func revisionKey(r *agent.Revision) string { return fmt.Sprintf("revision %d", r.Number) }

// The list shows changes by revisions among the steps: removed steps in their
// old place, and the previous version above a revised step. The reason precedes
// the first change. An older revision is one line that expands.

// removedRows returns the rows for what revisions removed, keyed by the index
// of the step they follow.
func removedRows(v *shownPlan) map[string][]Row {
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

// addRemoved adds rows for removed steps above a node, between its lanes.
func (o *outline) addRemoved(v *shownPlan, removed []Row, node int) {
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
func (o *outline) addReason(v *shownPlan, over Row) {
	newest := v.newest()
	if newest == nil || o.reasoned {
		return
	}
	o.reasoned = true
	over.Kind, over.Key, over.Revision = RowRevision, revisionKey(newest), newest
	over.Step, over.Group = nil, nil
	over.rails = over.above()
	o.add(over)
}

// addBefore adds the rows above a step that the newest revision changed: the
// reason, and the previous version if the difference is visible.
func (o *outline) addBefore(v *shownPlan, r Row) {
	if r.Step.Change == agent.ChangeNone {
		return
	}
	o.addReason(v, r)
	newest, b := v.newest(), v.versionBefore(r.Step)
	if b != nil && v.unfolded(newest) && (b.Step.Tool != r.Step.Step.Tool || b.Step.Title != r.Step.Step.Title) {
		r.Kind, r.Key, r.Step, r.Revision = RowGone, removedKey(newest, b.Step.Index), b, newest
		r.rails = r.above()
		o.add(r)
	}
}

// above returns the rails of a row that moves above its node: those that lead to the node.
func (r Row) above() railsPart {
	if r.rails == railsBeside {
		return railsAbove
	}
	return r.rails
}
