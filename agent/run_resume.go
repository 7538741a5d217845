package agent

import (
	"time"

	"replan/agent/event"
)

// applyResumed continues the run where its events end. Calls in flight when the
// program ended will never return. If the run had ended itself, what it failed at
// is retried.
func (r *Run) applyResumed(d event.RunResumed, last time.Time) {
	to := r.services()
	unverified, over := r.Outcome.unverified(), r.Outcome.endedEarly() // if only the answer is missing, do not retry any step
	r.Clock.resume(last)
	to.recorder.loseAttempts(last)
	r.Meter.resume(d.Limits)
	didRead := to.resumer.reading()
	r.Terms.resume(d)
	if d.WritesCalls {
		r.Conversations.holdCalls(d.Model)
	}
	if d.Window > 0 {
		r.ModelCalls.setWindow(d.Window)
	}
	_, rules := grants(d.Rules)
	r.Toolbox.replace(d.Catalog, rules, r.Revision == 0)
	to.roster.every(func(s *StepState) { r.Toolbox.learn(s.Step.Tool) })
	r.Outcome.reopen()
	r.OpenQuestions.dropElicitations(func(event.ElicitationRequested) bool { return true })
	to.gatekeeper.askAgain()
	r.loseModelCalls()
	r.flight.loseCalls()
	to.resumer.loseToolCalls(didRead)
	if over {
		r.takeUp()
	}
	if unverified {
		to.resumer.checkUnchecked()
	}
	if !r.Terms.attended() {
		to.resumer.retryUnattended()
	}
	r.Clock.unfire(event.GuardTime)
	if r.Revision == 0 {
		to.roster.every(to.scheduler.enqueue) // including calls of the chat
	} else {
		to.scheduler.rebuildGraph()
		for _, s := range r.Steps {
			if s.userSkips() && s.Status != StepCompleted {
				to.scheduler.skipDependents(s)
			}
		}
	}
	if d.Review {
		r.Terms.review()
		r.hold()
	}
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
	r.services().dialogue.resumeLoops()
	r.Board.executed(func(s *StepState) { s.request().stop() })
}

// takeUp prepares another try of a run that had ended.
func (r *Run) takeUp() {
	to := r.services()
	r.Planning.dropReplan()
	r.OpenQuestions.closeAll()
	r.Permissions.closeGates() // it may have ended before they were closed
	r.Acceptance.beginAcceptance()
	r.Chat.takeUp()
	to.resumer.takeUp()
	if r.Revision > 0 {
		r.Planning.finish()
	} else if !r.Synthesis.Direct && r.Planning.unplanned() {
		to.roster.every(r.Board.countAttempts)
		to.planwriter.planAgain()
		r.Board.clear()
		r.OpenQuestions.forgetLost()
	}
}
