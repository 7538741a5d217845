package agent

import (
	"slices"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
)

// arranger puts plans on the board: the first one, and those that replace it.
type arranger struct {
	steps       *roster
	tools       *Toolbox
	board       *Board
	ledger      *Ledger
	planning    *Planning
	permissions *Permissions
	clock       *Clock
	meter       *Meter
	origins     *origins
	drafter     *drafter
	expander    *expander
	decider     *decider
	recorder    *recorder
	scheduler   *scheduler
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
		r.drafter.adopt(drafts, early)
	}
	for _, s := range r.board.Steps {
		switch {
		case s.Status == StepCompleted && len(ChecksOf(s.Step)) > 0:
			r.scheduler.beginChecks(s)
		case s.Status == StepCompleted:
			r.board.bind(s)
		}
	}
	r.ledger.grow(len(steps))
	r.scheduler.rebuildGraph()
	if r.planning.Route != nil {
		r.scheduler.skipModelSteps()
	}
	for _, s := range r.board.Steps {
		if s.Status == StepFailed {
			r.decider.handleFailure(s)
		}
	}
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
	read := r.origins.textsRead()
	r.meter.closeRevision(r.board.Revision, r.ledger.History, r.tools.toolName)
	r.steps.every(r.board.countAttempts)
	r.board.revise(revision)
	r.planning.replanned()

	steps := make([]*StepState, 0, len(d.Plan.Steps))
	for _, step := range d.Plan.Steps {
		state := newStep(step, r.board.attemptsBefore(step.Index))
		before, stays := old[step.Index]
		switch {
		case stays && r.scheduler.onlyRechecks(before) && plan.SameWork(before.Step, step) && refersToFinished(step, old):
			state.keepWork(before)
			r.scheduler.beginChecks(state)
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
			state.author().plannedAfter(before.author().textsRead())
		}
		if stays && state.expands() && state.Items == nil && plan.SameWork(before.Step, step) {
			r.expander.keepItems(state, before.Items)
		}
		steps = append(steps, state)
	}
	r.board.take(d.Plan, d.Revision, steps)
	r.permissions.closeGates()
	r.ledger.grow(len(steps))
	r.scheduler.rebuildGraph()
}

// untrustedReads returns what a step of a new plan carries of the text its model had
// read. It returns nothing if the previous plan had the same call, written before
// anything was read.
func (r *arranger) untrustedReads(step plan.Step, before map[string]*StepState, read []rule.Provenance) []rule.Provenance {
	for _, s := range before {
		if len(s.author().textsRead()) == 0 && r.tools.toolName(s.Step.Tool) == r.tools.toolName(step.Tool) && plan.EqualValues(s.Step.Args, step.Args) {
			return nil
		}
	}
	return read
}

// applyChosen replaces the plan under review, of which no step has started.
func (r *arranger) applyChosen(d event.PlanChosen) {
	r.board.undefine(r.board.Plan.Variables)
	r.permissions.ungateTools()
	r.board.clear()
	r.applyPlan(event.PlanCreated{Plan: d.Plan, Revision: r.board.Revision})
}

// refersToFinished reports whether the results that the args of a step refer to are
// there already. A new plan then cannot change what they mean.
func refersToFinished(step plan.Step, old map[string]*StepState) bool {
	finished := map[string]bool{}
	for _, s := range old {
		if name := s.Step.ResultVariable; name != "" {
			finished[name] = s.Status == StepCompleted
		}
	}
	return !slices.ContainsFunc(plan.References(step.Args), func(ref plan.Reference) bool {
		done, result := finished[ref.Name]
		return result && !done
	})
}
