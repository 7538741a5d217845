package tui

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"replan/agent"
	"replan/tui/untrusted"
)

func goneKey(r *agent.Revision, index string) string {
	return fmt.Sprintf("gone %d %s", r.Number, index)
}

func revisionKey(r *agent.Revision) string { return fmt.Sprintf("revision %d", r.Number) }

// What revisions changed stands among the steps: those that were taken out where
// they had stood, the version before a revised one above it, and why over the
// first of them. An older revision is one line that opens.

// gatherGhosts returns the rows of what revisions took out, by the index of the
// step that they stand behind.
func (d *dagPane) gatherGhosts() map[string][]row {
	run, present := d.run, d.chart.at
	out := make(map[string][]row)
	for n := range run.Revisions {
		r := &run.Revisions[n]
		place := ""
		if len(r.Removed) > 0 {
			place = anchor(run, n, 0, present)
		}
		if n < len(run.Revisions)-1 || len(r.Removed) > 0 {
			out[place] = append(out[place], row{kind: rowRevision, key: revisionKey(r), revision: r})
		}
		if !d.unfolded(r) {
			continue
		}
		for i := range r.Removed {
			place := anchor(run, n, i, present)
			out[place] = append(out[place], row{
				kind: rowGone, key: goneKey(r, r.Removed[i].Step.Index), step: &r.Removed[i], revision: r,
			})
		}
	}
	return out
}

// unfolded reports whether what a revision took out is shown: of the newest it
// is until the user folds it.
func (d *dagPane) unfolded(r *agent.Revision) bool {
	if open, said := d.open[r.Number]; said {
		return open
	}
	return d.newest() == r
}

// newest is the newest revision, nil before there is one.
func (d *dagPane) newest() *agent.Revision {
	if n := len(d.run.Revisions); n > 0 {
		return &d.run.Revisions[n-1]
	}
	return nil
}

// addGhosts adds rows for steps that are gone, within the lanes of the row that
// follows them.
func (o *outline) addGhosts(d *dagPane, ghosts []row, g *laneStep, place int) {
	for _, r := range ghosts {
		if g != nil {
			r.gutter, r.node, r.lane, r.place, r.lead = g.row, g.node, g, place, leadRow
		}
		newest := r.revision == d.newest()
		if newest {
			o.addReason(d, r)
		}
		if r.kind == rowRevision {
			if newest {
				continue
			}
			r.node = -1
		}
		o.add(r)
	}
}

// addReason adds the line that says why the newest revision was made, over the
// first row that it changed.
func (o *outline) addReason(d *dagPane, over row) {
	newest := d.newest()
	if newest == nil || o.reasoned {
		return
	}
	o.reasoned = true
	over.kind, over.key, over.revision, over.node = rowRevision, revisionKey(newest), newest, -1
	over.step, over.roll = nil, nil
	o.add(over)
}

// addBefore adds what stands over a step that the newest revision changed: why,
// and the version before, where a reader would see a difference.
func (o *outline) addBefore(d *dagPane, r row) {
	if r.step.Change == agent.ChangeNone {
		return
	}
	o.addReason(d, r)
	newest, b := d.newest(), d.versionBefore(r.step)
	if b != nil && d.unfolded(newest) && (b.Step.Tool != r.step.Step.Tool || b.Step.Title != r.step.Step.Title) {
		r.kind, r.key, r.step, r.revision = rowGone, goneKey(newest, b.Step.Index), b, newest
		o.add(r)
	}
}

// versionBefore is a step as it stood before the newest revision changed it, or
// nil.
func (d *dagPane) versionBefore(s *agent.StepState) *agent.StepState {
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

// changeWords says what a revision changed in a step: tool: fs.read → fs.search,
// args: path.
func (l *look) changeWords(before, now *agent.StepState) string {
	var parts []string
	if was, is := stepTool(before), stepTool(now); was != is {
		arrow := "→"
		if l.theme.Mode.ASCII {
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

// changedArgs are the names of the arguments that differ.
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

// anchor is the step of the present plan behind which the i-th removed step of
// revision n stands; "" is the top.
func anchor(run *agent.Run, n, i int, present map[string]int) string {
	for {
		r := &run.Revisions[n]
		if i >= len(r.After) || r.After[i] == "" {
			return ""
		}
		after := r.After[i]
		if _, ok := present[after]; ok && !newlyAdded(run, n, after) {
			return after
		}
		if n, i = removedAt(run, n, i, after); n < 0 {
			return ""
		}
	}
}

// newlyAdded reports whether a revision from n on brought this index in, so
// that it is not the step that stood there before.
func newlyAdded(run *agent.Run, n int, index string) bool {
	for _, r := range run.Revisions[n:] {
		for _, a := range r.Added {
			if a == index {
				return true
			}
		}
	}
	return false
}

// removedAt finds where a step was taken out: before the i-th of revision n, or
// in a later one. It returns -1 where it was not.
func removedAt(run *agent.Run, n, i int, index string) (revision, position int) {
	for j := range i {
		if run.Revisions[n].Removed[j].Step.Index == index {
			return n, j
		}
	}
	for m := n + 1; m < len(run.Revisions); m++ {
		for j := range run.Revisions[m].Removed {
			if run.Revisions[m].Removed[j].Step.Index == index {
				return m, j
			}
		}
	}
	return -1, 0
}
