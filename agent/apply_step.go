package agent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// outputKept bounds the displayed output of a running step, in bytes; the newest
// output is kept.
const outputKept = 64 << 10

// applyStepOutput keeps the newest output of a running step.
func (r *Run) applyStepOutput(d event.StepOutput) {
	s := r.Step(d.Index)
	if s == nil {
		return
	}
	s.Output += d.Chunk
	if over := len(s.Output) - outputKept; over > 0 {
		s.Output = strings.ToValidUTF8(s.Output[over:], "")
	}
}

// applyStepRetry makes a failed step wait for its next attempt.
func (r *Run) applyStepRetry(d event.StepRetry) {
	s := r.Step(d.Index)
	if s == nil {
		return
	}
	if s.Status == StepChecking { // what it waits for does not hold yet
		s.Polls++
		s.Error, s.attempts.before = d.Error, s.attempts.total
		r.Ledger.remove(d.Index, d.Attempt)
	} else {
		s.Polls = 0
	}
	s.Status, s.RetryAt, s.fill.problem = StepPending, d.At, ""
	if a := r.recorder().newestOf(s); a != nil {
		a.RetryAt = d.At
	}
	r.scheduler().enqueue(s)
}

// applyStepSkipped skips a step and its dependents.
func (r *Run) applyStepSkipped(d event.StepSkipped) {
	s := r.Step(d.Index)
	if s == nil {
		return
	}
	s.Status, s.Error = StepSkipped, d.Reason
	if s.NotTaken = d.Reason == event.NotTaken; s.NotTaken {
		s.Error = notTakenWords(d)
	}
	r.recorder().record(s, plan.ItemSkipped)
	r.scheduler().enqueue(s)
	if s.NotTaken {
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
	s.Status, s.Error, s.MS = StepInDoubt, d.Reason, d.MS
	if s.interruption.isLost() {
		s.interruption = uninterrupted
	}
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
	s.Diff, s.gate.hashes, s.gate.command, s.gate.call = d.Diff, d.Hashes, d.Command, d.Call
	if d.Call == "" { // an older replan wrote it
		s.gate.call = callHash(r.facts(s.Step.Tool).Tool, d.Args)
	}
	s.gate.called, s.gate.since = false, 0
	if d.Nothing {
		s.gate.answer = gateAllowed
		r.scheduler().enqueue(s)
		return
	}
	s.Status, s.Gate = StepWaiting, d.Gate
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
	s.Status, s.Result, s.Beside, s.MS, s.Tokens = StepCompleted, d.Result, d.Beside, d.MS, d.Tokens
	s.Error, s.Failure = "", ""
	if d.DryRun { // for items that are known
		text, _ := d.Result.(string)
		s.DryRun, s.Result = true, plan.Placeholder(text)
	}
	r.recorder().endAttempt(s, d.Attempt)
	if d.Reply != nil {
		r.Meter.reply(*d.Reply)
		r.ModelCalls.replied(Exchange{Purpose: prompt.PurposeStep, Step: d.Index, Attempt: d.Attempt, Reply: *d.Reply}, r.modelTerms())
	}
	s.gate.repeats = 0
	r.Meter.spend(s.account(d.Run, d.Usage))
	r.recorder().record(s, plan.ItemCompleted)
	switch {
	case s.inner.loop != nil:
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
	s.Status, s.Attempt, s.Args, s.Coerced, s.StartedAt = StepRunning, d.Attempt, d.Args, d.Coerced, r.Now
	s.Output, s.Error, s.Failure, s.Progress, s.Beside = "", "", "", event.StepProgress{}, plan.Beside{}
	s.Checked, s.checks.unknownResult, s.toRerun = nil, false, false
	if s.Polls == 0 {
		s.waitingFrom = r.Elapsed()
	}
	s.attempts.total, s.gate.outdated, s.gate.files, s.gate.called = d.Attempt, "", nil, true
	if s.interruption == startUnknown {
		s.interruption = uninterrupted
	}
	a := r.recorder().attemptOf(s, d.Attempt)
	a.Status, a.StartedAt, a.Passed = StepRunning, r.Now, d.Rule
	s.ReadyAt = time.Time{}
	r.scheduler().overtake(s)
	if s.Polls == 0 && s.item.step == nil { // the calls of a step that waits, or for its items, are one execution
		r.Meter.beginStep()
	}
	if s.inner.loop != nil {
		r.Meter.beginInner()
		if !s.inner.counted { // another attempt, after a kill, is no other call
			s.inner.counted = true
			s.inner.loop.made(s.Step.Tool, d.Args)
		}
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
			s.partial = d.Request.Partial
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
	s.Status, s.Attempt, s.attempts.total, s.Args, s.Coerced, s.DryRun, s.DryGate = StepCompleted, d.Attempt, d.Attempt, d.Args, d.Coerced, true, d.Gate
	if s.item.step == nil {
		r.Meter.beginStep()
	}
	if s.Step.Executor == plan.ExecutorTool {
		facts := r.facts(s.Step.Tool)
		facts.called()
		r.Meter.dryCall(facts.Tool.ReadOnly)
	}
	s.Result = d.Result
	if text, ok := d.Result.(string); ok {
		s.Result = plan.Placeholder(text)
	}
	r.recorder().record(s, plan.ItemCompleted)
	if s.inner.loop != nil {
		r.Meter.beginInner()
		s.inner.loop.made(s.Step.Tool, d.Args)
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
		if s == nil || s.Status == StepCompleted || s.attempts.total >= d.Attempt {
			r.recorder().endOrphan(d.Index, d.Attempt, StepFailed, d.MS)
			return
		}
		s.Attempt, s.attempts.total = d.Attempt, d.Attempt
		if s.item.step == nil {
			r.Meter.beginStep()
		}
		if s.inner.loop != nil {
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
	s.Status, s.Error, s.Failure, s.MS = StepFailed, d.Error, d.Failure, d.MS
	s.Beside.Attachments, s.gate.since = d.Attachments, 0
	r.recorder().endAttempt(s, d.Attempt)
	switch {
	case d.Removes != "":
		s.gate.removes = d.Removes
		s.gate.repeat(untrusted.Text("it " + d.Removes))
		r.holdBack(s)
		return
	case d.Outdated != "":
		if d.Paths != nil {
			s.gate.paths = d.Paths
		}
		s.gate.outdated, s.gate.files = d.Outdated, slices.Sorted(maps.Keys(s.gate.hashes))
		s.gate.withdraw()
		s.gate.repeat(d.Outdated)
		s.Diff = ""
		s.gate.unbind()
		r.holdBack(s)
		return
	}
	r.recorder().record(s, plan.ItemFailed)
	switch {
	case s.inner.loop != nil:
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
	case s.item.step == nil || r.scheduler().retries(s):
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
			if r.canReplan() {
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
	case r.canReplan() || r.asks():
		return true
	case s.gate.answer == gateDenied:
		return false
	}
	return slices.ContainsFunc(r.Steps, func(other *StepState) bool {
		return other != s && !other.Status.Ended() && other.skip.reason == ""
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
	return s.Status == StepFailed && s.item.step == nil && s.Failure.Replannable() && !r.scheduler().retries(s) &&
		r.Plan.FailureOf(s.Step, r.fallback) == plan.OnFailureSkip
}

// refills asks a model once more for the arguments that the tool refused: small models
// copy a text nearly right. A change by one of the workspace's own operators is made whole
// or not at all, so that nothing has happened.
func (r *Run) refills(s *StepState) bool {
	if s.fill.args == nil || s.fill.refused != "" || s.Failure != event.FailureTool || r.Model == "" || s.item.step != nil {
		return false
	}
	if facts := r.facts(s.Step.Tool); facts.Err != nil || !facts.Tool.Trusted || !facts.Tool.Previews {
		return false
	}
	s.fill.refused = plan.CanonicalJSON(s.fill.args) + "\n" + string(s.Error)
	s.Status, s.fill.args, s.call = StepPending, nil, readyCall{}
	r.scheduler().enqueue(s)
	return true
}
