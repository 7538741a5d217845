package agent

import (
	"errors"
	"fmt"
	"time"

	"replan/agent/event"
	"replan/planning"
)

// ErrOutOfOrder reports that an event does not follow the events applied so far.
var ErrOutOfOrder = errors.New("event out of order")

// Apply applies one event to the run. It returns an error and changes nothing if
// the event does not follow. That is an event of another run, one whose number is
// not above the last, a second start, anything after the end, or an unknown step.
func (r *Run) Apply(e event.Event) error {
	if err := r.follows(e); err != nil {
		return fmt.Errorf("apply event %d to run %q: %w", e.Seq, r.ID, err)
	}
	last := r.Clock.tick(e.Seq, e.Time)
	r.apply(e, last)
	if len(r.Planning.looks()) > 0 {
		r.arranger().settleLooks()
	}
	r.closeElicitations()
	r.uncommittedFiles.note(e.Data, r.Steps, r.mayChange)
	return nil
}

// apply applies an event that follows; last is the time of the previous event.
//
//nolint:funlen,gocyclo // one case per kind
func (r *Run) apply(e event.Event, last time.Time) {
	switch d := e.Data.(type) {
	case event.RunStarted:
		r.applyStarted(e, d)
	case event.RunResumed:
		r.resumer().applyResumed(d, last)
	case event.RunPaused:
		r.Outcome.pause(d.Reason)
	case event.RunCompleted:
		r.applyCompleted(d)
	case event.RunUndone:
		r.Outcome.undo(d)
	case event.RunSpawned:
		r.applySpawned(d)
	case event.RunSteered:
		r.arranger().applySteered(d)
	case event.JournalDamaged:
		r.applyDamaged()
	case event.TimerFired:
		r.applyTimer(d)
	case event.Note:
		r.Ledger.note(d)

	case event.PhaseStarted:
		r.arranger().applyPhaseStarted(d)
	case event.PhaseDelta:
		r.Planning.streamPhase(d)
	case event.PhaseCompleted:
		r.arranger().applyPhaseCompleted(d)
	case event.PhaseSkipped:
		r.Planning.skipPhase(d)
	case event.PhaseFailed:
		r.arranger().applyPhaseFailed(d)
	case event.RouteMatched:
		r.Planning.matched(d)

	case event.PlanDrafting:
		r.arranger().applyDrafting(d)
	case event.PlanCreated:
		r.arranger().applyPlan(d)
	case event.PlanEmpty:
		r.Planning.finish()
		r.end(event.StatusFailed, event.ReasonNoPlan, string(d.Reason))
	case event.PlanDiff:
		r.arranger().applyDiff(d)
	case event.PlanChosen:
		r.arranger().applyChosen(d)
	case event.PlanReviewed:
		r.arranger().applyReviewed(d)
	case event.ReplanStarted:
		r.arranger().applyReplan(d)
	case event.ReplanDelta:
		r.Planning.streamReplan(d)
	case event.ReplanRefused:
		r.Planning.refuse(d.Reason)
	case event.ModelReading:
		r.ModelCalls.reads(d, r.Now)

	case event.StepExpanded:
		r.tracker().applyExpanded(d)
	case event.StepStarted:
		r.tracker().applyStepStarted(d)
	case event.StepProgress:
		if s := r.Step(d.Index); s != nil {
			s.progress(d)
		}
	case event.StepOutput:
		if s := r.Step(d.Index); s != nil {
			s.output(d.Chunk)
		}
	case event.StepCompleted:
		r.tracker().applyStepCompleted(d)
	case event.StepFailed:
		r.tracker().applyStepFailed(d)
	case event.StepRetry:
		r.tracker().applyStepRetry(d)
	case event.StepSkipped:
		r.tracker().applyStepSkipped(d)
	case event.StepInDoubt:
		r.tracker().applyStepInDoubt(d)
	case event.CheckCompleted:
		r.tracker().applyCheck(d)
	case event.DoubtResolved:
		r.tracker().applyDoubtResolved(d)
	case event.FailureResolved:
		r.tracker().applyFailureResolved(d)
	case event.GateRequested:
		r.tracker().applyGateRequested(e, d)
	case event.GateResolved:
		r.tracker().applyGateResolved(d)
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
		r.arranger().applyRequest(d)
	case event.ModelReplied:
		r.arranger().applyReply(d)
	case event.SynthesisStarted:
		r.arranger().applySynthesisStarted(d)
	case event.SynthesisDelta:
		r.Outcome.stream(d)
	case event.SynthesisCompleted:
		r.arranger().applySynthesis(d)
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
	r.tracker().applyDeadline(d.ID)
	waiting := r.queues.of(needTimer)
	if s := waiting.top(); s != nil && r.fired(s.retryTimer()) {
		r.scheduler().enqueue(s)
		return
	}
	for _, s := range waiting.all() {
		r.scheduler().enqueue(s)
	}
}

func (r *Run) applyCompleted(d event.RunCompleted) {
	result := d.Result
	if r.Chat != nil && r.Chat.over() {
		r.dialogue().keepRemarks(r.Chat)
	}
	r.Outcome.complete(result)
	r.Planning.stopReplan()
	r.Permissions.closeGates()
	r.OpenQuestions.closeAll()
	r.roster().every(func(s *StepState) {
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
	return s != nil && s.Status == StepPending && !r.ends() && gate == r.caller().gateID(s) && (!s.isItem() || !s.held())
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
	r.arranger().planGoal(d)
}

// applyDamaged treats every step with effects that could start here as started,
// so that a resume finds it in doubt. The lost line may have recorded its start.
func (r *Run) applyDamaged() {
	for _, action := range r.Next() {
		started, ok := action.Record.(event.StepStarted)
		if !ok {
			continue
		}
		if s := r.Step(started.Index); s != nil && !r.caller().repeatable(s) {
			r.tracker().applyStepStarted(started)
			s.interruption().startMayBeLost()
		}
	}
}
