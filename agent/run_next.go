package agent

import (
	"replan/agent/event"
)

// Next returns what may be done now. It never returns more than there are free
// slots for, and nothing twice once the records of its actions are applied. It
// changes nothing. An empty result means that the run waits for an event or is
// over.
func (r *Run) Next() []Action {
	if !r.Active() {
		return nil
	}
	copied := *r
	return copied.next()
}

// next returns what may be done now in a run that is not over.
func (r *Run) next() []Action {
	end := r.closer()
	if lost := end.nextLost(); len(lost) > 0 {
		return lost // even if the run ends, so that the doubt is not lost with it
	}
	if r.ends() {
		return end.nextEnding()
	}
	if doubts := end.nextDoubts(); len(doubts) > 0 {
		return doubts
	}
	if blocked := end.overdue(); blocked != nil {
		return []Action{*blocked}
	}
	if records := end.nextRecords(); len(records) > 0 {
		return records
	}
	actions := end.deadline()
	switch {
	case r.asks():
		return actions
	case r.Planning.active():
		return append(actions, r.planmaker().nextPlanning()...)
	case r.Planning.wantsReplan():
		return append(actions, r.planmaker().nextReplan()...)
	case r.Synthesis.answersDirectly():
		return append(actions, r.planmaker().nextChat()...)
	case r.ReviewPending():
		return actions
	case r.Revision > 0 && r.planOnly:
		return end.finish(ending{status: event.StatusCompleted, reason: event.ReasonGoalMet})
	case r.Revision > 0 && !end.settled():
		return append(actions, r.starter().nextSteps()...)
	default:
		return append(actions, r.planmaker().nextAnswer()...)
	}
}
