package dag

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"replan/agent"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/telling"
)

// GoneKey returns the row key of a step that a revision removed.
func GoneKey(r *agent.Revision, index string) string {
	return fmt.Sprintf("gone %d %s", r.Number, index)
}

func revisionKey(r *agent.Revision) string { return fmt.Sprintf("revision %d", r.Number) }

// The list shows changes by revisions among the steps: removed steps in their
// old place, and the previous version above a revised step. The reason precedes
// the first change. An older revision is one line that expands.

// gatherGhosts returns the rows for what revisions removed, keyed by the index
// of the step they follow.
func (d *Pane) gatherGhosts() map[string][]Row {
	run := d.Run
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
		if !d.unfolded(r) {
			continue
		}
		for i := range r.Removed {
			place := run.RemovedAfter(n, i)
			out[place] = append(out[place], Row{
				Kind: RowGone, Key: GoneKey(r, r.Removed[i].Step.Index), Step: &r.Removed[i], Revision: r,
			})
		}
	}
	return out
}

// unfolded reports whether the rows that a revision removed are visible. Those
// of the newest revision are, until the user collapses them.
func (d *Pane) unfolded(r *agent.Revision) bool {
	if open, said := d.Open[r.Number]; said {
		return open
	}
	return d.newest() == r
}

// newest returns the newest revision, or nil.
func (d *Pane) newest() *agent.Revision {
	if n := len(d.Run.Revisions); n > 0 {
		return &d.Run.Revisions[n-1]
	}
	return nil
}

// addGhosts adds rows for removed steps above a node, between its lanes.
func (o *outline) addGhosts(d *Pane, ghosts []Row, node int) {
	for _, r := range ghosts {
		r.rails, r.node = railsAbove, node
		newest := r.Revision == d.newest()
		if newest {
			o.addReason(d, r)
		}
		if r.Kind == RowRevision && newest {
			continue
		}
		o.add(r)
	}
}

// addReason adds the line with the reason for the newest revision, above the
// first row that it changed.
func (o *outline) addReason(d *Pane, over Row) {
	newest := d.newest()
	if newest == nil || o.reasoned {
		return
	}
	o.reasoned = true
	over.Kind, over.Key, over.Revision = RowRevision, revisionKey(newest), newest
	over.Step, over.Roll = nil, nil
	over.liftRails()
	o.add(over)
}

// addBefore adds the rows above a step that the newest revision changed: the
// reason, and the previous version if the difference is visible.
func (o *outline) addBefore(d *Pane, r Row) {
	if r.Step.Change == agent.ChangeNone {
		return
	}
	o.addReason(d, r)
	newest, b := d.newest(), d.versionBefore(r.Step)
	if b != nil && d.unfolded(newest) && (b.Step.Tool != r.Step.Step.Tool || b.Step.Title != r.Step.Step.Title) {
		r.Kind, r.Key, r.Step, r.Revision = RowGone, GoneKey(newest, b.Step.Index), b, newest
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
func (d *Pane) versionBefore(s *agent.StepState) *agent.StepState {
	newest := d.newest()
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
func changeWords(l *draw.Look, before, now *agent.StepState) string {
	var parts []string
	if was, is := telling.StepTool(before), telling.StepTool(now); was != is {
		arrow := "→"
		if l.Theme.Mode.ASCII {
			arrow = "->"
		}
		parts = append(parts, "tool: "+was+" "+arrow+" "+is)
	}
	if names := changedArgs(before.Step.Args, now.Step.Args); len(names) > 0 {
		parts = append(parts, "args: "+untrusted.Line(strings.Join(names, ", ")))
	}
	if len(parts) == 0 && before.Step.Title == now.Step.Title && !slices.Equal(before.Step.DependsOn, now.Step.DependsOn) {
		parts = append(parts, "after: "+untrusted.Line(strings.Join(now.Step.DependsOn, ", ")))
	}
	return strings.Join(parts, ", ")
}

// changedArgs returns the names of the arguments that differ.
func changedArgs(before, now map[string]any) []string {
	names := map[string]bool{}
	for name, value := range now {
		if was, had := before[name]; !had || !reflect.DeepEqual(was, value) {
			names[name] = true
		}
	}
	for name := range before {
		if _, has := now[name]; !has {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
