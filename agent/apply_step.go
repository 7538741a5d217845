package agent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// outputKept is how much of a running step's output the run keeps to be shown,
// in bytes; the newest counts.
const outputKept = 64 << 10

// applyStepOutput keeps the newest output of a running step.
func (r fold) applyStepOutput(d event.StepOutput) {
	s := r.Step(d.Index)
	if s == nil {
		return
	}
	s.Output += d.Chunk
	if over := len(s.Output) - outputKept; over > 0 {
		s.Output = strings.ToValidUTF8(s.Output[over:], "")
	}
}

// applyStepRetry has a failed step wait for its next attempt.
func (r fold) applyStepRetry(d event.StepRetry) {
	s := r.Step(d.Index)
	if s == nil {
		return
	}
	s.Status, s.RetryAt, s.fill.problem = StepPending, d.At, ""
	if a := r.newestOf(s); a != nil {
		a.RetryAt = d.At
	}
	r.enqueue(s)
}

// applyStepSkipped skips a step, and with it those that depend on it.
func (r fold) applyStepSkipped(d event.StepSkipped) {
	s := r.Step(d.Index)
	if s == nil {
		return
	}
	s.Status, s.Error = StepSkipped, d.Reason
	r.record(s, plan.ItemSkipped)
	r.enqueue(s)
	r.cutBehind(s)
}

// applyStepInDoubt asks what became of a step that may have taken effect.
func (r fold) applyStepInDoubt(d event.StepInDoubt) {
	r.lost = slices.DeleteFunc(r.lost, func(l *StepState) bool { return l.Step.Index == d.Index && l.Attempt == d.Attempt })
	s := r.back(d.Index, d.Attempt)
	if s == nil {
		return
	}
	s.Status, s.Error, s.MS = StepInDoubt, d.Reason, d.MS
	if s.interruption.isLost() {
		s.interruption = uninterrupted
	}
	r.endAttempt(s, d.Attempt)
	r.record(s, plan.ItemInDoubt)
	r.ask(s)
	r.enqueue(s)
}

// applyGateRequested opens the gate that a step waits at.
func (r fold) applyGateRequested(e event.Event, d event.GateRequested) {
	s := r.Step(d.Step)
	if s == nil {
		return
	}
	s.Status, s.Gate, s.Diff, s.gate.hashes, s.gate.tool = StepWaiting, d.Gate, d.Diff, d.Hashes, promised(r.facts(s.Step.Tool).tool)
	r.enqueue(s)
	r.openGate(&Gate{GateRequested: d, RequestedAt: e.Time})
	r.askedGate(s, d)
}

// applyStepCompleted takes what an attempt brought.
func (r fold) applyStepCompleted(d event.StepCompleted) {
	if d.DryRun {
		r.applyDry(d)
		return
	}
	s := r.back(d.Index, d.Attempt)
	if s == nil {
		r.endOrphan(d.Index, d.Attempt, StepCompleted, d.MS)
		return
	}
	s.Status, s.Result, s.MS, s.Tokens = StepCompleted, d.Result, d.MS, d.Tokens
	s.Error, s.Failure = "", ""
	r.endAttempt(s, d.Attempt)
	if d.Reply != nil {
		r.used(*d.Reply)
		r.replied(Exchange{Purpose: prompt.PurposeStep, Step: d.Index, Attempt: d.Attempt, Reply: *d.Reply})
	}
	r.account(s, d.Run, d.Usage)
	r.record(s, plan.ItemCompleted)
	switch {
	case s.inner.loop != nil:
		r.settleCall(s)
	case s.Draft:
		r.readyDrafts()
	default:
		r.release(s)
		r.leaveLoop(s)
		r.enqueue(s) // a sub-agent stood there with its answer
	}
}

