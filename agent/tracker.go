package agent

import (
	"cmp"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// tracker applies what happens to steps and their calls.
type tracker struct {
	steps       *roster
	permissions *Permissions
	clock       *Clock
	counter     *counter
	dialogue    *dialogue
	drafter     *drafter
	decider     *decider
	recorder    *recorder
	scheduler   *scheduler
}

// applyStepRetry makes a failed step wait for its next attempt.
func (r *tracker) applyStepRetry(d event.StepRetry) {
	s := r.steps.step(d.Index)
	if s == nil {
		return
	}
	if s.retry(d) { // what it waits for does not hold yet
		r.recorder.takeBack(s, d.Attempt)
	}
	r.recorder.retryAt(s, d.At)
	r.scheduler.enqueue(s)
}

// applyStepSkipped skips a step and its dependents.
func (r *tracker) applyStepSkipped(d event.StepSkipped) {
	s := r.steps.step(d.Index)
	if s == nil {
		return
	}
	notTaken := s.skipped(d)
	r.recorder.record(s, plan.ItemSkipped)
	r.scheduler.enqueue(s)
	if notTaken {
		r.scheduler.releaseNotTaken(s)
		return
	}
	r.scheduler.skipDependents(s)
}

// applyStepInDoubt asks about a step that may have taken effect.
func (r *tracker) applyStepInDoubt(d event.StepInDoubt) {
	s := r.back(d.Index, d.Attempt)
	if s == nil {
		return
	}
	s.doubt(d)
	r.recorder.endAttempt(s, d.Attempt)
	r.recorder.record(s, plan.ItemInDoubt)
	r.decider.ask(s)
	r.scheduler.enqueue(s)
}

// applyStepCompleted stores the result of an attempt.
func (r *tracker) applyStepCompleted(d event.StepCompleted) {
	if s := r.steps.step(d.Index); d.DryRun && (s == nil || s.Status == StepPending) {
		r.applyDry(d)
		return
	}
	s := r.back(d.Index, d.Attempt)
	if s == nil {
		r.recorder.endOrphan(d.Index, d.Attempt, StepCompleted, d.MS)
		return
	}
	s.complete(d)
	r.recorder.endAttempt(s, d.Attempt)
	if d.Reply != nil {
		r.counter.repliedToStep(Exchange{Purpose: prompt.PurposeStep, Step: d.Index, Attempt: d.Attempt, Reply: *d.Reply})
	}
	r.counter.spend(s.account(d.Run, d.Usage))
	r.recorder.record(s, plan.ItemCompleted)
	switch {
	case s.byModel():
		r.dialogue.settleCall(s)
	case s.Draft:
		r.drafter.readyDrafts()
	case len(ChecksOf(s.Step)) > 0:
		r.scheduler.beginChecks(s)
		r.dialogue.leaveLoop(s)
		r.scheduler.enqueue(s)
	default:
		r.scheduler.release(s)
		r.dialogue.leaveLoop(s)
		r.scheduler.enqueue(s) // a sub-agent was waiting here with its answer
	}
}

func (r *tracker) applyStepStarted(d event.StepStarted) {
	s := r.steps.step(d.Index)
	s.start(d, r.clock.Now, r.clock.Elapsed())
	r.recorder.begin(s, d.Rule)
	r.scheduler.overtake(s)
	if s.Polls == 0 { // the calls of a step that waits are one execution
		r.counter.begins(s)
	}
	if s.byModel() {
		s.inner().count(s.Step.Tool, d.Args)
	}
	switch d.Executor {
	case plan.ExecutorTool:
		r.counter.callStarts(d.Index, d.Attempt, d.Tool)
	case plan.ExecutorAgent:
		r.dialogue.beginLoop(s)
	default:
		if d.Request == nil {
			r.counter.asked(nil)
			break
		}
		s.notePartlySeen(d.Request.Partial)
		r.counter.asked(&Exchange{Purpose: d.Request.Purpose, Step: d.Index, Attempt: d.Attempt, Request: *d.Request})
	}
	r.scheduler.enqueue(s)
}

// applyDry completes a step of a dry run without a call.
func (r *tracker) applyDry(d event.StepCompleted) {
	s := r.steps.step(d.Index)
	if s == nil || s.Status != StepPending {
		return
	}
	s.completeDry(d)
	r.counter.begins(s)
	if s.Step.Executor == plan.ExecutorTool {
		r.counter.callIsDry(s.Step.Tool)
	}
	r.recorder.record(s, plan.ItemCompleted)
	if s.byModel() {
		s.inner().conversation().countCall(s.Step.Tool, d.Args)
		r.dialogue.settleCall(s)
	} else {
		r.scheduler.release(s)
	}
	r.scheduler.enqueue(s)
}

// back marks an attempt as no longer in flight and returns its step, or nil if
// the plan has changed since.
func (r *tracker) back(index string, number int) *StepState {
	s := r.steps.step(index)
	current := s != nil && s.Status == StepRunning && s.Attempt == number
	r.counter.returned(index, number, current && s.Step.Executor == plan.ExecutorSelf && !s.expands())
	if !current {
		return nil
	}
	return s
}

func (r *tracker) applyStepFailed(d event.StepFailed) {
	if s := r.steps.step(d.Index); s != nil && s.Status == StepChecking && (d.Failure == event.FailureCheck || d.Failure == event.FailureTimeout) {
		r.applyRefuted(s, d)
		return
	}
	s := r.back(d.Index, d.Attempt)
	if s == nil {
		// It failed before it started. It still counts as an attempt, so that a
		// plan that cannot be executed uses up its budget.
		s = r.steps.step(d.Index)
		if s == nil || s.Status == StepCompleted || s.attemptsTotal() >= d.Attempt {
			r.recorder.endOrphan(d.Index, d.Attempt, StepFailed, d.MS)
			return
		}
		s.failBeforeStart(d.Attempt)
		r.counter.begins(s)
		r.permissions.closeGate(s.Gate)
	}
	if s.Step.Executor == plan.ExecutorSelf && !s.expands() {
		d.Reply = cmp.Or(d.Reply, &reply.Reply{MS: d.MS})
	}
	if d.Reply != nil {
		r.counter.repliedToStep(Exchange{Purpose: prompt.PurposeStep, Step: d.Index, Attempt: d.Attempt, Reply: *d.Reply, Error: d.Error})
	}
	r.counter.spend(s.account(d.Run, d.Usage))
	s.fail(d)
	r.recorder.endAttempt(s, d.Attempt)
	if s.heldBack(d) {
		r.holdBack(s)
		return
	}
	r.recorder.record(s, plan.ItemFailed)
	switch {
	case s.byModel():
		r.dialogue.handleCallFailure(s)
	case !s.Draft:
		r.decider.handleFailure(s)
	}
	r.dialogue.leaveLoop(s)
	r.scheduler.enqueue(s)
}

// holdBack lets a call that its tool refused to run wait for its gate. Nothing was done, so no
// budget counts it.
func (r *tracker) holdBack(s *StepState) {
	r.counter.takeBack(s)
	if s.byModel() {
		s.inner().uncount(s.Step.Tool, s.Args)
	}
	r.scheduler.enqueue(s)
}

// applyCheck records a check, and ends its step if it was the last one and all hold.
func (r *tracker) applyCheck(d event.CheckCompleted) {
	s := r.steps.step(d.Index)
	if s == nil || s.Status != StepChecking || s.Attempt != d.Attempt || d.Check != len(s.Checked)+1 {
		return
	}
	r.counter.checkCalled(d.Tool)
	s.check(d, r.clock.Seq)
	if !subjectOf(s).over() || refutation(s.Checked) != "" {
		r.scheduler.enqueue(s)
		return
	}
	s.completeChecked()
	r.recorder.amend(s, plan.ItemCompleted)
	r.scheduler.release(s)
	r.scheduler.enqueue(s)
}

// applyRefuted fails a step whose work is done, but not what was expected of it.
func (r *tracker) applyRefuted(s *StepState, d event.StepFailed) {
	s.refute(d)
	r.recorder.amend(s, plan.ItemFailed)
	r.decider.handleFailure(s)
	r.scheduler.enqueue(s)
}
