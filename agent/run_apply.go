package agent

import (
	"errors"
	"fmt"
	"time"

	"replan/agent/event"
	"replan/planning"
	"replan/planning/prompt"
)

// ErrOutOfOrder reports that an event does not follow the events applied so far.
var ErrOutOfOrder = errors.New("event out of order")

// Apply applies one event to the run. It returns an error and changes nothing if
// the event does not follow. That is an event of another run or an unknown step,
// or one whose number is not above the last. So is a second start, and anything
// after the end.
func (r *Run) Apply(e event.Event) error {
	if err := r.follows(e); err != nil {
		return fmt.Errorf("apply event %d to run %q: %w", e.Seq, r.ID, err)
	}
	last := r.Clock.tick(e.Seq, e.Time)
	r.apply(e, last)
	r.settleLooks()
	r.closeElicitations()
	r.uncommittedFiles.note(e.Data, r.Steps, r.mayChange)
	return nil
}

// apply applies an event that follows; last is the time of the previous event.
//
//nolint:funlen,gocyclo // one case per kind
func (r *Run) apply(e event.Event, last time.Time) {
	to := r.services()
	switch d := e.Data.(type) {
	case event.RunStarted:
		r.applyStarted(e, d)
	case event.RunResumed:
		r.applyResumed(d, last)
	case event.RunPaused:
		r.Outcome.pause(d.Reason)
	case event.RunCompleted:
		r.applyCompleted(d)
	case event.RunUndone:
		r.Outcome.undo(d)
	case event.RunSpawned:
		r.applySpawned(d)
	case event.RunSteered:
		to.dialogue.applySteered(d)
	case event.JournalDamaged:
		r.applyDamaged()
	case event.TimerFired:
		r.applyTimer(d)
	case event.Note:
		r.Ledger.note(d)

	case event.PhaseStarted:
		to.planwriter.applyPhaseStarted(d)
	case event.PhaseDelta:
		r.Planning.streamPhase(d)
	case event.PhaseCompleted:
		to.planwriter.applyPhaseCompleted(d)
	case event.PhaseSkipped:
		r.Planning.skipPhase(d)
	case event.PhaseFailed:
		to.planwriter.applyPhaseFailed(d)
	case event.RouteMatched:
		r.Planning.matched(d)

	case event.PlanDrafting:
		to.drafter.applyDrafting(d)
	case event.PlanCreated:
		to.arranger.applyPlan(d)
		r.planned()
	case event.PlanEmpty:
		r.Planning.finish()
		r.end(event.StatusFailed, event.ReasonNoPlan, string(d.Reason))
	case event.PlanDiff:
		r.Outcome.planAgain()
		r.Acceptance.beginAcceptance()
		to.arranger.applyDiff(d)
		r.planned()
	case event.PlanChosen:
		to.arranger.applyChosen(d)
		r.planned()
	case event.PlanReviewed:
		to.approver.applyReviewed(d)
	case event.ReplanStarted:
		to.planwriter.applyReplan(d)
	case event.ReplanDelta:
		r.Planning.streamReplan(d)
	case event.ReplanRefused:
		r.Planning.refuse(d.Reason)
	case event.ModelReading:
		r.ModelCalls.reads(d, r.Now)

	case event.StepExpanded:
		to.expander.applyExpanded(d)
	case event.StepStarted:
		to.tracker.applyStepStarted(d)
	case event.StepProgress:
		if s := r.Step(d.Index); s != nil {
			s.progress(d)
		}
	case event.StepOutput:
		if s := r.Step(d.Index); s != nil {
			s.output(d.Chunk)
		}
	case event.StepCompleted:
		to.tracker.applyStepCompleted(d)
	case event.StepFailed:
		to.tracker.applyStepFailed(d)
	case event.StepRetry:
		to.tracker.applyStepRetry(d)
	case event.StepSkipped:
		to.tracker.applyStepSkipped(d)
	case event.StepInDoubt:
		r.OpenQuestions.found(d.Index, d.Attempt)
		to.tracker.applyStepInDoubt(d)
	case event.CheckCompleted:
		if d.Index == "" {
			r.applyAccepted(d)
		} else {
			to.tracker.applyCheck(d)
		}
	case event.DoubtResolved:
		to.decider.applyDoubtResolved(d)
	case event.FailureResolved:
		to.decider.applyFailureResolved(d)
	case event.GateRequested:
		to.gatekeeper.applyGateRequested(e, d)
	case event.GateResolved:
		to.gatekeeper.applyGateResolved(d)
	case event.ElicitationRequested:
		r.OpenQuestions.elicit(d)
	case event.ElicitationResolved:
		r.OpenQuestions.settle(d.ID)

	case event.BudgetWarned:
		r.Meter.warn(d.Guard)
		r.Ledger.warning(fmt.Sprintf("%s: %d of %d used", d.Guard, d.Used, d.Limit))
	case event.GuardWarned:
		r.applyGuardWarned(d)
	case event.GuardBlocked:
		r.Ledger.warning(string(d.Reason))
		r.end(event.StatusFailed, SpentReason(d.Guard), string(d.Reason))

	case event.ModelRequested:
		r.applyRequest(d)
	case event.ModelReplied:
		r.applyReply(d)
	case event.SynthesisStarted:
		to.dialogue.applySynthesisStarted(d)
	case event.SynthesisDelta:
		r.Outcome.stream(d)
	case event.SynthesisCompleted:
		to.dialogue.applySynthesis(d)
	}
}

