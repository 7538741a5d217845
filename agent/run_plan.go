package agent

import (
	"cmp"
	"slices"

	"replan/agent/event"
	"replan/planning/plan"
)

// planned lets a new plan wait for its review, or has it replaced because of the user's remark.
func (r *Run) planned() {
	r.hold()
	r.services().dialogue.applyRemarks()
}

// hold stops the plan for review, if a review is required and any steps are left.
func (r *Run) hold() {
	r.PlanReviews.holdPlan(r.Terms.holdsPlans() && r.Board.unsettled())
}

// settleLooks tells the planner the results of the steps that it waits for, once all of
// them have ended or cannot start.
func (r *Run) settleLooks() {
	looks := r.Planning.looks()
	if len(looks) == 0 || !r.quiet() {
		return
	}
	free := r.services().guards.freeSlots()
	spent := free.discoverySpent()
	for _, step := range looks {
		if s := r.Step(step.Index); s == nil || s.Status == StepPending && s.startable() && !spent || s.Status == StepRunning {
			return
		}
	}
	var items []plan.HistoryItem
	for _, item := range r.History {
		if item.Status == plan.ItemCompleted && slices.ContainsFunc(looks, func(s plan.Step) bool { return s.Index == item.Index }) {
			items = append(items, item)
		}
	}
	r.Planning.looked(items)
}

// applyAccepted records a check of the plan's acceptance. After the last one, a refuted
// one leads to a replan, or ends the run.
func (r *Run) applyAccepted(d event.CheckCompleted) {
	if d.Attempt != r.Revision || d.Check != len(r.Accepted)+1 {
		return
	}
	r.services().counter.checkCalled(d.Tool)
	r.Acceptance.accept(d)
	sentence := refutation(r.Accepted)
	if !r.acceptanceOf(&r.Board).over() || sentence == "" {
		return
	}
	follows := cmp.Or(r.Plan.OnFailure, r.Terms.fallback())
	if follows == plan.OnFailureReplan && !r.Limits.NoReplan && r.Planning.canReplan(r.Model) && !r.Outcome.ends() {
		r.Planning.refute("the steps have ended, but " + sentence)
		return
	}
	r.Outcome.end(event.StatusFailed, event.ReasonRefuted, "the steps have ended, but "+sentence)
}
