package dag

import (
	"replan/agent"
)

// showsCalls reports whether the items or calls of a step have rows of their own.
func (f *folds) showsCalls(index string) bool { return f.calls[index] }

// toggleCalls expands or collapses the items or calls of a step, and reports whether they are
// expanded now.
func (f *folds) toggleCalls(index string) (expanded bool) {
	if f.calls[index] {
		delete(f.calls, index)
		return false
	}
	f.calls[index] = true
	return true
}

// showsRevision reports whether the rows that a revision removed are visible. Those of the
// newest revision are, until the user collapses them.
func (f *folds) showsRevision(r, newest *agent.Revision) bool {
	if open, chosen := f.revisions[r.Number]; chosen {
		return open
	}
	return newest == r
}

// showRevision expands or collapses the rows that a revision removed.
func (f *folds) showRevision(r *agent.Revision, show bool) { f.revisions[r.Number] = show }

// toggleGroup expands or collapses a group. It returns the key of the row to select.
func (f *folds) toggleGroup(r *group, grouping bool) (key string) {
	for index := range f.collapsed {
		if dependentsKey(index) == r.key {
			delete(f.collapsed, index)
			return index
		}
	}
	if r.Open && grouping {
		delete(f.chosen, r.key)
	} else {
		f.chosen[r.key] = !r.Open
	}
	return r.key
}

// closeGroup collapses a group, including its running steps.
func (f *folds) closeGroup(key string) { f.chosen[key] = false }

// toggleStep expands what is collapsed with a step. Otherwise it collapses what belongs to the
// step: its group, the steps reachable only through it, or its fan-out. It returns the key of
// the row to select; "" if there is nothing to collapse.
func (f *folds) toggleStep(c *chart, r *Row) (key string) {
	index := r.Step.Step.Index
	switch {
	case f.collapsed[index]:
		delete(f.collapsed, index)
	case r.Group != nil:
		index = r.Group.Key()
		f.closeGroup(index)
	case len(c.soleDependents(r.at)) > 0:
		f.collapsed[index] = true
	case c.fanOf(r.at) != nil:
		index = fanKey(c.Steps[c.fanOf(r.at)[0]].Step.Index)
		f.closeGroup(index)
	default:
		return ""
	}
	return index
}

// toggleAll expands or collapses everything in a plan, whatever the user has chosen before.
func (f *folds) toggleAll(run *agent.Run, c *chart, expand bool) {
	*f = *newFolds()
	for i := range run.Revisions {
		f.showRevision(&run.Revisions[i], expand)
	}
	if f.Level = foldAll; !expand {
		return
	}
	f.Level = foldNone
	for _, a := range c.withInner() {
		f.calls[c.Steps[a].Step.Index] = true
		for _, item := range c.Steps[a].Items {
			if item.Loop != nil {
				f.calls[item.Step.Index] = true
			}
		}
	}
}
