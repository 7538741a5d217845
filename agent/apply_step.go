package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// applyStepRetry makes a failed step wait for its next attempt.
func (r *Run) applyStepRetry(d event.StepRetry) {
	s := r.Step(d.Index)
	if s == nil {
		return
	}
	if s.retry(d) { // what it waits for does not hold yet
		r.Ledger.remove(d.Index, d.Attempt)
	}
	r.recorder().retryAt(s, d.At)
	r.scheduler().enqueue(s)
}

// applyStepSkipped skips a step and its dependents.
func (r *Run) applyStepSkipped(d event.StepSkipped) {
	s := r.Step(d.Index)
	if s == nil {
		return
	}
	notTaken := s.skipped(d)
	r.recorder().record(s, plan.ItemSkipped)
	r.scheduler().enqueue(s)
	if notTaken {
		r.scheduler().passBy(s)
		return
	}
	r.scheduler().cutBehind(s)
}

// applyStepInDoubt asks about a step that may have taken effect.
func (r *Run) applyStepInDoubt(d event.StepInDoubt) {
	r.OpenQuestions.found(d.Index, d.Attempt)
	s := r.back(d.Index, d.Attempt)
	if s == nil {
		return
	}
	s.doubt(d)
	r.recorder().endAttempt(s, d.Attempt)
	r.recorder().record(s, plan.ItemInDoubt)
	r.ask(s)
	r.scheduler().enqueue(s)
}

// applyGateRequested opens the gate of a waiting step. A call that changes nothing
// passes it.
func (r *Run) applyGateRequested(e event.Event, d event.GateRequested) {
	s := r.Step(d.Step)
	if s == nil {
		return
	}
	call := d.Call
	if call == "" { // an older replan wrote it
		call = callHash(r.facts(s.Step.Tool).Tool, d.Args)
	}
	s.showGate(d, call)
	if d.Nothing {
		s.gate.allow()
		r.scheduler().enqueue(s)
		return
	}
	s.wait(d.Gate)
	r.scheduler().enqueue(s)
	r.Permissions.openGate(&Gate{GateRequested: d, RequestedAt: e.Time})
	r.recorder().askedGate(s, d)
}

// applyStepCompleted stores the result of an attempt.
func (r *Run) applyStepCompleted(d event.StepCompleted) {
	if s := r.Step(d.Index); d.DryRun && (s == nil || s.Status == StepPending) {
		r.applyDry(d)
		return
	}
	s := r.back(d.Index, d.Attempt)
	if s == nil {
		r.recorder().endOrphan(d.Index, d.Attempt, StepCompleted, d.MS)
		return
	}
	s.complete(d)
	r.recorder().endAttempt(s, d.Attempt)
	if d.Reply != nil {
		r.Meter.reply(*d.Reply)
		r.ModelCalls.replied(Exchange{Purpose: prompt.PurposeStep, Step: d.Index, Attempt: d.Attempt, Reply: *d.Reply}, r.modelTerms())
	}
	r.Meter.spend(s.account(d.Run, d.Usage))
	r.recorder().record(s, plan.ItemCompleted)
	switch {
	case s.byModel():
		r.dialogue().settleCall(s)
	case s.Draft:
		r.readyDrafts()
	case len(ChecksOf(s.Step)) > 0:
		r.beginChecks(s)
		r.dialogue().leaveLoop(s)
		r.scheduler().enqueue(s)
	default:
		r.scheduler().release(s)
		r.dialogue().leaveLoop(s)
		r.scheduler().enqueue(s) // a sub-agent was waiting here with its answer
	}
}

