package tui

import (
	"strconv"
	"time"

	"replan/agent"
	"replan/planning"
)

func itoa(n int) string { return strconv.Itoa(n) }

// slotNoticed is from when on a wait for a slot counts: below it, it is only the
// time between two events.
const slotNoticed = 5 * time.Millisecond

// decide marks the chain of attempts that decided how long the steps took: from
// the one that ended last, always back to what it had waited for longest.
func (c *chronicler) decide() {
	at := -1
	for i := range c.tries {
		if t := &c.tries[i]; (t.began || t.Status == agent.StepWaiting) && (at < 0 || t.end >= c.tries[at].end) {
			at = i
		}
	}
	seen := map[int]bool{}
	for at >= 0 && !seen[at] {
		seen[at] = true
		track := c.tracks[c.tries[at].Step]
		track.critical = true
		before, why, replan := c.cause(at)
		if track.after == "" {
			track.after = why
		}
		if replan > 0 {
			for _, t := range c.order {
				if t.kind == trackReplan && t.index == itoa(replan) {
					t.critical = true
					if before >= 0 {
						t.after = "step " + c.tries[before].Step
					}
				}
			}
		}
		at = before
	}
}

// cause is the attempt whose end let another begin, -1 where none did, and in
// words what that one waited for; replan is the revision that stood between them.
func (c *chronicler) cause(at int) (before int, why string, replan int) {
	t := &c.tries[at]
	begin := t.start
	before = -1
	take := func(i int, words string) {
		if i >= 0 && i != at && (before < 0 || c.tries[i].end > c.tries[before].end) {
			before, why, replan = i, words, 0
		}
	}
	for _, index := range c.dependencies(t.Revision, t.Step) {
		take(c.newest(index, begin), "step "+index)
	}
	for _, i := range c.of[t.Step] {
		if c.tries[i].Number < t.Number && c.tries[i].end <= begin {
			take(i, "attempt "+itoa(c.tries[i].Number))
		}
	}
	if begin-t.free > slotNoticed {
		for i := range c.tries {
			if o := &c.tries[i]; o.began && o.end <= begin && o.end > t.free && o.Step != t.Step {
				take(i, "a slot that step "+o.Step+" had")
			}
		}
	}
	if t.Revision >= 2 && t.Revision-2 < len(c.run.Revisions) {
		r := &c.run.Revisions[t.Revision-2]
		if asked := c.axis.at(r.At); asked <= begin && (before < 0 || c.tries[before].end < asked) {
			return c.newest(r.Step, c.axis.at(r.AskedAt)), "revision " + itoa(r.Number), r.Number
		}
	}
	return before, why, replan
}

// newest is the last attempt of a step that had ended by then, -1 where there is
// none.
func (c *chronicler) newest(step string, by time.Duration) int {
	found := -1
	for _, i := range c.of[step] {
		if c.tries[i].end <= by {
			found = i
		}
	}
	return found
}

// dependencies are those of a step in the plan of a revision.
func (c *chronicler) dependencies(revision int, step string) []string {
	revision = max(revision, 1) // what began while the first plan streamed in is of that
	g := c.graphs[revision]
	if g == nil {
		steps := c.run.Steps
		for i := range c.run.Revisions {
			if r := &c.run.Revisions[i]; r.Number == revision+1 {
				steps = r.Was
			}
		}
		plan := c.run.Plan
		plan.Steps = make([]planning.Step, len(steps))
		for i, s := range steps {
			plan.Steps[i] = s.Step
		}
		g = planning.NewGraph(plan)
		c.graphs[revision] = g
	}
	return g.Dependencies(step)
}
