package agent

import (
	"time"

	"replan/agent/event"
	"replan/planning/plan"
)

// resumer takes a run up again where its events end.
type resumer struct {
	arranger      *arranger
	tracker       *tracker
	dialogue      *dialogue
	scheduler     *scheduler
	caller        *caller
	recorder      *recorder
	steps         *roster
	terms         *Terms
	tools         *Toolbox
	board         *Board
	planning      *Planning
	outcome       *Outcome
	conversations *Conversations
	models        *ModelCalls
	permissions   *Permissions
	questions     *OpenQuestions
	acceptance    *Acceptance
	flight        *flight
	clock         *Clock
	meter         *Meter
}

// applyResumed continues the run where its events end. Calls in flight when the
// program ended will never return. If the run had ended itself, what it failed at
// is retried.
func (r *resumer) applyResumed(d event.RunResumed, last time.Time) {
	unverified, over := r.outcome.unverified(), r.outcome.endedEarly() // if only the answer is missing, do not retry any step
	r.clock.resume(last)
	r.recorder.loseAttempts(last)
	r.meter.resume(d.Limits)
	didRead := r.reading()
	r.terms.resume(d)
	if d.WritesCalls {
		r.conversations.holdCalls(d.Model)
	}
	if d.Window > 0 {
		r.models.setWindow(d.Window)
	}
	_, rules := grants(d.Rules)
	r.tools.replace(d.Catalog, rules, r.board.Revision == 0)
	r.steps.every(func(s *StepState) { r.tools.learn(s.Step.Tool) })
	r.outcome.reopen()
	r.questions.dropElicitations(func(event.ElicitationRequested) bool { return true })
	r.tracker.askAgain()
	r.loseModelCalls()
	r.loseToolCalls(didRead)
	if over {
		r.takeUp()
	}
	if unverified {
		r.tracker.checkUnchecked()
	}
	if !r.terms.attended() {
		r.retryUnattended()
	}
	r.clock.unfire(event.GuardTime)
	if r.board.Revision == 0 {
		r.steps.every(r.scheduler.enqueue) // including calls of the chat
	} else {
		r.scheduler.rebuildGraph()
		for _, s := range r.board.Steps {
			if s.userSkips() && s.Status != StepCompleted {
				r.scheduler.skipDependents(s)
			}
		}
	}
	if d.Review {
		r.terms.review()
		r.arranger.hold()
	}
}

// reading returns the running steps whose tools were known to be read-only when
// they started.
func (r *resumer) reading() map[*StepState]bool {
	reads := map[*StepState]bool{}
	r.steps.every(func(s *StepState) {
		if s.Status == StepRunning && r.caller.repeatable(s) {
			reads[s] = true
		}
	})
	return reads
}

// loseModelCalls drops the pending model requests; planning and synthesis send
// them again.
func (r *resumer) loseModelCalls() {
	r.flight.loseModels()
	r.planning.loseRequest()
	r.outcome.loseAnswer(r.conversations.Chat != nil)
	if r.conversations.Chat != nil {
		r.conversations.Chat.interrupt()
	}
	r.models.loseExchanges()
	r.dialogue.resumeLoops()
	r.board.executed(func(s *StepState) { s.request().stop() })
}

// loseToolCalls handles the steps that were running. A step runs again if it was
// repeatable when it started and nothing now says otherwise. For any other, it is
// unknown whether it took effect. So it is for a step in doubt that was to run again.
func (r *resumer) loseToolCalls(didRead map[*StepState]bool) {
	r.flight.loseCalls()
	r.questions.forgetLost()
	r.steps.every(func(s *StepState) {
		before := s.interruption().take()
		if s.mayRerun() {
			s.doubtAgain() // the answer of an earlier resume may no longer hold
			r.tracker.ask(s)
			return
		}
		if s.Status != StepRunning || s.Loop != nil || s.expands() {
			return // a sub-agent continues from its last reply, and items by themselves
		}
		unavailable := s.Step.Executor == plan.ExecutorTool && r.tools.facts(s.Step.Tool).Err != nil
		if didRead[s] && (unavailable || r.caller.repeatable(s)) {
			s.goOn()
			return
		}
		s.interruption().lose(before)
		r.questions.lose(s)
	})
}

// takeUp prepares another try of a run that had ended.
func (r *resumer) takeUp() {
	r.planning.dropReplan()
	r.questions.closeAll()
	r.permissions.closeGates() // it may have ended before they were closed
	r.acceptance.beginAcceptance()
	r.conversations.Chat.takeUp()
	r.steps.every(func(s *StepState) {
		s.askUser(false)
		if s.inner().isAnswered() {
			return // the model already knows the outcome of the call
		}
		if s.orphaned() && s.Status != StepInDoubt || s.isItem() && s.item().owner().Status == StepCompleted {
			return
		}
		switch s.Status {
		case StepFailed, StepSkipped, StepWaiting:
			if s.staysSkipped() {
				return
			}
			r.tracker.again(s)
		case StepPending:
			s.unskip() // the cause of the skip is retried
		case StepInDoubt:
			r.tracker.ask(s)
		}
	})
	if r.board.Revision > 0 {
		r.planning.finish()
	} else if !r.outcome.Synthesis.Direct && r.planning.unplanned() {
		r.steps.every(r.board.countAttempts)
		r.planning.restart(r.planning.makers().Plan(r.arranger.briefOfGoal()))
		r.board.clear()
		r.questions.forgetLost()
	}
}

// retryUnattended retries the failed steps that wait for a user who is no longer present:
// resuming a run means retrying.
func (r *resumer) retryUnattended() {
	for _, s := range r.questions.waiting() {
		if s.Status != StepInDoubt {
			r.tracker.answered(s)
			r.tracker.again(s)
		}
	}
}
