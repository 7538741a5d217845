package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/agent/event"
	"replan/planning/plan"
)

// applyResumed continues the run where its events end. Calls in flight when the
// program ended will never return. If the run had ended itself, what it failed at
// is retried.
func (r *Run) applyResumed(d event.RunResumed, last time.Time) {
	unverified, over := r.Outcome.unverified(), r.Outcome.endedEarly() // if only the answer is missing, do not retry any step
	r.Clock.resume(last)
	r.recorder().loseAttempts(last)
	r.Meter.resume(d.Limits)
	didRead := r.reading()
	r.Terms.resume(d)
	if d.WritesCalls {
		r.Conversations.holdCalls(d.Model)
	}
	if d.Window > 0 {
		r.ModelCalls.setWindow(d.Window)
	}
	_, rules := grants(d.Rules)
	r.Toolbox.replace(d.Catalogue, rules, r.Revision == 0)
	r.Outcome.reopen()
	r.OpenQuestions.dropElicitations(func(event.ElicitationRequested) bool { return true })
	r.askAgain()
	r.loseModelCalls()
	r.loseToolCalls(didRead)
	if over {
		r.takeUp()
	}
	if unverified {
		r.checkUnchecked()
	}
	if !r.attended {
		r.unask()
	}
	r.Clock.unfire(event.GuardTime)
	if r.Revision == 0 {
		r.roster().every(r.scheduler().enqueue) // including calls of the chat
	} else {
		r.scheduler().rebuildGraph()
		for _, s := range r.Steps {
			if s.userSkips() && s.Status != StepCompleted {
				r.scheduler().cutBehind(s)
			}
		}
	}
	if d.Review {
		r.Terms.review()
		r.hold()
	}
}

// reading returns the running steps whose tools were known to be read-only when
// they started.
func (r *Run) reading() map[*StepState]bool {
	reads := map[*StepState]bool{}
	r.roster().every(func(s *StepState) {
		if s.Status == StepRunning && r.caller().repeatable(s) {
			reads[s] = true
		}
	})
	return reads
}

// loseModelCalls drops the pending model requests; planning and synthesis send
// them again.
func (r *Run) loseModelCalls() {
	r.flight.loseModels()
	r.Planning.loseRequest()
	r.Outcome.loseAnswer(r.Chat != nil)
	if r.Chat != nil {
		r.Chat.interrupt()
	}
	r.ModelCalls.loseExchanges()
	r.dialogue().resumeLoops()
	r.executed(func(s *StepState) { s.fill.ask(false) })
}

// loseToolCalls handles the steps that were running. A step runs again if it was
// repeatable when it started and nothing now says otherwise. For any other, it is
// unknown whether it took effect. So it is for a step in doubt that was to run again.
func (r *Run) loseToolCalls(didRead map[*StepState]bool) {
	r.flight.loseCalls()
	r.OpenQuestions.forgetLost()
	r.roster().every(func(s *StepState) {
		before := s.interrupted()
		if s.mayRerun() {
			s.doubtAgain() // the answer of an earlier resume may no longer hold
			r.ask(s)
			return
		}
		if s.Status != StepRunning || s.Loop != nil || s.expands() {
			return // a sub-agent continues from its last reply, and items by themselves
		}
		unavailable := s.Step.Executor == plan.ExecutorTool && r.facts(s.Step.Tool).Err != nil
		if didRead[s] && (unavailable || r.caller().repeatable(s)) {
			s.goOn()
			return
		}
		s.lose(before)
		r.OpenQuestions.lose(s)
	})
}

// takeUp prepares another try of a run that had ended.
func (r *Run) takeUp() {
	r.Planning.dropReplan()
	r.OpenQuestions.closeAll()
	r.Permissions.closeGates() // it may have ended before they were closed
	r.Acceptance.beginAcceptance()
	r.Chat.takeUp()
	r.roster().every(func(s *StepState) {
		s.askUser(false)
		if s.inner.isAnswered() {
			return // the model already knows the outcome of the call
		}
		if s.orphaned() && s.Status != StepInDoubt || s.isItem() && s.itemStep().Status == StepCompleted {
			return
		}
		switch s.Status {
		case StepFailed, StepSkipped, StepWaiting:
			if s.staysSkipped() {
				return
			}
			r.again(s)
		case StepPending:
			s.unskip() // the cause of the skip is retried
		case StepInDoubt:
			r.ask(s)
		}
	})
	if r.Revision > 0 {
		r.Planning.finish()
	} else if !r.Synthesis.Direct && r.unplanned() {
		r.roster().every(r.countAttempts)
		r.Planning.restart(r.makers().Plan(r.briefOfGoal()))
		r.Board.clear()
		r.OpenQuestions.forgetLost()
	}
}

// unask retries the failed steps that wait for a user who is no longer present:
// resuming a run means retrying.
func (r *Run) unask() {
	for _, s := range r.OpenQuestions.waiting() {
		if s.Status != StepInDoubt {
			r.answered(s)
			r.again(s)
		}
	}
}

// again makes a step wait for a new attempt, and resets everything that permits
// one.
func (r *Run) again(s *StepState) {
	if r.scheduler().onlyRechecks(s) {
		r.beginChecks(s)
		s.countAfresh()
		return
	}
	s.again()
}

// Asking returns the index of the step with the oldest open question, or "" if
// none is open.
func (r *Run) Asking() string {
	if !r.asks() || !r.Active() || r.ends() {
		return ""
	}
	return r.OpenQuestions.waiting()[0].Step.Index
}

