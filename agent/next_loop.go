package agent

import (
	"replan/agent/event"
)

// applyDeadline ends the loop whose time is up.
func (r *Run) applyDeadline(id string) {
	for _, s := range r.Conversations.working() {
		if id != s.Loop.timer() || s.Loop.over() {
			continue
		}
		if s.Loop.stands() || r.Now.Before(s.Loop.deadline()) {
			r.Clock.unfire(id) // its clock stood in the meantime
			continue
		}
		s.Loop.fail(event.FailureTimeout, "it took longer than the "+s.Loop.limit().String()+" it may")
		r.scheduler().enqueue(s)
	}
}
