package agent

import (
	"slices"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// arranger puts plans on the board: the first one, those that replace it, and those that a
// review has changed.
type arranger struct {
	tracker       *tracker
	dialogue      *dialogue
	scheduler     *scheduler
	caller        *caller
	origins       *origins
	guards        *guards
	briefing      *briefing
	recorder      *recorder
	steps         *roster
	terms         *Terms
	tools         *Toolbox
	board         *Board
	ledger        *Ledger
	planning      *Planning
	outcome       *Outcome
	conversations *Conversations
	models        *ModelCalls
	permissions   *Permissions
	acceptance    *Acceptance
	reviews       *PlanReviews
	flight        *flight
	clock         *Clock
	meter         *Meter
}

// applyPlan applies the first plan. A step started while the plan streamed in is
// adopted if its tool, args and dependencies are unchanged.
func (r *arranger) applyPlan(d event.PlanCreated) {
	drafts := r.board.Steps
	r.steps.every(r.board.countAttempts)
	r.board.first(r.clock.Now)
	r.planning.finish()
	r.meter.plan(len(d.Plan.Steps))
	r.board.define(d.Plan.Variables)
	early := r.ledger.restart()
	steps := make([]*StepState, 0, len(d.Plan.Steps))
	states := make([]StepState, len(d.Plan.Steps)) // one allocation, since plans can be long
	for i, step := range d.Plan.Steps {
		state := &states[i]
		*state = *newStep(step, r.board.attemptsBefore(step.Index))
		state.author().plannedAfter(r.origins.authorRead(step))
		steps = append(steps, state)
	}
	r.board.take(d.Plan, d.Revision, steps)
	if len(drafts) > 0 {
		r.adopt(drafts, early)
	}
	for _, s := range r.board.Steps {
		switch {
		case s.Status == StepCompleted && len(ChecksOf(s.Step)) > 0:
			r.tracker.beginChecks(s)
		case s.Status == StepCompleted:
			r.board.bind(s)
		}
	}
	r.scheduler.rebuildGraph()
	r.scheduler.skipModelSteps()
	for _, s := range r.board.Steps {
		if s.Status == StepFailed {
			r.tracker.handleFailure(s)
		}
	}
	r.hold()
	r.dialogue.applyRemarks()
}

func (r *arranger) applyReplan(d event.ReplanStarted) {
	r.meter.replan()
	r.planning.replan(d, r.clock.Now)
	why := string(d.Error)
	if d.Step == "" && r.planning.onlyRemark() {
		why = "" // the replan comes only from the user's remark
	}
	r.planning.begin(r.planning.makers().Replan(r.briefing.brief(), prompt.Situation{
		Remarks:     string(d.Request),
		Plan:        r.board.Plan,
		History:     r.ledger.History,
		Finished:    r.board.finished(),
		Remaining:   r.board.remaining(),
		Attempt:     d.Attempt,
		Failed:      d.Step,
		Error:       why,
		StepsLeft:   r.meter.stepsLeft(),
		ReplansLeft: r.meter.replansLeft(),
	}))
}

// applyDiff applies a new plan for the remaining steps.
func (r *arranger) applyDiff(d event.PlanDiff) {
	revision := Revision{Number: d.Revision, Reason: d.Reason, Added: d.Added, Revised: d.Revised, AskedAt: r.clock.Now, At: r.clock.Now, PreviousSteps: r.board.Steps}
	if asked := r.planning.Replanning; asked != nil {
		revision.Step, revision.UserRequest, revision.AskedAt = asked.Step, asked.UserRequest, asked.StartedAt
	}
	r.recorder.dropAttempts()
	old := map[string]*StepState{}
	last := ""
	for _, s := range r.board.Steps {
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
	read := r.origins.hasRead()
	r.meter.closeRevision(r.board.Revision, r.ledger.History, r.tools.toolName)
	r.steps.every(r.board.countAttempts)
	r.board.revise(revision)
	r.planning.replanned()
	r.outcome.planAgain()
	r.acceptance.beginAcceptance()

	steps := make([]*StepState, 0, len(d.Plan.Steps))
	for _, step := range d.Plan.Steps {
		state := newStep(step, r.board.attemptsBefore(step.Index))
		before, stays := old[step.Index]
		switch {
		case stays && r.scheduler.onlyRechecks(before) && plan.SameWork(before.Step, step) && r.tracker.refersToFinished(step, old):
			state.keepWork(before)
			r.tracker.beginChecks(state)
		case slices.Contains(d.Added, step.Index):
			state.revised(ChangeAdded, r.untrustedReads(step, old, read))
		case slices.Contains(d.Revised, step.Index):
			state.revised(ChangeRevised, r.untrustedReads(step, old, read))
		case stays && before.Status == StepCompleted:
			// Only completed steps stay unchanged. A reference may now mean
			// another result, so earlier approvals of pending calls no longer
			// hold.
			state.keepWork(before)
			r.board.bind(state) // the result may have a new name
		case stays:
			state.author().replannedLike(before.author())
			state.author().plannedAfter(before.author().hasRead())
		}
		if stays && state.expands() && state.Items == nil && plan.SameWork(before.Step, step) {
			r.tracker.keepItems(state, before.Items)
		}
		steps = append(steps, state)
	}
	r.board.take(d.Plan, d.Revision, steps)
	r.permissions.closeGates()
	r.scheduler.rebuildGraph()
	r.hold()
	r.dialogue.applyRemarks()
}

// untrustedReads returns what a step of a new plan carries of the text its model had
// read. It returns nothing if the previous plan had the same call, written before
// anything was read.
func (r *arranger) untrustedReads(step plan.Step, before map[string]*StepState, read []rule.Provenance) []rule.Provenance {
	for _, s := range before {
		if len(s.author().hasRead()) == 0 && r.tools.toolName(s.Step.Tool) == r.tools.toolName(step.Tool) && plan.EqualValues(s.Step.Args, step.Args) {
			return nil
		}
	}
	return read
}

// hold stops the plan for review, if a review is required and any steps are left.
func (r *arranger) hold() {
	wait := r.terms.ReviewsPlans() && !r.terms.PlanOnly() && !r.terms.DryRun() && slices.ContainsFunc(r.board.Steps, func(s *StepState) bool { return !s.settled() })
	r.reviews.holdPlan(wait)
}

// applyChosen replaces the plan under review, of which no step has started.
func (r *arranger) applyChosen(d event.PlanChosen) {
	r.board.undefine(r.board.Plan.Variables)
	r.permissions.ungateTools()
	r.board.clear()
	r.applyPlan(event.PlanCreated{Plan: d.Plan, Revision: r.board.Revision})
}

// applyReviewed applies the outcome of a review. A refused plan is held again if
// the run is resumed.
func (r *arranger) applyReviewed(d event.PlanReviewed) {
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
		if s := r.steps.Step(a.Step); s != nil {
			s.gate().approve(r.tools.facts(s.Step.Tool).Tool, a.Args, s.nextAttempt())
			r.scheduler.enqueue(s)
		}
	}
}

// takeReviewed applies the user's changes to the plan, and returns the removed
// steps.
func (r *arranger) takeReviewed(p plan.Plan) (out []StepState) {
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
				r.tracker.keepItems(s, items)
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

// applySteered passes the user's remark to whoever is working: each model in a
// loop gets it with its next turn, otherwise the planner of the rest.
func (r *arranger) applySteered(d event.RunSteered) {
	if loops := r.steps.activeLoops(); len(loops) > 0 {
		for _, l := range loops {
			if !l.over() {
				l.remark(string(d.Text))
			}
		}
		return
	}
	r.planning.keepMessages(string(d.Text))
	r.dialogue.applyRemarks()
}