func (r fold) applyStepStarted(d event.StepStarted) {
	s := r.Step(d.Index)
	s.Status, s.Attempt, s.Args, s.Coerced, s.StartedAt = StepRunning, d.Attempt, d.Args, d.Coerced, r.Now
	s.Output, s.Error, s.Failure, s.Progress = "", "", "", event.StepProgress{}
	s.attempts.total, s.gate.outdated, s.gate.files = d.Attempt, "", nil
	if s.interruption == startUnknown {
		s.interruption = uninterrupted
	}
	a := r.attemptOf(s, d.Attempt)
	a.Status, a.StartedAt, a.Passed = StepRunning, r.Now, d.Rule
	s.ReadyAt = time.Time{}
	r.Usage.Steps++
	if s.inner.loop != nil {
		r.innerSteps++
		if s.Run == "" { // to take a run up is not to ask for it again
			s.inner.loop.callCounts[callKey(s.Step.Tool, d.Args)]++
		}
	}
	switch d.Executor {
	case plan.ExecutorTool:
		facts := r.facts(d.Tool)
		facts.calls++
		r.Usage.ToolCalls++
		if facts.tool.ReadOnly {
			r.Usage.DiscoveryCalls++
		}
		r.inFlight[event.Attempt{Index: d.Index, Number: d.Attempt}] = true
	case plan.ExecutorAgent:
		r.beginLoop(s)
	default:
		r.modelBusy++
		if d.Request != nil {
			s.partial = d.Request.Partial
			r.asked(&Exchange{Purpose: d.Request.Purpose, Step: d.Index, Attempt: d.Attempt, Request: *d.Request})
		}
	}
	r.enqueue(s)
}

// applyDry takes what a step would do for what it did.
func (r fold) applyDry(d event.StepCompleted) {
	s := r.Step(d.Index)
	if s == nil || s.Status != StepPending {
		return
	}
	s.Status, s.Attempt, s.attempts.total, s.Args, s.Coerced, s.DryRun, s.DryGate = StepCompleted, d.Attempt, d.Attempt, d.Args, d.Coerced, true, d.Gate
	r.Usage.Steps++
	if s.Step.Executor == plan.ExecutorTool {
		facts := r.facts(s.Step.Tool)
		facts.calls++
		r.dryCalls++
		if facts.tool.ReadOnly {
			r.dryDiscovery++
		}
	}
	s.Result = d.Result
	if text, ok := d.Result.(string); ok {
		s.Result = plan.Placeholder(text)
	}
	r.record(s, plan.ItemCompleted)
	if s.inner.loop != nil {
		r.innerSteps++
		s.inner.loop.callCounts[callKey(s.Step.Tool, d.Args)]++
		r.settleCall(s)
	} else {
		r.release(s)
	}
	r.enqueue(s)
}

// back takes an attempt out of flight and returns the step it belongs to, nil
// where the plan has moved on since.
func (r ledger) back(index string, number int) *StepState {
	s := r.Step(index)
	current := s != nil && s.Status == StepRunning && s.Attempt == number
	key := event.Attempt{Index: index, Number: number}
	if r.inFlight[key] {
		delete(r.inFlight, key)
	} else if current && s.Step.Executor == plan.ExecutorSelf {
		r.modelBusy--
	}
	if !current {
		return nil
	}
	return s
}

func (r fold) applyStepFailed(d event.StepFailed) {
	s := r.back(d.Index, d.Attempt)
	if s == nil {
		// It failed before it could start: an attempt all the same, so that a
		// plan that cannot be carried out spends its budget too.
		s = r.Step(d.Index)
		if s == nil || s.Status == StepCompleted || s.attempts.total >= d.Attempt {
			r.endOrphan(d.Index, d.Attempt, StepFailed, d.MS)
			return
		}
		s.Attempt, s.attempts.total = d.Attempt, d.Attempt
		r.Usage.Steps++
		if s.inner.loop != nil {
			r.innerSteps++
		}
		r.closeGate(s.Gate)
	}
	if s.Step.Executor == plan.ExecutorSelf {
		d.Reply = cmp.Or(d.Reply, &reply.Reply{MS: d.MS})
	}
	if d.Reply != nil {
		r.used(*d.Reply)
		r.replied(Exchange{Purpose: prompt.PurposeStep, Step: d.Index, Attempt: d.Attempt, Reply: *d.Reply, Error: d.Error})
	}
	r.account(s, d.Run, d.Usage)
	s.Status, s.Error, s.Failure, s.MS = StepFailed, d.Error, d.Failure, d.MS
	r.endAttempt(s, d.Attempt)
	switch {
	case d.Removes != "":
		s.gate.removes = d.Removes
		r.holdBack(s)
		return
	case d.Outdated != "":
		s.gate.outdated, s.gate.files = d.Outdated, slices.Sorted(maps.Keys(s.gate.hashes))
		s.gate.withdraw()
		s.Diff, s.gate.hashes = "", nil
		r.holdBack(s)
		return
	}
	r.record(s, plan.ItemFailed)
	switch {
	case s.inner.loop != nil:
		r.dealCall(s)
	case !s.Draft:
		r.deal(s)
	}
	r.leaveLoop(s)
	r.enqueue(s)
}