// applyRequest records a request to a model outside the three phases.
func (r *Run) applyRequest(d event.ModelRequested) {
	to, s := r.services(), r.Step(d.Step)
	to.counter.asked(&Exchange{Purpose: d.Purpose, Step: d.Step, Attempt: d.Attempt, Request: d.Request})
	switch {
	case d.Purpose == prompt.PurposeChat:
		r.Conversations.chat().request(r.Now)
	case d.Attempt > 0:
		if s != nil && s.Loop != nil {
			if d.Purpose == prompt.PurposeAgent && s.Loop.Turns == 0 {
				s.notePartlySeen(d.Request.Partial) // it has seen these, although later turns have less room for them
			}
			s.Loop.request(r.Now)
			to.scheduler.enqueue(s)
		}
	case d.Purpose == prompt.PurposeStep && s != nil:
		s.notePartlySeen(d.Request.Partial)
		s.request().ask()
		to.scheduler.enqueue(s)
	default:
		to.planwriter.applyRequest()
	}
}

// applyReply records the reply to a request outside the three phases.
func (r *Run) applyReply(d event.ModelReplied) {
	to := r.services()
	to.counter.replied(Exchange{Purpose: d.Purpose, Step: d.Step, Attempt: d.Attempt, Reply: d.Reply, Error: d.Error})
	switch {
	case d.Purpose == prompt.PurposeChat:
		to.dialogue.applyChatTurn(d)
	case d.Attempt > 0:
		to.dialogue.applyTurn(d)
	case d.Purpose != prompt.PurposeStep:
		to.planwriter.applyReply(d)
	default:
		if s := r.Step(d.Step); s != nil {
			to.preparer.applyArgs(s, d)
			to.scheduler.enqueue(s)
		}
	}
}

// closeElicitations drops the questions whose call has ended, or whose step the plan
// no longer has.
func (r *Run) closeElicitations() {
	r.OpenQuestions.dropElicitations(func(q event.ElicitationRequested) bool {
		s := r.Step(q.Step)
		return r.Result != nil || s == nil || s.Status != StepRunning || s.Attempt != q.Attempt
	})
}

// applySpawned records the run that a plan tool call started.
func (r *Run) applySpawned(d event.RunSpawned) {
	if s := r.Step(d.Index); s != nil && s.Status == StepRunning && s.Attempt == d.Attempt {
		s.spawned(d.Run)
	}
}

// applyTimer releases what waited for the timer. A timer that fires too early,
// because the clock was set back, is requested again.
func (r *Run) applyTimer(d event.TimerFired) {
	if d.ID == event.GuardTime && r.Elapsed().Milliseconds() < r.Limits.MaxDurationMS {
		return
	}
	r.Clock.fire(d.ID)
	r.services().dialogue.applyDeadline(d.ID)
	waiting := r.queues.of(needTimer)
	if s := waiting.top(); s != nil && r.fired(s.retryTimer()) {
		r.services().scheduler.enqueue(s)
		return
	}
	for _, s := range waiting.all() {
		r.services().scheduler.enqueue(s)
	}
}

func (r *Run) applyCompleted(d event.RunCompleted) {
	result := d.Result
	if r.Chat != nil && r.Chat.over() {
		r.services().dialogue.keepRemarks(r.Chat)
	}
	r.Outcome.complete(result)
	r.Planning.stopReplan()
	r.Permissions.closeGates()
	r.OpenQuestions.closeAll()
	r.services().roster.every(func(s *StepState) {
		s.askUser(false)
		if s.Status == StepWaiting || s.Status == StepRunning && (s.Loop != nil || s.Items != nil) {
			s.leaveGate() // no one will answer it or continue
		}
	})
}

func (r *Run) applyGuardWarned(d event.GuardWarned) {
	what := d.Step
	if s := r.Step(d.Step); s != nil && d.Guard == event.GuardPerTool {
		what = r.facts(s.Step.Tool).Tool.QualifiedName()
	}
	r.Meter.warn(guardKey(d.Guard, what))
	r.Ledger.warning(string(d.Reason))
}