func (r *Run) applyStepStarted(d event.StepStarted) {
	s := r.Step(d.Index)
	s.start(d, r.Now, r.Elapsed())
	r.recorder().begin(s, d.Rule)
	r.scheduler().overtake(s)
	if s.Polls == 0 && !s.isItem() { // the calls of a step that waits, or for its items, are one execution
		r.Meter.beginStep()
	}
	if s.byModel() {
		r.Meter.beginInner()
		s.countCall(d.Args)
	}
	switch d.Executor {
	case plan.ExecutorTool:
		facts := r.facts(d.Tool)
		facts.called()
		r.Meter.call(facts.Tool.ReadOnly)
		r.flight.callStarts(d.Index, d.Attempt)
	case plan.ExecutorAgent:
		r.dialogue().beginLoop(s)
	default:
		r.flight.modelStarts()
		if d.Request != nil {
			s.sawInPart(d.Request.Partial)
			r.ModelCalls.asked(&Exchange{Purpose: d.Request.Purpose, Step: d.Index, Attempt: d.Attempt, Request: *d.Request}, r.Now)
		}
	}
	r.scheduler().enqueue(s)
}

// applyDry completes a step of a dry run without a call.
func (r *Run) applyDry(d event.StepCompleted) {
	s := r.Step(d.Index)
	if s == nil || s.Status != StepPending {
		return
	}
	s.completeDry(d)
	if !s.isItem() {
		r.Meter.beginStep()
	}
	if s.Step.Executor == plan.ExecutorTool {
		facts := r.facts(s.Step.Tool)
		facts.called()
		r.Meter.dryCall(facts.Tool.ReadOnly)
	}
	r.recorder().record(s, plan.ItemCompleted)
	if s.byModel() {
		r.Meter.beginInner()
		s.conversation().made(s.Step.Tool, d.Args)
		r.dialogue().settleCall(s)
	} else {
		r.scheduler().release(s)
	}
	r.scheduler().enqueue(s)
}

// back marks an attempt as no longer in flight and returns its step, or nil if
// the plan has changed since.
func (r *Run) back(index string, number int) *StepState {
	s := r.Step(index)
	current := s != nil && s.Status == StepRunning && s.Attempt == number
	if !r.flight.callReturns(index, number) && current && s.Step.Executor == plan.ExecutorSelf && !s.expands() {
		r.flight.modelReturns()
	}
	if !current {
		return nil
	}
	return s
}

func (r *Run) applyStepFailed(d event.StepFailed) {
	if s := r.Step(d.Index); s != nil && s.Status == StepChecking && (d.Failure == event.FailureCheck || d.Failure == event.FailureTimeout) {
		r.applyRefuted(s, d)
		return
	}
	s := r.back(d.Index, d.Attempt)
	if s == nil {
		// It failed before it started. It still counts as an attempt, so that a
		// plan that cannot be executed uses up its budget.
		s = r.Step(d.Index)
		if s == nil || s.Status == StepCompleted || s.attemptsTotal() >= d.Attempt {
			r.recorder().endOrphan(d.Index, d.Attempt, StepFailed, d.MS)
			return
		}
		s.tryInVain(d.Attempt)
		if !s.isItem() {
			r.Meter.beginStep()
		}
		if s.byModel() {
			r.Meter.beginInner()
		}
		r.Permissions.closeGate(s.Gate)
	}
	if s.Step.Executor == plan.ExecutorSelf && !s.expands() {
		d.Reply = cmp.Or(d.Reply, &reply.Reply{MS: d.MS})
	}
	if d.Reply != nil {
		r.Meter.reply(*d.Reply)
		r.ModelCalls.replied(Exchange{Purpose: prompt.PurposeStep, Step: d.Index, Attempt: d.Attempt, Reply: *d.Reply, Error: d.Error}, r.modelTerms())
	}
	r.Meter.spend(s.account(d.Run, d.Usage))
	s.fail(d)
	r.recorder().endAttempt(s, d.Attempt)
	switch {
	case d.Removes != "":
		s.gate.wouldRemove(d.Removes)
		r.holdBack(s)
		return
	case d.Outdated != "":
		s.outdate(d.Outdated, d.Paths)
		r.holdBack(s)
		return
	}
	r.recorder().record(s, plan.ItemFailed)
	switch {
	case s.byModel():
		r.dialogue().dealCall(s)
	case !s.Draft:
		r.deal(s)
	}
	r.dialogue().leaveLoop(s)
	r.scheduler().enqueue(s)
}

