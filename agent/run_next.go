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
	return r.services().decision.next()
}

// decision decides what may be done now in a run that is not over. It only reads the parts of
// the run, by their views.
type decision struct {
	terms     termsView
	board     boardView
	planning  planningView
	outcome   outcomeView
	questions questionsView
	reviews   reviewsView
	doubts    *doubts
	notices   *notices
	guards    *guards
	planmaker *planmaker
	starter   *starter
	closer    *closer
}

func (r *decision) next() []Action {
	if lost := r.doubts.nextLost(); len(lost) > 0 {
		return lost // even if the run ends, so that the doubt is not lost with it
	}
	if r.outcome.ends() {
		return r.closer.nextEnding()
	}
	if doubts := r.doubts.nextDoubts(); len(doubts) > 0 {
		return doubts
	}
	if blocked := r.guards.overdue(); blocked != nil {
		return []Action{*blocked}
	}
	if records := r.notices.nextRecords(); len(records) > 0 {
		return records
	}
	actions := r.guards.deadline()
	switch {
	case r.questions.asks():
		return actions
	case r.planning.active():
		return append(actions, r.planmaker.nextPlanning()...)
	case r.planning.wantsReplan():
		return append(actions, r.planmaker.nextReplan()...)
	case r.outcome.answer().answersDirectly():
		return append(actions, r.closer.nextChat(r.starter.nextSteps())...)
	case r.reviews.ReviewPending():
		return actions
	case r.board.revision() > 0 && r.terms.PlanOnly():
		return r.closer.finish(ending{status: event.StatusCompleted, reason: event.ReasonGoalMet})
	case r.board.revision() > 0 && !r.starter.settled():
		return append(actions, r.starter.nextSteps()...)
	default:
		return append(actions, r.closer.nextAnswer()...)
	}
}
