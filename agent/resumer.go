package agent

import (
	"time"

	"replan/agent/event"
	"replan/planning/plan"
)

// resumer takes a run up again where its events end.
type resumer struct {
	arranger
	*Terms
	*Toolbox
}

// applyResumed continues the run where its events end. Calls in flight when the
// program ended will never return. If the run had ended itself, what it failed at
// is retried.
func (r resumer) applyResumed(d event.RunResumed, last time.Time) {
	unverified, over := r.Outcome.unverified(), r.Outcome.endedEarly() // if only the answer is missing, do not retry any step
	r.Clock.resume(last)
	r.recorder.loseAttempts(last)
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
		r.retryUnattended()
	}
	r.Clock.unfire(event.GuardTime)
	if r.Revision == 0 {
		r.every(r.enqueue) // including calls of the chat
	} else {
		r.rebuildGraph()
		for _, s := range r.Steps {
			if s.userSkips() && s.Status != StepCompleted {
				r.skipDependents(s)
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
func (r resumer) reading() map[*StepState]bool {
	reads := map[*StepState]bool{}
	r.every(func(s *StepState) {
		if s.Status == StepRunning && r.repeatable(s) {
			reads[s] = true
		}
	})
	return reads
}

// loseModelCalls drops the pending model requests; planning and synthesis send
// them again.
func (r resumer) loseModelCalls() {
	r.flight.loseModels()
	r.Planning.loseRequest()
	r.Outcome.loseAnswer(r.Chat != nil)
	if r.Chat != nil {
		r.Chat.interrupt()
	}
	r.ModelCalls.loseExchanges()
	r.resumeLoops()
	r.executed(func(s *StepState) { s.stopAsking() })
}

// loseToolCalls handles the steps that were running. A step runs again if it was
// repeatable when it started and nothing now says otherwise. For any other, it is
// unknown whether it took effect. So it is for a step in doubt that was to run again.
func (r resumer) loseToolCalls(didRead map[*StepState]bool) {
	r.flight.loseCalls()
	r.OpenQuestions.forgetLost()
	r.every(func(s *StepState) {
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
		if didRead[s] && (unavailable || r.repeatable(s)) {
			s.goOn()
			return
		}
		s.lose(before)
		r.OpenQuestions.lose(s)
	})
}

// takeUp prepares another try of a run that had ended.
func (r resumer) takeUp() {
	r.Planning.dropReplan()
	r.OpenQuestions.closeAll()
	r.Permissions.closeGates() // it may have ended before they were closed
	r.Acceptance.beginAcceptance()
	r.Chat.takeUp()
	r.every(func(s *StepState) {
		s.askUser(false)
		if s.isAnswered() {
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
		r.every(r.countAttempts)
		r.Planning.restart(r.makers().Plan(r.briefOfGoal()))
		r.Board.clear()
		r.OpenQuestions.forgetLost()
	}
}

// retryUnattended retries the failed steps that wait for a user who is no longer present:
// resuming a run means retrying.
func (r resumer) retryUnattended() {
	for _, s := range r.OpenQuestions.waiting() {
		if s.Status != StepInDoubt {
			r.answered(s)
			r.again(s)
		}
	}
}