// account adds what a run has used that a plan tool started: it is one budget.
// Of a run that was taken up again, a part has been added before.
func (r ledger) account(s *StepState, run string, used *event.Usage) {
	if run != "" && run != s.Run {
		s.Run, s.runUsage = run, event.Usage{}
	}
	if used != nil {
		more := used.Since(s.runUsage)
		r.Usage, s.runUsage = r.Usage.Plus(more), *used
		r.innerSteps += more.Steps
	}
}

// deal decides what follows from a failed step. Where it would end the run and
// the user is there, the user is asked instead.
func (r fold) deal(s *StepState) {
	status, reason := event.StatusFailed, event.ReasonStepFailed
	sentence := fmt.Sprintf("step %s (%s) failed: %s", s.Step.Index, s.Step.Title, headline(s.Error))
	switch {
	case s.Failure == event.FailureDenied:
		reason, sentence = event.ReasonDenied, fmt.Sprintf("step %s (%s) was denied", s.Step.Index, s.Step.Title)
	case s.Failure == event.FailureInterrupted:
		status, reason, sentence = event.StatusCancelled, event.ReasonInterrupted, "stopped by the user"
	case !s.Failure.Replannable():
		r.end(event.StatusFailed, event.ReasonGuard, sentence)
		return
	case r.retries(s):
		return
	default:
		switch follows := r.Plan.FailureOf(s.Step, r.fallback); {
		case follows == plan.OnFailureAbort:
		case follows == plan.OnFailureReplan && r.Limits.NoReplan:
		case follows == plan.OnFailureSkip:
			r.cutBehind(s)
			return
		default:
			if r.dryRun {
				break // it tells what would happen, and makes nothing new of it
			}
			if r.canReplan() {
				if r.failure == nil {
					r.failure = &failure{step: s.Step.Index, error: s.Error}
				}
				return
			}
			sentence += "; it asks for a replan, and there is no model to make one"
		}
	}
	switch {
	case r.dryRun:
		// It would end here; what does not hang on this step is to be seen too.
		r.cutBehind(s)
		if r.dryEnding == nil {
			r.dryEnding = &ending{status: status, reason: reason, error: sentence}
		}
	case r.attended && r.ending == nil:
		r.ask(s)
	default:
		r.end(status, reason, sentence)
	}
}

// headlineKept is how much of an error the sentence says with which a run ends,
// in runes; the history has all of it.
const headlineKept = 300

// headline is the first line of an error that says anything.
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

// retries reports whether a failed step will be tried again: a read-only tool
// with attempts left.
func (r scheduler) retries(s *StepState) bool {
	if s.Step.Retries == 0 || s.Attempt-s.attempts.before > s.Step.Retries {
		return false
	}
	switch s.Failure {
	case event.FailureTool, event.FailureTimeout, event.FailureModel:
		facts := r.facts(s.Step.Tool)
		return facts.err == nil && facts.tool.ReadOnly
	default:
		return false // another attempt would come to the same
	}
}

// bind makes the result of a step a variable.
func (r ledger) bind(s *StepState) {
	if s.Step.ResultVariable != "" {
		r.variables[s.Step.ResultVariable] = s.Result
	}
}

// record adds the ended attempt to the history.
func (r ledger) record(s *StepState, status plan.ItemStatus) {
	item := plan.HistoryItem{
		Index: s.Step.Index, Parent: s.Parent, Title: s.Step.Title, Tool: s.Step.Tool, Args: s.Args,
		ExpectedOutcome: s.Step.ExpectedOutcome, Status: status, Attempt: s.Attempt, Error: s.Error, MS: s.MS,
	}
	if status == plan.ItemCompleted {
		item.Result = s.Result
	}
	r.History = append(r.History, item)
}

// openGate puts a gate among those that are open, where the plan has its step.
func (r ledger) openGate(g *Gate) {
	at := len(r.Gates)
	for at > 0 && plan.CompareIndices(r.Gates[at-1].Step, g.Step) > 0 {
		at--
	}
	r.Gates = slices.Insert(r.Gates, at, g)
}

func (r ledger) closeGate(id string) {
	for i, g := range r.Gates {
		if id != "" && g.Gate == id {
			r.Gates = append(r.Gates[:i:i], r.Gates[i+1:]...)
			return
		}
	}
}
