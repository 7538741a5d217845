package runner

import (
	"replan/agent/event"
	"replan/agent/session"
)

// review answers a held plan. If the answer is no valid plan, all its problems
// are reported and the plan stays held.
func (s *Session) review(c session.Review) {
	e := s.running(c.Run)
	if e == nil || e.over() || !e.run.AwaitsReview() {
		return
	}
	resolved, err := e.run.AnswerReview(c.Answer, byUser)
	if err != nil {
		s.publishNote("warn", "the plan still waits for review: "+err.Error())
		return
	}
	e.apply([]event.Data{resolved})
	s.afterAdvance(e)
}

// refuseUnseen refuses a held plan if nobody can review it. The run ends, and can
// be resumed with somebody present.
func (s *Session) refuseUnseen(e *engine) {
	if s.cfg.Reviewer || e.over() || !e.run.AwaitsReview() {
		return
	}
	e.apply([]event.Data{e.run.Review().Event(event.ReviewRefuse, byNobody)})
}
