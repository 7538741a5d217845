package agent

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"replan/agent/event"
	"replan/planning/plan"
)

// ReviewedPlan is a reviewed plan with its changes.
type ReviewedPlan struct {
	event.PlanReviewed
	At  time.Time   // of the answer
	Out []StepState // removed steps in their last state
}

// ReviewAnswer is the user's answer to a held plan.
type ReviewAnswer struct {
	Revision int // of the displayed plan
	Decision event.ReviewDecision
	Plan     *plan.Plan // the changed plan; nil leaves it unchanged
	Approved []string   // steps whose gates are open for the args in the plan
}

// errNotHeld reports that no plan waits for review.
var errNotHeld = errors.New("no plan waits for review")

// Review is a plan waiting for review, with the user's changes so far. It is a
// copy: the run does not change until its Answer is applied. It may be used by
// any goroutine, but only by one.
type Review struct {
	Run      string
	Revision int

	base      plan.Plan
	settled   map[string]bool // steps that can no longer be changed
	rehearsal *rehearsal
	faults    map[string]bool // faults the plan already had
	now       edition
	before    []edition // most recent change last
	original  map[string]plan.Step
}

// newReview returns the review of the plan on a board, which must not change.
func newReview(b *Board, r *rehearsal) *Review {
	v := &Review{
		Run: r.id(), Revision: b.Revision, rehearsal: r,
		base: b.Plan, settled: map[string]bool{}, faults: map[string]bool{}, original: map[string]plan.Step{},
		now: edition{steps: slices.Clone(b.Plan.Steps), acceptance: b.Plan.Acceptance, out: map[string]bool{}, approved: map[string]map[string]any{}},
	}
	for _, s := range b.Steps {
		v.settled[s.Step.Index], v.original[s.Step.Index] = s.settled(), s.Step
	}
	for _, f := range v.check(v.now) {
		v.faults[sameFault(f)] = true // faults of the original plan, which the user need not fix here
	}
	return v
}

// Gate returns the question at which a step's call would stop, or nil if there is
// none.
func (v *Review) Gate(index string) *ReviewGate {
	at := v.now.at(index)
	if at < 0 {
		return nil
	}
	return v.rehearsal.gate(v.now.steps[at])
}

// Steps returns the steps of the plan in execution order, with the removed steps
// at their old positions.
func (v *Review) Steps() []ReviewStep {
	all := v.now.clone()
	order := v.order(all)
	if len(all.out) > 0 {
		order = v.places(order)
	}
	out := make([]ReviewStep, 0, len(order))
	for _, index := range order {
		step := v.now.steps[v.now.at(index)]
		s := ReviewStep{Step: step, Settled: v.settled[index], Out: v.now.out[index], Edited: v.edited(step), Gate: v.Gate(index), Status: v.rehearsal.status(index)}
		_, s.Passes = v.now.approved[index]
		for _, on := range step.DependsOn {
			if v.added(index, on) && !v.now.out[on] {
				s.After = append(s.After, on)
			}
		}
		out = append(out, s)
	}
	return out
}

// places inserts the removed steps among the remaining ones, each after its old
// predecessor.
func (v *Review) places(left []string) []string {
	out := slices.Clone(left)
	last := ""
	for _, index := range plan.NewGraph(v.base).Order() {
		if v.now.out[index] {
			at := slices.Index(out, last) + 1
			out = slices.Insert(out, at, index)
		}
		last = index
	}
	return out
}

// edited reports whether a step was changed by [Review.Edit].
func (v *Review) edited(s plan.Step) bool { return differs(v.original[s.Index], s) }

// Plan returns the current plan.
func (v *Review) Plan() plan.Plan { return v.plan(v.now) }

// Changes returns the changes so far.
func (v *Review) Changes() event.ReviewChanges {
	c := event.ReviewChanges{Acceptance: !plan.EqualChecks(v.base.Acceptance, v.Plan().Acceptance)}
	for _, s := range v.now.steps {
		if v.now.out[s.Index] {
			c.Removed = append(c.Removed, s.Index)
			continue
		}
		if v.edited(s) {
			c.Edited = append(c.Edited, s.Index)
		}
		for _, on := range s.DependsOn {
			if v.added(s.Index, on) && !v.now.out[on] {
				c.Moved = append(c.Moved, event.Move{Step: s.Index, After: on})
			}
		}
		if args, yes := v.now.approved[s.Index]; yes {
			c.Approved = append(c.Approved, event.Approval{Step: s.Index, Tool: v.rehearsal.toolName(s.Tool), Args: args})
		}
	}
	return c
}

// Answer returns the answer to send at the end of the review.
func (v *Review) Answer(decision event.ReviewDecision) ReviewAnswer {
	a := ReviewAnswer{Revision: v.Revision, Decision: decision}
	if decision != event.ReviewRun {
		return a
	}
	c := v.Changes()
	if len(c.Edited)+len(c.Moved)+len(c.Removed) > 0 || c.Acceptance {
		plan := v.Plan()
		a.Plan = &plan
	}
	for _, approval := range c.Approved {
		a.Approved = append(a.Approved, approval.Step)
	}
	return a
}

// adopt applies the changes of a plan edited elsewhere.
func (v *Review) adopt(p plan.Plan) error {
	next := v.now.clone()
	next.acceptance = p.Acceptance
	left := map[string]plan.Step{}
	for _, s := range p.Steps {
		if next.at(s.Index) < 0 {
			return fmt.Errorf("step %s is not in the plan that was shown", s.Index)
		}
		left[s.Index] = s
	}
	for i, was := range next.steps {
		s, stays := left[was.Index]
		switch {
		case v.settled[was.Index]:
		case !stays:
			next.out[was.Index] = true
		default:
			next.steps[i] = withEdits(was, s)
			next.steps[i].DependsOn = slices.Clone(was.DependsOn)
			for _, on := range s.DependsOn {
				if !slices.Contains(next.steps[i].DependsOn, on) {
					next.steps[i].DependsOn = append(next.steps[i].DependsOn, on)
				}
			}
		}
	}
	if len(next.out) == len(next.steps) {
		return errors.New("no step would be left: refuse the plan instead")
	}
	return v.change(next)
}

// Event returns the event for an answer; by is whoever gives it.
func (v *Review) Event(decision event.ReviewDecision, by string) event.PlanReviewed {
	d := event.PlanReviewed{Revision: v.Revision, Decision: decision, By: by, Edited: []string{}, Moved: []event.Move{}, Removed: []string{}, Approved: []event.Approval{}}
	if decision != event.ReviewRun {
		return d
	}
	c := v.Changes()
	d.Plan = v.Answer(decision).Plan
	d.Edited, d.Removed, d.Acceptance = list(c.Edited), list(c.Removed), c.Acceptance
	d.Moved, d.Approved = append(d.Moved, c.Moved...), append(d.Approved, c.Approved...)
	return d
}
