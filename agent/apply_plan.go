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
	r.Plan, r.Revision, r.pipeline, r.PlannedAt = d.Plan, d.Revision, nil, r.Now
	r.Meter.plan(len(d.Plan.Steps))
	if r.Drafts = d.Drafts; len(d.Drafts) > 0 {
		plan := &r.Phases[2]
		plan.Status, plan.Reason = PhaseCompleted, "" // even if the last draft failed
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
	r.Replanning = &Replanning{Attempt: d.Attempt, Step: d.Step, Error: d.Error, UserRequest: string(d.Request), StartedAt: r.Now}
	why := string(d.Error)
	if d.Step == "" && (r.failure == nil || r.failure.isRemark()) {
		why = "" // the replan comes only from the user's remark
	}
	r.pipeline = r.planners().Replan(r.brief(), prompt.Situation{
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
	})
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
	r.closeRevision(r.Revision, r.History, r.toolName)
	r.countAttempts()
	r.Revisions = append(r.Revisions, revision)
	r.Plan, r.Revision = d.Plan, d.Revision
	r.pipeline, r.Replanning, r.failure, r.answering = nil, nil, nil, false
	r.beginAcceptance()

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
	r.closeGates()
	r.rebuildGraph()
	r.hold()
	r.heed()
}

func (r fold) applyPhaseStarted(d event.PhaseStarted) {
	begun := Phase{Status: PhaseRunning, StartedAt: r.Now, Draft: d.Request.Draft}
	if before := r.Phases[d.Phase-1]; d.Request.Draft.Further() && !before.StartedAt.IsZero() {
		begun.StartedAt, begun.MS, begun.Tokens = before.StartedAt, before.MS, before.Tokens
	}
	r.Phases[d.Phase-1] = begun
	r.plannerAsked = true
	r.flight.modelStarts()
	r.asked(&Exchange{Purpose: prompt.Purpose(d.Label), Request: d.Request}, r.Now)
	r.undraft()
}

func (r fold) applyPhaseCompleted(d event.PhaseCompleted) {
	p := &r.Phases[d.Phase-1]
	p.Status, p.MS, p.Tokens = PhaseCompleted, p.MS+d.MS, p.Tokens+d.Tokens
	p.Text, p.Thinking = d.Reply.Text, d.Reply.Thinking
	r.replied(Exchange{Purpose: prompt.Purpose(d.Label), Reply: d.Reply}, r.modelTerms())
	r.absorb(d.Reply)
}

func (r fold) applyPhaseFailed(d event.PhaseFailed) {
	p := &r.Phases[d.Phase-1]
	p.Status, p.Reason, p.MS = PhaseFailed, d.Reason, r.Now.Sub(p.StartedAt).Milliseconds()
	r.replied(Exchange{Purpose: prompt.Purpose(d.Label), Reply: d.Reply, Error: d.Reason}, r.modelTerms())
	r.unanswered(d.Failure, string(d.Reason), d.Reply)
}

// applyReplanRefused records why the planner's answer was refused. After a failed
// step the planner gets another request; if only the user asked for a replan, the
// plan stays.
func (r fold) applyReplanRefused(d event.ReplanRefused) {
	r.pipeline, r.Replanning = nil, nil
	switch {
	case r.failure == nil:
	case r.failure.isRemark():
		r.failure = nil
	default:
		r.failure.error += "\nThe last answer was refused: " + string(d.Reason)
	}
}

func (r fold) applySynthesisStarted(d event.SynthesisStarted) {
	r.pipeline = nil
	r.Synthesis = Synthesis{Started: true, Direct: d.Direct, StartedAt: r.Now, held: len(d.Request.Format) > 0}
	r.answering = !d.Direct
	r.flight.modelStarts()
	r.asked(&Exchange{Purpose: d.Request.Purpose, Request: d.Request}, r.Now)
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
	r.replied(Exchange{Purpose: purpose, Reply: d.Reply, Error: d.Error}, r.modelTerms())
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
	case promised, silent && r.chat().bearsAStall():
		r.Synthesis.Text, r.Synthesis.Thinking = "", ""
		r.handleReply(r.chat(), d.Reply)
		return
	}
	r.Synthesis.Done, r.Synthesis.MS, r.Synthesis.Text = true, d.Reply.MS, string(d.Text)
	r.Synthesis.Error = d.Error
	r.Synthesis.misplaced = d.Error != "" && !r.Synthesis.Direct && !r.Synthesis.held && d.Text == "" && d.Reply.Text != "" && !d.Reply.CutOff
	if silent {
		r.Synthesis.Error = "the model's reply was empty"
	}
}
