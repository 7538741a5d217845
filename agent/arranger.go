package agent

import (
	"slices"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// arranger puts plans on the board: the first one, those that replace it, and those that a
// review has changed.
type arranger struct {
	tracker
	*PlanReviews
	guards guards
}

// applyPlan applies the first plan. A step started while the plan streamed in is
// adopted if its tool, args and dependencies are unchanged.
func (r arranger) applyPlan(d event.PlanCreated) {
	drafts := r.Steps
	r.every(r.countAttempts)
	r.Board.first(r.Now)
	r.Planning.finish()
	r.Meter.plan(len(d.Plan.Steps))
	r.Board.define(d.Plan.Variables)
	early := r.Ledger.restart()
	steps := make([]*StepState, 0, len(d.Plan.Steps))
	states := make([]StepState, len(d.Plan.Steps)) // one allocation, since plans can be long
	for i, step := range d.Plan.Steps {
		state := &states[i]
		*state = *newStep(step, r.attemptsBefore(step.Index))
		state.plannedAfter(r.authorRead(step))
		steps = append(steps, state)
	}
	r.Board.take(d.Plan, d.Revision, steps)
	if len(drafts) > 0 {
		r.adopt(drafts, early)
	}
	for _, s := range r.Steps {
		switch {
		case s.Status == StepCompleted && len(ChecksOf(s.Step)) > 0:
			r.beginChecks(s)
		case s.Status == StepCompleted:
			r.bind(s)
		}
	}
	r.rebuildGraph()
	r.skipModelSteps()
	for _, s := range r.Steps {
		if s.Status == StepFailed {
			r.handleFailure(s)
		}
	}
	r.hold()
	r.applyRemarks()
}

func (r arranger) applyReplan(d event.ReplanStarted) {
	r.Meter.replan()
	r.Planning.replan(d, r.Now)
	why := string(d.Error)
	if d.Step == "" && r.Planning.onlyRemark() {
		why = "" // the replan comes only from the user's remark
	}
	r.Planning.begin(r.makers().Replan(r.briefing.brief(), prompt.Situation{
		Remarks:     string(d.Request),
		Plan:        r.Plan,
		History:     r.History,
		Finished:    r.finished(),
		Remaining:   r.remaining(),
		Attempt:     d.Attempt,
		Failed:      d.Step,
		Error:       why,
		StepsLeft:   r.stepsLeft(),
		ReplansLeft: r.replansLeft(),
	}))
}

// applyDiff applies a new plan for the remaining steps.
func (r arranger) applyDiff(d event.PlanDiff) {
	revision := Revision{Number: d.Revision, Reason: d.Reason, Added: d.Added, Revised: d.Revised, AskedAt: r.Now, At: r.Now, PreviousSteps: r.Steps}
	if asked := r.Replanning; asked != nil {
		revision.Step, revision.UserRequest, revision.AskedAt = asked.Step, asked.UserRequest, asked.StartedAt
	}
	r.recorder.dropAttempts()
	old := map[string]*StepState{}
	last := ""
	for _, s := range r.Steps {
		old[s.Step.Index] = s
		s.unchanged()
		switch {
		case slices.Contains(d.Removed, s.Step.Index):
			revision.Removed = append(revision.Removed, *s)
			revision.After = append(revision.After, last)
		case slices.Contains(d.Revised, s.Step.Index):
			revision.Before = append(revision.Before, *s)
		}
		last = s.Step.Index
	}
	read := r.hasRead()
	r.Meter.closeRevision(r.Revision, r.History, r.toolName)
	r.every(r.countAttempts)
	r.Board.revise(revision)
	r.Planning.replanned()
	r.Outcome.planAgain()
	r.Acceptance.beginAcceptance()

	steps := make([]*StepState, 0, len(d.Plan.Steps))
	for _, step := range d.Plan.Steps {
		state := newStep(step, r.attemptsBefore(step.Index))
		before, stays := old[step.Index]
		switch {
		case stays && r.onlyRechecks(before) && plan.SameWork(before.Step, step) && r.refersToFinished(step, old):
			state.keepWork(before)
			r.beginChecks(state)
		case slices.Contains(d.Added, step.Index):
			state.revised(ChangeAdded, r.untrustedReads(step, old, read))
		case slices.Contains(d.Revised, step.Index):
			state.revised(ChangeRevised, r.untrustedReads(step, old, read))
		case stays && before.Status == StepCompleted:
			// Only completed steps stay unchanged. A reference may now mean
			// another result, so earlier approvals of pending calls no longer
			// hold.
			state.keepWork(before)
			r.bind(state) // the result may have a new name
		case stays:
			state.writtenLike(before)
		}
		if stays && state.expands() && state.Items == nil && plan.SameWork(before.Step, step) {
			r.keepItems(state, before.Items)
		}
		steps = append(steps, state)
	}
	r.Board.take(d.Plan, d.Revision, steps)
	r.Permissions.closeGates()
	r.rebuildGraph()
	r.hold()
	r.applyRemarks()
}

// hold stops the plan for review, if a review is required and any steps are left.
func (r arranger) hold() {
	wait := r.reviewPlans && !r.planOnly && !r.dryRun && slices.ContainsFunc(r.Steps, func(s *StepState) bool { return !s.settled() })
	r.PlanReviews.holdPlan(wait)
}

// applyChosen replaces the plan under review, of which no step has started.
func (r arranger) applyChosen(d event.PlanChosen) {
	r.Board.undefine(r.Plan.Variables)
	r.Permissions.ungateTools()
	r.Board.clear()
	r.applyPlan(event.PlanCreated{Plan: d.Plan, Revision: r.Revision})
}

// applyReviewed applies the outcome of a review. A refused plan is held again if
// the run is resumed.
func (r arranger) applyReviewed(d event.PlanReviewed) {
	reviewed := ReviewedPlan{PlanReviewed: d, At: r.Now}
	if d.Decision != event.ReviewRun {
		sentence := "the plan was refused: no step was run"
		if r.Usage.Steps > 0 {
			sentence = "the plan was refused: no further step was run"
		}
		if unasked(d.By) {
			sentence = "the plan waits for review, and " + d.By + "; resume the run on a terminal"
		}
		r.PlanReviews.record(reviewed, false)
		r.end(event.StatusFailed, event.ReasonDenied, sentence)
		return
	}
	if d.Plan != nil {
		reviewed.Out = r.takeReviewed(*d.Plan)
	}
	r.PlanReviews.record(reviewed, true)
	r.every(func(s *StepState) {
		s.postpone(r.Now)
	})
	for _, a := range d.Approved {
		if s := r.Step(a.Step); s != nil {
			s.approve(a.Args, r.facts(s.Step.Tool).Tool)
			r.enqueue(s)
		}
	}
}

// takeReviewed applies the user's changes to the plan, and returns the removed
// steps.
func (r arranger) takeReviewed(p plan.Plan) (out []StepState) {
	r.every(r.countAttempts)
	before := map[string]*StepState{}
	for _, s := range r.Steps {
		before[s.Step.Index] = s
	}
	if r.Revision == 1 {
		r.Meter.plan(len(p.Steps))
	}
	steps := make([]*StepState, 0, len(p.Steps))
	for _, step := range p.Steps {
		s := before[step.Index]
		if s == nil {
			s = newStep(step, r.attemptsBefore(step.Index))
		} else if !plan.EqualValues(s.Step.Args, step.Args) || !plan.SameTimes(s.Step, step) {
			r.Permissions.closeGate(s.Gate) // it was for a different call
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
				r.keepItems(s, items)
			}
		}
		steps = append(steps, s)
	}
	for _, s := range r.Steps {
		if before[s.Step.Index] == s {
			r.recorder.skip(s)
			r.Permissions.closeGate(s.Gate)
			out = append(out, *s)
		}
	}
	r.Board.take(p, r.Revision, steps)
	r.rebuildGraph()
	return out
}

// applySteered passes the user's remark to whoever is working: each model in a
// loop gets it with its next turn, otherwise the planner of the rest.
func (r arranger) applySteered(d event.RunSteered) {
	if loops := r.activeLoops(); len(loops) > 0 {
		for _, l := range loops {
			if !l.over() {
				l.remark(string(d.Text))
			}
		}
		return
	}
	r.Planning.keepMessages(string(d.Text))
	r.applyRemarks()
}
