package runner

import "replan/agent/event"

// review answers a held plan. If the answer is no valid plan, all its problems
// are reported and the plan stays held.
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

// refuseUnseen refuses a held plan if nobody can review it. The run ends, and can
// be resumed with somebody present.
func (s *Session) refuseUnseen(e *engine) {
	if s.cfg.Reviewer || e.over() || !e.run.Held() {
		return
	}
	e.take([]event.Data{e.run.Review().Said(event.ReviewRefuse, byNobody)})
}
