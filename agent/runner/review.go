package runner

import "replan/agent/event"

// review answers a plan that is held. Where the answer makes no valid plan, that
// is said with all that is wrong, and the plan waits on.
func (s *Session) review(c Review) {
	e := s.running(c.Run)
	if e == nil || e.over() || !e.run.Held() {
		return
	}
	said, err := e.run.Reviewed(c.Answer, byUser)
	if err != nil {
		s.tellOf("warn", "the plan still waits to be looked over: "+err.Error())
		return
	}
	e.take([]event.Data{said})
	s.settle(e)
}

// refuseUnseen refuses a plan that is held where nobody is there to look it over:
// the run ends, and can be resumed where somebody is.
func (s *Session) refuseUnseen(e *engine) {
	if s.cfg.Reviewer || e.over() || !e.run.Held() {
		return
	}
	e.take([]event.Data{e.run.Review().Said(event.ReviewRefuse, byNobody)})
}
