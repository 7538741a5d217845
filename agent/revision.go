package agent

import (
	"slices"
	"time"

	"replan/internal/untrusted"
)

// Revision is one replan: what it changed and why.
type Revision struct {
	Number  int            // from 2
	Reason  untrusted.Text // the failure that led to it
	Removed []StepState    // removed steps in their last state, in their old order
	After   []string       // for each removed step, the index of its predecessor, or ""
	Added   []string
	Revised []string
	Before  []StepState // revised steps in their earlier state

	Step          string       // the failed step; "" if none failed
	UserRequest   string       // the user's request
	AskedAt       time.Time    // when the planner was asked
	At            time.Time    // when it replaced the previous plan
	PreviousSteps []*StepState // steps of the previous plan in their last state; read-only
}

// RemovedAfter returns the step of the current plan after which to show the i-th
// step removed by the n-th revision. Both count from 0; "" means before all
// steps.
func (b *Board) RemovedAfter(n, i int) string {
	for {
		revision := &b.Revisions[n]
		if i >= len(revision.After) || revision.After[i] == "" {
			return ""
		}
		after := revision.After[i]
		if b.at(after) != nil && !b.addedSince(n, after) {
			return after
		}
		if n, i = b.removal(n, i, after); n < 0 {
			return ""
		}
	}
}

// addedSince reports whether the n-th or a later revision added this index, so
// that it is a different step from the earlier one.
func (b *Board) addedSince(n int, index string) bool {
	return slices.ContainsFunc(b.Revisions[n:], func(revision Revision) bool { return slices.Contains(revision.Added, index) })
}

// removal returns where a step was removed: before the i-th of the n-th revision,
// or by a later one. The revision is -1 if it was not removed.
func (b *Board) removal(n, i int, index string) (revision, position int) {
	for j := range i {
		if b.Revisions[n].Removed[j].Step.Index == index {
			return n, j
		}
	}
	for m := n + 1; m < len(b.Revisions); m++ {
		for j := range b.Revisions[m].Removed {
			if b.Revisions[m].Removed[j].Step.Index == index {
				return m, j
			}
		}
	}
	return -1, 0
}