// deal decides what follows from a failed step. If that would end the run and the
// user is present and has something to decide, it asks the user instead.
func (r *Run) deal(s *StepState) {
	switch {
	case !s.isItem() || r.scheduler().retries(s):
	case r.endsItems(s):
		r.stopItems(s)
		return
	default:
		r.scheduler().cutBehind(s)
		return
	}
	status, reason := event.StatusFailed, event.ReasonStepFailed
	sentence := fmt.Sprintf("step %s (%s) failed: %s", s.Step.Index, s.Step.Title, headline(string(s.Error)))
	switch {
	case s.Failure == event.FailureDenied:
		reason, sentence = event.ReasonDenied, fmt.Sprintf("step %s (%s) was denied", s.Step.Index, s.Step.Title)
	case s.Failure == event.FailureInterrupted:
		status, reason, sentence = event.StatusCancelled, event.ReasonInterrupted, headline(string(s.Error))
	case !s.Failure.Replannable():
		r.end(event.StatusFailed, event.ReasonGuard, sentence)
		return
	case r.scheduler().retries(s), r.refills(s):
		return
	default:
		switch follows := r.Plan.FailureOf(s.Step, r.fallback); {
		case follows == plan.OnFailureAbort:
		case follows == plan.OnFailureReplan && r.Limits.NoReplan:
		case follows == plan.OnFailureSkip:
			r.scheduler().cutBehind(s)
			return
		default:
			if r.dryRun {
				break // a dry run reports what would happen and plans nothing new
			}
			if r.origins().canReplan() {
				if !r.Planning.wantsReplan() {
					r.Planning.failStep(s.Step.Index, string(s.Error))
				}
				return
			}
			sentence += "; it asks for a replan, and there is no model to make one"
		}
	}
	switch {
	case r.dryRun:
		// The run would end here, but a dry run also shows the steps that do not
		// depend on this one.
		r.scheduler().cutBehind(s)
		r.Outcome.endDry(status, reason, sentence)
	case r.attended && !r.ends() && r.leavesAChoice(s):
		r.ask(s)
	default:
		r.end(status, reason, sentence)
	}
}

// leavesAChoice reports whether the user has something to decide after a failed step.
// If nothing can replan, a denial is final, and so is the failure of the last step:
// a resume tries it again.
func (r *Run) leavesAChoice(s *StepState) bool {
	switch {
	case r.origins().canReplan() || r.asks():
		return true
	case s.gate.denied():
		return false
	}
	return slices.ContainsFunc(r.Steps, func(other *StepState) bool {
		return other != s && !other.Status.Ended() && other.skipReason() == ""
	})
}

// headlineKept bounds the error text in the sentence that ends a run, in runes;
// the history keeps the full error.
const headlineKept = 300

// headline returns the first non-empty line of an error.
func headline(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(line)
	if runes := []rune(line); len(runes) > headlineKept {
		return string(runes[:headlineKept]) + "…"
	}
	if rest != "" {
		return line + " …"
	}
	return line
}

// PassesOver reports whether a step has failed for good and its run continues without it,
// as its on_failure says.
func (r *Run) PassesOver(s *StepState) bool {
	return s.Status == StepFailed && !s.isItem() && s.Failure.Replannable() && !r.scheduler().retries(s) &&
		r.Plan.FailureOf(s.Step, r.fallback) == plan.OnFailureSkip
}

// refills asks a model once more for the arguments that the tool refused: small models
// copy a text nearly right. A change by one of the workspace's own operators is made whole
// or not at all, so that nothing has happened.
func (r *Run) refills(s *StepState) bool {
	if s.Failure != event.FailureTool || r.Model == "" || s.isItem() {
		return false
	}
	if facts := r.facts(s.Step.Tool); facts.Err != nil || !facts.Tool.Trusted || !facts.Tool.Previews {
		return false
	}
	if !s.refill() {
		return false
	}
	r.scheduler().enqueue(s)
	return true
}
