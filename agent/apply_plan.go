package agent

import (
	"maps"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// applyPlan applies the first plan. A step started while the plan streamed in is
// adopted if its tool, args and dependencies are unchanged.
func (r fold) applyPlan(d event.PlanCreated) {
	drafts := r.Steps
	r.countAttempts()
	r.Plan, r.Revision, r.PlannedAt = d.Plan, d.Revision, r.Now
	r.Planning.finish()
	r.Meter.plan(len(d.Plan.Steps))
	if r.Drafts = d.Drafts; len(d.Drafts) > 0 {
		r.Planning.completeDrafts()
	}
	maps.Copy(r.variables, d.Plan.Variables)
	early := r.History
	r.History = nil
	r.Steps = make([]*StepState, 0, len(d.Plan.Steps))
	states := make([]StepState, len(d.Plan.Steps)) // one allocation, since plans can be long
	for i, step := range d.Plan.Steps {
		state := &states[i]
		state.Step, state.Status, state.attempts = step, StepPending, r.attemptsBefore(step.Index)
		state.author.read = r.authorRead(step)
		r.Steps = append(r.Steps, state)
	}
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
	r.cutWordless()
	for _, s := range r.Steps {
		if s.Status == StepFailed {
			r.deal(s)
		}
	}
	r.hold()
	r.heed()
}

// attemptsBefore counts the attempts under an index before the current plan.
func (r *Run) attemptsBefore(index string) attemptCount {
	n := r.attempts[index]
	return attemptCount{total: n, before: n}
}

// countAttempts saves the attempt counts of the steps that another plan replaces.
func (r ledger) countAttempts() {
	r.every(func(s *StepState) {
		if n := s.attempts.total; n > r.attempts[s.Step.Index] {
			r.attempts[s.Step.Index] = n
		}
	})
}

func (r fold) applyReplan(d event.ReplanStarted) {
	r.Meter.replan()
	r.Planning.replan(d, r.Now)
	why := string(d.Error)
	if d.Step == "" && r.Planning.onlyRemark() {
		why = "" // the replan comes only from the user's remark
	}
	r.Planning.begin(r.planners().Replan(r.brief(), prompt.Situation{
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

// finished returns the steps that a replan must not change.
func (r fold) finished() map[string]bool {
	done := map[string]bool{}
	for _, s := range r.Steps {
		if s.Status == StepCompleted {
			done[s.Step.Index] = true
		}
	}
	return done
}

// remaining returns the steps that a replan may change, in plan order.
func (r *Run) remaining() []plan.Step {
	var out []plan.Step
	for _, s := range r.Steps {
		if s.Status != StepCompleted {
			out = append(out, s.Step)
		}
	}
	return out
}

// applyDiff applies a new plan for the remaining steps.
func (r fold) applyDiff(d event.PlanDiff) {
	revision := Revision{Number: d.Revision, Reason: d.Reason, Added: d.Added, Revised: d.Revised, AskedAt: r.Now, At: r.Now, PreviousSteps: r.Steps}
	if asked := r.Replanning; asked != nil {
		revision.Step, revision.UserRequest, revision.AskedAt = asked.Step, asked.UserRequest, asked.StartedAt
	}
	r.dropAttempts()
	old := map[string]*StepState{}
	last := ""
	for _, s := range r.Steps {
		old[s.Step.Index] = s
		s.Change = ChangeNone
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
	r.countAttempts()
	r.Revisions = append(r.Revisions, revision)
	r.Plan, r.Revision = d.Plan, d.Revision
	r.Planning.replanned()
	r.Outcome.planAgain()
	r.Acceptance.beginAcceptance()

	r.Steps = make([]*StepState, 0, len(d.Plan.Steps))
	for _, step := range d.Plan.Steps {
		state := &StepState{Step: step, Status: StepPending, attempts: r.attemptsBefore(step.Index)}
		before, stays := old[step.Index]
		switch {
		case stays && r.onlyRechecks(before) && plan.SameWork(before.Step, step) && r.refersToFinished(step, old):
			*state = *before
			state.Step = step
			r.beginChecks(state)
		case slices.Contains(d.Added, step.Index):
			state.Change, state.replanned, state.author.read = ChangeAdded, true, r.unsaid(step, old, read)
		case slices.Contains(d.Revised, step.Index):
			state.Change, state.replanned, state.author.read = ChangeRevised, true, r.unsaid(step, old, read)
		case stays && before.Status == StepCompleted:
			// Only completed steps stay unchanged. A reference may now mean
			// another result, so earlier approvals of pending calls no longer
			// hold.
			*state = *before
			state.Step = step
			r.bind(state) // the result may have a new name
		case stays:
			state.replanned, state.author.read = before.replanned, before.author.read
		}
		if stays && state.expands() && state.Items == nil && plan.SameWork(before.Step, step) {
			r.keepItems(state, before.Items)
		}
		r.Steps = append(r.Steps, state)
	}
	r.Permissions.closeGates()
	r.rebuildGraph()
	r.hold()
	r.heed()
}

func (r fold) applyPhaseStarted(d event.PhaseStarted) {
	r.Planning.startPhase(d.Phase, d.Request.Draft, r.Now)
	r.flight.modelStarts()
	r.ModelCalls.asked(&Exchange{Purpose: prompt.Purpose(d.Label), Request: d.Request}, r.Now)
	r.undraft()
}

func (r fold) applyPhaseCompleted(d event.PhaseCompleted) {
	r.Planning.completePhase(d)
	r.ModelCalls.replied(Exchange{Purpose: prompt.Purpose(d.Label), Reply: d.Reply}, r.modelTerms())
	r.modelReplies(d.Reply)
}

func (r fold) applyPhaseFailed(d event.PhaseFailed) {
	r.Planning.failPhase(d, r.Now)
	r.ModelCalls.replied(Exchange{Purpose: prompt.Purpose(d.Label), Reply: d.Reply, Error: d.Reason}, r.modelTerms())
	r.modelFails(d.Failure, string(d.Reason), d.Reply)
}

func (r fold) applySynthesisStarted(d event.SynthesisStarted) {
	r.Planning.finish()
	r.Outcome.beginAnswer(d, r.Now)
	r.flight.modelStarts()
	r.ModelCalls.asked(&Exchange{Purpose: d.Request.Purpose, Request: d.Request}, r.Now)
	if d.Direct {
		r.takeRemarks()
	}
}

// applySynthesis takes the answer of the model. An empty one does not count.
func (r fold) applySynthesis(d event.SynthesisCompleted) {
	r.flight.modelReturns()
	r.Meter.reply(d.Reply)
	purpose := prompt.PurposeSynthesis
	if r.Synthesis.Direct {
		purpose = prompt.PurposeChat
	}
	r.ModelCalls.replied(Exchange{Purpose: purpose, Reply: d.Reply, Error: d.Error}, r.modelTerms())
	if r.Chat != nil {
		r.Chat.interrupt()
	}
	promised := d.Error == "" && r.Synthesis.Direct && r.Chat.onlyPromises(d.Reply) && len(prompt.ChatTools(r.brief())) > 0
	silent := d.Error == "" && strings.TrimSpace(string(d.Text)) == ""
	switch {
	case !r.Synthesis.Direct:
	case d.Error == "" && len(r.remarks()) > 0:
		r.hearMore(d.Reply)
		return
	case promised, silent && r.Conversations.chat().bearsAStall():
		r.Outcome.continueAnswer()
		r.handleReply(r.Conversations.chat(), d.Reply)
		return
	}
	r.Outcome.finishAnswer(d)
}
