package agent

import (
	"fmt"

	"replan/agent/event"
)

// AwaitsReview reports whether the plan waits for review. Until then, none of its
// steps start. A pending replan, or a question about a step, comes first.
func (r *Run) AwaitsReview() bool {
	return r.ReviewPending() && r.Active() && !r.ends() && !r.Planning.active() && !r.Planning.wantsReplan() && !r.asks()
}

// AnswerReview returns the event for an answer, or an error with all faults of the
// changed plan. It takes only what [Review.Edit] sets, added dependencies, the choice of
// remaining steps and the acceptance from that plan.
func (r *Run) AnswerReview(a ReviewAnswer, by string) (event.PlanReviewed, error) {
	v := r.Review()
	switch {
	case v == nil:
		return event.PlanReviewed{}, errNotHeld
	case a.Revision != v.Revision:
		return event.PlanReviewed{}, fmt.Errorf("revision %d of the plan was reviewed, but revision %d waits", a.Revision, v.Revision)
	case a.Decision == event.ReviewRefuse:
		return v.Event(event.ReviewRefuse, by), nil
	case a.Decision != event.ReviewRun:
		return event.PlanReviewed{}, fmt.Errorf("a reviewed plan is run or refused, not %q", a.Decision)
	}
	if a.Plan != nil {
		if err := v.adopt(*a.Plan); err != nil {
			return event.PlanReviewed{}, err
		}
	}
	for _, index := range a.Approved {
		if err := v.Approve(index, true); err != nil {
			return event.PlanReviewed{}, err
		}
	}
	return v.Event(event.ReviewRun, by), nil
}

// Review returns the plan that waits for review, or nil.
func (r *Run) Review() *Review {
	if !r.AwaitsReview() {
		return nil
	}
	return newReview(&r.Board, newRehearsal(r))
}
