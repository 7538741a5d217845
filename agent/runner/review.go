package runner

import (
	"cmp"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/session"
)

// review answers a held plan. If the answer is no valid plan, all its problems
// are reported and the plan stays held.
func (s *Session) review(c session.Review) {
	e := s.running(c.Run)
	if e == nil || e.over() || !e.run.AwaitsReview() {
		return
	}
	resolved, err := answerReview(e.run, c)
	if err != nil {
		s.publishNote("warn", "the plan still waits for review: "+err.Error())
		return
	}
	e.apply([]event.Data{resolved})
	s.afterAdvance(e)
}

// answerReview returns the event for an answer, or for another draft.
func answerReview(run *agent.Run, c session.Review) (event.Data, error) {
	if c.Draft > 0 {
		return run.ChooseDraft(c.Draft, cmp.Or(c.By, byUser))
	}
	return run.AnswerReview(c.Answer, cmp.Or(c.By, byUser))
}

// refuseUnseen refuses a held plan if nobody can review it. The run ends, and can
// be resumed with somebody present.
func (s *Session) refuseUnseen(e *engine) {
	if s.cfg.Reviewer || e.over() || !e.run.AwaitsReview() {
		return
	}
	e.apply([]event.Data{e.run.Review().Event(event.ReviewRefuse, policy.ByNobody)})
}
