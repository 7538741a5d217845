package agent

import (
	"replan/agent/event"
	"replan/planning/plan"
)

// approver applies what the review of a plan says.
type approver struct {
	steps       *roster
	tools       *Toolbox
	board       *Board
	permissions *Permissions
	reviews     *PlanReviews
	outcome     *Outcome
	clock       *Clock
	meter       *Meter
	expander    *expander
	recorder    *recorder
	scheduler   *scheduler
}

// applyReviewed applies the outcome of a review. A refused plan is held again if
// the run is resumed.
func (r *approver) applyReviewed(d event.PlanReviewed) {
	reviewed := ReviewedPlan{PlanReviewed: d, At: r.clock.Now}
	if d.Decision != event.ReviewRun {
		sentence := "the plan was refused: no step was run"
		if r.meter.Usage.Steps > 0 {
			sentence = "the plan was refused: no further step was run"
		}
		if isUnattended(d.By) {
			sentence = "the plan waits for review, and " + d.By + "; resume the run on a terminal"
		}
		r.reviews.record(reviewed, false)
		r.outcome.end(event.StatusFailed, event.ReasonDenied, sentence)
		return
	}
	if d.Plan != nil {
		reviewed.Out = r.takeReviewed(*d.Plan)
	}
	r.reviews.record(reviewed, true)
	r.steps.every(func(s *StepState) {
		s.postpone(r.clock.Now)
	})
	for _, a := range d.Approved {
		if s := r.steps.step(a.Step); s != nil {
			s.gate().approve(r.tools.facts(s.Step.Tool).Tool, a.Args, s.nextAttempt())
			r.scheduler.enqueue(s)
		}
	}
}

// takeReviewed applies the user's changes to the plan, and returns the removed
// steps.
func (r *approver) takeReviewed(p plan.Plan) (out []StepState) {
	r.steps.every(r.board.countAttempts)
	before := map[string]*StepState{}
	for _, s := range r.board.Steps {
		before[s.Step.Index] = s
	}
	if r.board.Revision == 1 {
		r.meter.plan(len(p.Steps))
	}
	steps := make([]*StepState, 0, len(p.Steps))
	for _, step := range p.Steps {
		s := before[step.Index]
		if s == nil {
			s = newStep(step, r.board.attemptsBefore(step.Index))
		} else if !plan.EqualValues(s.Step.Args, step.Args) || !plan.SameTimes(s.Step, step) {
			r.permissions.closeGate(s.Gate) // it was for a different call
			if s.Status == StepWaiting {
				s.leaveGate()
			}
			s.otherCall()
		}
		delete(before, step.Index)
		was, items := s.Step, s.Items
		s.rewrite(step)
		if items != nil && differs(was, step) {
			s.dropItems()
			if s.expands() && plan.SameWork(was, step) {
				r.expander.keepItems(s, items)
			}
		}
		steps = append(steps, s)
	}
	for _, s := range r.board.Steps {
		if before[s.Step.Index] == s {
			r.recorder.skip(s)
			r.permissions.closeGate(s.Gate)
			out = append(out, *s)
		}
	}
	r.board.take(p, r.board.Revision, steps)
	r.scheduler.rebuildGraph()
	return out
}
