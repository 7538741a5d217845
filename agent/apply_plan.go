package agent

import (
	"slices"
	"strings"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// applyPlan applies the first plan. A step started while the plan streamed in is
// adopted if its tool, args and dependencies are unchanged.
func (r *Run) applyPlan(d event.PlanCreated) {
	drafts := r.Steps
	r.roster().every(r.countAttempts)
	r.Board.first(d.Drafts, r.Now)
	r.Planning.finish()
	r.Meter.plan(len(d.Plan.Steps))
	if len(d.Drafts) > 0 {
		r.Planning.completeDrafts()
	}
	r.Board.define(d.Plan.Variables)
	early := r.Ledger.restart()
	steps := make([]*StepState, 0, len(d.Plan.Steps))
	states := make([]StepState, len(d.Plan.Steps)) // one allocation, since plans can be long
	for i, step := range d.Plan.Steps {
		state := &states[i]
		*state = *newStep(step, r.attemptsBefore(step.Index))
		state.author.readBefore(r.origins().authorRead(step))
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
	r.scheduler().rebuildGraph()
	r.scheduler().cutWordless()
	for _, s := range r.Steps {
		if s.Status == StepFailed {
			r.deal(s)
		}
	}
	r.hold()
	r.dialogue().heed()
}

func (r *Run) applyReplan(d event.ReplanStarted) {
	r.Meter.replan()
	r.Planning.replan(d, r.Now)
	why := string(d.Error)
	if d.Step == "" && r.Planning.onlyRemark() {
		why = "" // the replan comes only from the user's remark
	}
	r.Planning.begin(r.makers().Replan(r.briefing().brief(), prompt.Situation{
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
func (r *Run) applyDiff(d event.PlanDiff) {
	revision := Revision{Number: d.Revision, Reason: d.Reason, Added: d.Added, Revised: d.Revised, AskedAt: r.Now, At: r.Now, PreviousSteps: r.Steps}
	if asked := r.Replanning; asked != nil {
		revision.Step, revision.UserRequest, revision.AskedAt = asked.Step, asked.UserRequest, asked.StartedAt
	}
	r.recorder().dropAttempts()
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
	read := r.origins().hasRead()
	r.Meter.closeRevision(r.Revision, r.History, r.toolName)
	r.roster().every(r.countAttempts)
	r.Board.revise(revision)
	r.Planning.replanned()
	r.Outcome.planAgain()
	r.Acceptance.beginAcceptance()

	steps := make([]*StepState, 0, len(d.Plan.Steps))
	for _, step := range d.Plan.Steps {
		state := newStep(step, r.attemptsBefore(step.Index))
		before, stays := old[step.Index]
		switch {
		case stays && r.scheduler().onlyRechecks(before) && plan.SameWork(before.Step, step) && r.refersToFinished(step, old):
			state.copyState(before, step)
			r.beginChecks(state)
		case slices.Contains(d.Added, step.Index):
			state.change(ChangeAdded)
			state.author.readBefore(r.origins().unsaid(step, old, read))
		case slices.Contains(d.Revised, step.Index):
			state.change(ChangeRevised)
			state.author.readBefore(r.origins().unsaid(step, old, read))
		case stays && before.Status == StepCompleted:
			// Only completed steps stay unchanged. A reference may now mean
			// another result, so earlier approvals of pending calls no longer
			// hold.
			state.copyState(before, step)
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
	r.scheduler().rebuildGraph()
	r.hold()
	r.dialogue().heed()
}

func (r *Run) applyPhaseStarted(d event.PhaseStarted) {
	r.Planning.startPhase(d.Phase, d.Request.Draft, r.Now)
	r.flight.modelStarts()
	r.ModelCalls.asked(&Exchange{Purpose: prompt.Purpose(d.Label), Request: d.Request}, r.Now)
	r.undraft()
}

func (r *Run) applyPhaseCompleted(d event.PhaseCompleted) {
	r.Planning.completePhase(d)
	r.ModelCalls.replied(Exchange{Purpose: prompt.Purpose(d.Label), Reply: d.Reply}, r.modelTerms())
	r.modelReplies(d.Reply)
}

func (r *Run) applyPhaseFailed(d event.PhaseFailed) {
	r.Planning.failPhase(d, r.Now)
	r.ModelCalls.replied(Exchange{Purpose: prompt.Purpose(d.Label), Reply: d.Reply, Error: d.Reason}, r.modelTerms())
	r.modelFails(d.Failure, string(d.Reason), d.Reply)
}

func (r *Run) applySynthesisStarted(d event.SynthesisStarted) {
	r.Planning.finish()
	r.Outcome.beginAnswer(d, r.Now)
	r.flight.modelStarts()
	r.ModelCalls.asked(&Exchange{Purpose: d.Request.Purpose, Request: d.Request}, r.Now)
	if d.Direct {
		r.dialogue().takeRemarks()
	}
}

// applySynthesis takes the answer of the model. An empty one does not count.
func (r *Run) applySynthesis(d event.SynthesisCompleted) {
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
	promised := d.Error == "" && r.Synthesis.Direct && r.Chat.onlyPromises(d.Reply) && len(prompt.ChatTools(r.briefing().brief())) > 0
	silent := d.Error == "" && strings.TrimSpace(string(d.Text)) == ""
	switch {
	case !r.Synthesis.Direct:
	case d.Error == "" && len(r.dialogue().remarks()) > 0:
		r.dialogue().hearMore(d.Reply)
		return
	case promised, silent && r.Conversations.chat().bearsAStall():
		r.Outcome.continueAnswer()
		r.dialogue().handleReply(r.Conversations.chat(), d.Reply)
		return
	}
	r.Outcome.finishAnswer(d)
}