// follows returns an error if the event may not come next.
func (r *Run) follows(e event.Event) error {
	if e.Data == nil {
		return fmt.Errorf("it has no data: %w", ErrOutOfOrder)
	}
	_, starts := e.Data.(event.RunStarted)
	switch {
	case r.ID == "" && !starts:
		return fmt.Errorf("the run has not started: %w", ErrOutOfOrder)
	case r.ID != "" && starts:
		return fmt.Errorf("the run has started already: %w", ErrOutOfOrder)
	case r.ID != "" && e.Run != r.ID:
		return fmt.Errorf("it belongs to run %q: %w", e.Run, ErrOutOfOrder)
	case e.Seq <= r.Seq:
		return fmt.Errorf("the last one was %d: %w", r.Seq, ErrOutOfOrder)
	}
	if err := r.followsEnd(e.Data); err != nil {
		return err
	}
	if phase, ok := phaseOf(e.Data); ok && (phase < 1 || phase > len(r.Phases)) {
		return fmt.Errorf("there is no phase %d: %w", phase, ErrOutOfOrder)
	}
	if index, gate := gateOf(e.Data); gate != "" && !r.awaits(index, gate) {
		return fmt.Errorf("the call of gate %s is no longer planned: %w", gate, ErrOutOfOrder)
	}
	if err := r.followsPlan(e.Data); err != nil {
		return err
	}
	if index, ok := event.StepOf(e.Data); ok && r.Step(index) == nil && !r.hadAttempts(index) {
		return fmt.Errorf("the plan has no step %q: %w", index, ErrOutOfOrder)
	}
	return nil
}

// followsEnd checks that a run that is over is at most resumed or undone, and one
// that is undone at most redone.
func (r *Run) followsEnd(data event.Data) error {
	_, damaged := data.(event.JournalDamaged)
	_, resumes := data.(event.RunResumed)
	undo, undone := data.(event.RunUndone)
	switch {
	case damaged, undo.Redo && r.Undone != nil:
		return nil
	case undo.Redo:
		return fmt.Errorf("the run is not undone: %w", ErrOutOfOrder)
	case r.Undone != nil:
		return fmt.Errorf("the run is undone: %w", ErrOutOfOrder)
	case resumes && r.Result != nil && r.Result.Status == event.StatusCompleted && r.Unanswered() == "":
		return fmt.Errorf("the run is completed: nothing to resume: %w", ErrOutOfOrder)
	case r.Result != nil && !resumes && !undone:
		return fmt.Errorf("the run is over: %w", ErrOutOfOrder)
	default:
		return nil
	}
}

// followsPlan checks that a review or a start refers to the current plan.
func (r *Run) followsPlan(data event.Data) error {
	switch d := data.(type) {
	case event.PlanChosen:
		if !r.AwaitsReview() || r.Revision > 1 {
			return fmt.Errorf("no first plan waits for review: %w", ErrOutOfOrder)
		}
	case event.PlanReviewed:
		if !r.AwaitsReview() || d.Revision != r.Revision {
			return fmt.Errorf("revision %d of the plan does not wait for review: %w", d.Revision, ErrOutOfOrder)
		}
	case event.StepStarted:
		if r.Step(d.Index) == nil {
			return fmt.Errorf("the plan has no step %q to start: %w", d.Index, ErrOutOfOrder)
		}
	}
	return nil
}

// awaits reports whether the step has yet to pass this gate.
func (r *Run) awaits(index, gate string) bool {
	s := r.Step(index)
	return s != nil && s.Status == StepPending && !r.ends() && gate == r.services().caller.gateID(s) && (!s.isItem() || !s.held())
}

// gateOf returns the step and the gate that a preview event refers to.
func gateOf(d event.Data) (index, gate string) {
	switch d := d.(type) {
	case event.GateRequested:
		return d.Step, d.Gate
	case event.StepFailed:
		return d.Index, d.Gate
	default:
		return "", ""
	}
}

// phaseOf returns the phase that an event refers to.
func phaseOf(d event.Data) (int, bool) {
	switch d := d.(type) {
	case event.PhaseStarted:
		return d.Phase, true
	case event.PhaseDelta:
		return d.Phase, true
	case event.PhaseCompleted:
		return d.Phase, true
	case event.PhaseSkipped:
		return d.Phase, true
	case event.PhaseFailed:
		return d.Phase, true
	default:
		return 0, false
	}
}

func (r *Run) applyStarted(e event.Event, d event.RunStarted) {
	r.Terms.start(e.Run, d)
	r.Clock.start()
	granted, rules := grants(d.Rules)
	r.Permissions, r.Toolbox, r.Meter = newPermissions(granted), newToolbox(d.Catalog, rules), newMeter(d.Limits)
	r.Board, r.Conversations, r.uncommittedFiles = newBoard(), newConversations(d.Model, d.Prompting), uncommittedFiles{files: d.Dirty}
	r.ModelCalls.setWindow(d.Prompting.ContextWindow)
	if d.Plan != nil {
		r.Planning.begin(planning.Given(*d.Plan))
		return
	}
	r.services().planwriter.planGoal(d)
}

// applyDamaged treats every step with effects that could start here as started,
// so that a resume finds it in doubt. The lost line may have recorded its start.
func (r *Run) applyDamaged() {
	for _, action := range r.Next() {
		started, ok := action.Record.(event.StepStarted)
		if !ok {
			continue
		}
		if s := r.Step(started.Index); s != nil && !r.services().caller.repeatable(s) {
			r.services().tracker.applyStepStarted(started)
			s.interruption().startMayBeLost()
		}
	}
}
