package timing

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"replan/agent"
)

// slotNoticed is the threshold above which a slot wait counts. A shorter wait is
// only the gap between two events.
const slotNoticed = 5 * time.Millisecond

// link is a possible part of the critical path: an attempt, or the planning of a
// revision.
type link struct {
	AttemptTimes
	track *Track
	plans int // the revision that was planned; 0 for an attempt
}

// decide marks the critical path. It starts from the attempt that ended last.
// From there it goes back through everything that ended, the latest first, and
// follows what let the last link start.
func (c *builder) decide() {
	slices.SortStableFunc(c.links, func(a, b link) int { return cmp.Compare(a.end, b.end) })
	var at *link
	for i := len(c.links) - 1; i >= 0; i-- {
		before := &c.links[i]
		if at == nil {
			if before.plans > 0 || !before.began() && before.Status != agent.StepWaiting {
				continue
			}
		} else {
			why := c.why(at, before)
			if why == "" {
				continue
			}
			at.track.After = cmp.Or(at.track.After, why)
		}
		at, before.track.Critical = before, true
	}
	if at != nil && at.plans == 0 && c.planned != nil {
		c.planned.Critical = true // the step started while the plan streamed in
	}
}

// why describes how the end of a link let another one start, "" if it did not.
func (c *builder) why(at, before *link) string {
	switch {
	case before.end > at.start:
		return ""
	case at.plans > 1 && before.plans == 0 && before.Step == c.run.Revisions[at.plans-2].Step:
		return "step " + before.Step
	case at.plans > 0:
		return ""
	case before.plans > 0 && before.plans != max(at.Revision, 1):
		return ""
	case before.plans == 1:
		return "the plan"
	case before.plans > 0:
		return "revision " + strconv.Itoa(before.plans)
	case slices.Contains(at.DependsOn, before.Step):
		return "step " + before.Step
	case before.Step == at.Step:
		return "attempt " + strconv.Itoa(before.Number)
	case at.start-at.free > slotNoticed && before.end > at.free && before.began():
		return "a slot that step " + before.Step + " had"
	default:
		return ""
	}
}
