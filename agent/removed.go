package agent

import "slices"

// RemovedAfter is the step of the present plan behind which the i-th step that
// the n-th revision took out is shown, both from 0; "" is before all.
func (r *Run) RemovedAfter(n, i int) string {
	for {
		revision := &r.Revisions[n]
		if i >= len(revision.After) || revision.After[i] == "" {
			return ""
		}
		after := revision.After[i]
		if r.Step(after) != nil && !r.addedSince(n, after) {
			return after
		}
		if n, i = r.removal(n, i, after); n < 0 {
			return ""
		}
	}
}

// addedSince reports whether a revision from the n-th on brought this index in,
// so that it is not the step that stood there before.
func (r *Run) addedSince(n int, index string) bool {
	return slices.ContainsFunc(r.Revisions[n:], func(revision Revision) bool { return slices.Contains(revision.Added, index) })
}

// removal finds where a step was taken out: before the i-th of the n-th
// revision, or by a later one. The revision is -1 where it was not.
func (r *Run) removal(n, i int, index string) (revision, position int) {
	for j := range i {
		if r.Revisions[n].Removed[j].Step.Index == index {
			return n, j
		}
	}
	for m := n + 1; m < len(r.Revisions); m++ {
		for j := range r.Revisions[m].Removed {
			if r.Revisions[m].Removed[j].Step.Index == index {
				return m, j
			}
		}
	}
	return -1, 0
}
