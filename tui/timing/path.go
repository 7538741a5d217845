package timing

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"time"

	"replan/agent"
	"replan/planning/plan"
)

// Number formats an integer.
func Number(n int) string { return strconv.Itoa(n) }

// slotNoticed is the threshold above which a slot wait counts. A shorter wait is
// only the gap between two events.
const slotNoticed = 5 * time.Millisecond

// decide marks the critical chain of attempts. It starts from the attempt that
// ended last and follows the longest wait back each time.
func (c *chronicler) decide() {
	at := -1
	for i := range c.tries {
		if t := &c.tries[i]; (t.Began || t.Status == agent.StepWaiting) && (at < 0 || t.End >= c.tries[at].End) {
			at = i
		}
	}
	seen := map[int]bool{}
	for at >= 0 && !seen[at] {
		seen[at] = true
		track := c.tracks[c.tries[at].Step]
		track.Critical = true
		before, why, replan := c.cause(at)
		if track.After == "" {
			track.After = why
		}
		if before < 0 && replan == 0 && len(c.line.Phases) > 0 {
			c.line.planned = true
		}
		if replan > 0 {
			for _, t := range c.order {
				if t.Kind == TrackReplan && t.Index == Number(replan) {
					t.Critical = true
					if before >= 0 {
						t.After = "step " + c.tries[before].Step
					}
				}
			}
		}
		at = before
	}
}

// cause returns the attempt whose end let attempt at start, or -1 for none, and
// describes the cause of the wait. replan is the revision between the two attempts,
// if any.
func (c *chronicler) cause(at int) (before int, why string, replan int) {
	t := &c.tries[at]
	begin := t.Start
	before = -1
	take := func(i int, words string) {
		if i >= 0 && i != at && (before < 0 || c.tries[i].End > c.tries[before].End) {
			before, why, replan = i, words, 0
		}
	}
	for _, index := range c.dependencies(t.Revision, t.Step) {
		take(c.newest(index, begin), "step "+index)
	}
	for _, i := range c.of[t.Step] {
		if c.tries[i].Number < t.Number && c.tries[i].End <= begin {
			take(i, "attempt "+Number(c.tries[i].Number))
		}
	}
	if begin-t.free > slotNoticed {
		if i := c.freed(t, begin); i >= 0 {
			take(i, "a slot that step "+c.tries[i].Step+" had")
		}
	}
	if t.Revision >= 2 && t.Revision-2 < len(c.run.Revisions) {
		r := &c.run.Revisions[t.Revision-2]
		if asked := c.axis.At(r.At); asked <= begin && (before < 0 || c.tries[before].End < asked) {
			return c.newest(r.Step, c.axis.At(r.AskedAt)), "revision " + Number(r.Number), r.Number
		}
	}
	if planned := c.axis.At(c.run.PlannedAt); t.Revision <= 1 && !c.run.PlannedAt.IsZero() && planned <= begin && len(c.line.Phases) > 0 &&
		(before < 0 || c.tries[before].End < planned) {
		return -1, "the plan", 0
	}
	return before, why, replan
}

// freed returns the last attempt of another step to end while t waited for a slot,
// or -1 if none ended in that time.
func (c *chronicler) freed(t *Tried, begin time.Duration) int {
	if c.byEnd == nil {
		c.byEnd = make([]int, len(c.tries))
		for i := range c.byEnd {
			c.byEnd[i] = i
		}
		slices.SortStableFunc(c.byEnd, func(a, b int) int { return cmp.Compare(c.tries[a].End, c.tries[b].End) })
	}
	n := sort.Search(len(c.byEnd), func(i int) bool { return c.tries[c.byEnd[i]].End > begin })
	for n--; n >= 0 && c.tries[c.byEnd[n]].End > t.free; n-- {
		if o := &c.tries[c.byEnd[n]]; o.Began && o.Step != t.Step {
			return c.byEnd[n]
		}
	}
	return -1
}

// newest returns the last attempt of a step that had ended by then, or -1 if there
// is none.
func (c *chronicler) newest(step string, by time.Duration) int {
	found := -1
	for _, i := range c.of[step] {
		if c.tries[i].End <= by {
			found = i
		}
	}
	return found
}

// planned holds the steps of a plan revision and the step that provides each
// variable.
type planned struct {
	steps map[string]*plan.Step
	gives map[string]string
}

// dependencies returns the dependencies of a step in a plan revision, by name and
// by reference. Building a graph of all steps would cost more than these few
// lookups.
func (c *chronicler) dependencies(revision int, step string) []string {
	revision = max(revision, 1) // attempts made while the first plan streamed in belong to it
	p, ok := c.plans[revision]
	if !ok {
		steps := c.run.Steps
		for i := range c.run.Revisions {
			if r := &c.run.Revisions[i]; r.Number == revision+1 {
				steps = r.PreviousSteps
			}
		}
		p = planned{make(map[string]*plan.Step, len(steps)), map[string]string{}}
		for _, s := range steps {
			p.steps[s.Step.Index] = &s.Step
			if v := s.Step.ResultVariable; v != "" {
				p.gives[v] = s.Step.Index
			}
		}
		c.plans[revision] = p
	}
	s := p.steps[step]
	if s == nil {
		return nil
	}
	deps := slices.Clone(s.DependsOn)
	for _, ref := range plan.References(s.Args) {
		if index, ok := p.gives[ref.Name]; ok {
			deps = append(deps, index)
		}
	}
	return deps
}