// Questions returns the open questions, oldest first.
func (r *Run) Questions() []Question {
	if !r.asks() || !r.Active() || r.ends() {
		return nil
	}
	out := make([]Question, 0, len(r.OpenQuestions.waiting()))
	for _, s := range r.OpenQuestions.waiting() {
		q := Question{
			Step: s.Step.Index, Doubt: s.Status == StepInDoubt, Title: s.Step.Title, Tool: s.Step.Tool,
			Args: s.Args, Reason: s.Error, Replan: r.origins().canReplan(), Denied: s.Failure == event.FailureDenied,
		}
		if q.Args == nil {
			q.Args = s.args()
		}
		out = append(out, q)
	}
	return out
}

// ask opens the question about a step.
func (r *Run) ask(s *StepState) {
	if !r.ends() && !s.awaitsAnswer() {
		s.askUser(true)
		r.OpenQuestions.add(s)
	}
}

// answered closes the question about a step.
func (r *Run) answered(s *StepState) {
	s.askUser(false)
	r.OpenQuestions.remove(s)
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
			r.applyStepStarted(started)
			s.startMayBeLost()
		}
	}
}

// applyDoubtResolved applies the decision about a step in doubt.
func (r *Run) applyDoubtResolved(d event.DoubtResolved) {
	s := r.Step(d.Step)
	if s == nil || s.Status != StepInDoubt {
		return
	}
	r.recorder().decided(s, AskedDoubt, string(d.Decision), d.By)
	switch d.Decision {
	case event.DoubtDone:
		r.answered(s)
		s.completeAsTold()
		r.recorder().record(s, plan.ItemCompleted)
		if len(ChecksOf(s.Step)) > 0 {
			r.beginChecks(s)
			s.loseResult()
			break
		}
		r.scheduler().release(s)
		r.dialogue().settleCall(s)
	case event.DoubtRerun:
		r.answered(s)
		s.rerun(unasked(d.By))
		r.again(s)
		r.scheduler().enqueue(s.whole()) // a step that another item has stopped waited for the answer
	default:
		r.end(event.StatusFailed, event.ReasonInDoubt, fmt.Sprintf("step %s (%s) may or may not have taken effect: %s; find out, and resume the run with --in-doubt done or rerun", d.Step, s.Step.Title, s.Error))
	}
	r.scheduler().enqueue(s)
}

// unasked reports whether nobody made a decision: an option did, or nobody was there.
func unasked(by string) bool {
	return strings.HasPrefix(by, "--") || strings.HasPrefix(by, "nobody ")
}

// applyFailureResolved continues after a failed step as decided. After a resume,
// the step already waits for another attempt.
func (r *Run) applyFailureResolved(d event.FailureResolved) {
	s := r.Step(d.Step)
	if s == nil || s.byModel() || s.Status != StepFailed && s.Status != StepPending {
		return
	}
	r.answered(s)
	r.recorder().decided(s, AskedFailure, string(d.Decision), d.By)
	decision := d.Decision
	if decision == event.FailureReplan && !r.origins().canReplan() {
		decision = event.FailureAbort
	}
	switch decision {
	case event.FailureRetry:
		if d.Args != nil && s.Failure == event.FailureCheck {
			s.forgetFailure() // the user asks for another call
		}
		r.again(s)
		if d.Args != nil {
			s.write(d.Args)
		}
	case event.FailureSkip:
		if s.skipByUser() {
			r.recorder().record(s, plan.ItemSkipped)
		}
		r.scheduler().cutBehind(s)
	case event.FailureReplan:
		s.failAgain()
		r.Planning.failStep(s.Step.Index, cmp.Or(string(s.Error), "the user asks for a new plan"))
	default:
		status, reason := event.StatusFailed, event.ReasonStepFailed
		switch s.Failure {
		case event.FailureDenied:
			reason = event.ReasonDenied
		case event.FailureInterrupted:
			status, reason = event.StatusCancelled, event.ReasonInterrupted
		}
		r.end(status, reason, fmt.Sprintf("step %s (%s) failed: %s", s.Step.Index, s.Step.Title, headline(string(s.Error))))
	}
	r.scheduler().enqueue(s)
}

// MissingTools returns the tools that unfinished steps need and the run knew, but
// catalogue lacks.
func (r *Run) MissingTools(catalogue plan.Catalogue) []string {
	return slices.DeleteFunc(r.ToolsToCall(), func(name string) bool {
		_, before := r.Catalogue.Find(name)
		_, now := catalogue.Find(name)
		return before != nil || now == nil
	})
}

// ToolsToCall returns the names of the tools that the run has still to call, as
// far as known.
func (r *Run) ToolsToCall() []string {
	var names []string
	r.roster().every(func(s *StepState) {
		if !s.Draft && !s.inner.isAnswered() && s.Status != StepCompleted && s.Step.Executor == plan.ExecutorTool && !slices.Contains(names, s.Step.Tool) {
			names = append(names, s.Step.Tool)
		}
	})
	left := plan.Plan{Acceptance: r.Plan.Acceptance}
	for _, s := range r.Steps {
		if s.Status != StepCompleted {
			left.Steps = append(left.Steps, plan.Step{Executor: plan.ExecutorSelf, Checks: s.Step.Checks})
		}
	}
	for _, name := range left.Tools() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// NeedsModel reports whether the run cannot continue without a model. Either
// there is no plan and no other planner, or only the answer is missing.
func (r *Run) NeedsModel() bool {
	return r.Unanswered() != "" || r.Revision == 0 && r.givenPlan == nil && !r.Planning.byWords() && !r.hasOwn()
}
