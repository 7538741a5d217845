package agent

import (
	"slices"

	"replan/agent/event"
	"replan/planning/plan"
)

// resumer takes up the steps of a run again where its events end.
type resumer struct {
	steps     *roster
	tools     *Toolbox
	board     *Board
	questions *OpenQuestions
	caller    *caller
	decider   *decider
	recorder  *recorder
	scheduler *scheduler
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

// loseToolCalls handles the steps that were running. A step runs again if it was
// repeatable when it started and nothing now says otherwise. For any other, it is
// unknown whether it took effect. So it is for a step in doubt that was to run again.
func (r *resumer) loseToolCalls(didRead map[*StepState]bool) {
	r.questions.forgetLost()
	r.steps.every(func(s *StepState) {
		before := s.interruption().take()
		if s.mayRerun() {
			s.doubtAgain() // the answer of an earlier resume may no longer hold
			r.decider.ask(s)
			return
		}
		if s.Status != StepRunning || s.Loop != nil || s.expands() {
			return // a sub-agent continues from its last reply, and items by themselves
		}
		unavailable := s.Step.Executor == plan.ExecutorTool && r.tools.facts(s.Step.Tool).Err != nil
		if didRead[s] && (unavailable || r.caller.repeatable(s)) {
			s.setPending()
			return
		}
		s.interruption().lose(before)
		r.questions.lose(s)
	})
}

// takeUp prepares another try of the steps of a run that had ended.
func (r *resumer) takeUp() {
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
			r.scheduler.again(s)
		case StepPending:
			s.unskip() // the cause of the skip is retried
		case StepInDoubt:
			r.decider.ask(s)
		}
	})
}

// retryUnattended retries the failed steps that wait for a user who is no longer present:
// resuming a run means retrying.
func (r *resumer) retryUnattended() {
	for _, s := range r.questions.waiting() {
		if s.Status != StepInDoubt {
			r.decider.answered(s)
			r.scheduler.again(s)
		}
	}
}

// checkUnchecked has the checks evaluated again of completed steps and items with one that
// was not.
func (r *resumer) checkUnchecked() {
	unchecked := func(s *StepState) bool {
		return s.Status == StepCompleted && slices.ContainsFunc(s.Checked, func(c event.CheckCompleted) bool { return c.State == plan.StateUnchecked })
	}
	for _, s := range r.board.Steps {
		if unchecked(s) {
			r.scheduler.beginChecks(s)
		}
		if s.Status != StepCompleted || !slices.ContainsFunc(s.Items, unchecked) {
			continue
		}
		s.setRunning() // until its items have ended again
		r.recorder.takeBack(s, s.Attempt)
		for _, item := range s.Items {
			if unchecked(item) {
				r.scheduler.beginChecks(item)
				s.fanOut().reopen(item)
			}
		}
	}
}
