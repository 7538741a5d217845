package agent

import (
	"replan/agent/event"
	"replan/planning/plan"
)

// needOfItems returns the next need of a step that could start with its items. ok is false
// in a dry run that does not know them: it reports the step once, for an unknown item.
func (r *scheduler) needOfItems(s *StepState) (next need, ok bool) {
	each := s.Step.ForEach
	for _, reference := range plan.References(each.Items) {
		value, _ := r.board.value(reference.Name)
		if _, unknown := value.(plan.Placeholder); unknown {
			s.item().pretend(map[string]any{each.As: plan.Placeholder("<" + each.As + ">"), "index": plan.Placeholder("<index>")})
			return needNothing, false
		}
	}
	items, err := each.List(r.board.values())
	if err != nil {
		s.call().cannotStart(event.FailureArgs, err.Error())
		return needRecord, true
	}
	s.call().beginWith(items)
	return needRecord, true
}

// inTurn returns the next need of an item that may have to wait in line. Others need not
// wait for one that waits for its gate or for another attempt.
func (r *scheduler) inTurn(s *StepState, now need) need {
	of := s.item().owner()
	switch now {
	case needGate:
		r.giveTurn(s)
	case needTimer:
		if s.Polls == 0 {
			r.giveTurn(s)
		}
	case needToolSlot, needModelSlot:
		switch {
		case of.fanOut().takeTurn(s, of.Step.ForEach.AtOnce):
		case s.gate().reserved():
			return needTurn
		default:
			return needNothing
		}
	}
	return now
}

// giveTurn makes room for the next items in line.
func (r *scheduler) giveTurn(s *StepState) {
	of := s.item().owner()
	items, atOnce := of.fanOut(), of.Step.ForEach.AtOnce
	items.leaveTurn(s)
	for next := items.nextInLine(atOnce); next != nil; next = items.nextInLine(atOnce) {
		r.enqueue(next)
	}
}

// overtake gives an item that starts while it is in line the turn of another one.
func (r *scheduler) overtake(s *StepState) {
	if !s.isItem() {
		return
	}
	if other := s.item().owner().fanOut().overtake(s); other != nil {
		r.enqueue(other)
	}
}

// endItem notes that an item needs nothing more.
func (r *scheduler) endItem(s *StepState) {
	if of := s.item().owner(); of.fanOut().end(s) {
		r.giveTurn(s)
		r.enqueue(of)
	}
}

// asksForItems returns the need of an item whose gate asks for all items of its step. One
// of them asks, and the others wait for its answer.
func (r *scheduler) asksForItems(s *StepState, now need) need {
	of := s.item().owner()
	asks := now == needGate && r.caller.sharing(s, r.tools.facts(s.Step.Tool)) > 0
	switch {
	case asks && of.fanOut().asking() == nil:
		of.fanOut().setAsker(s)
	case asks && of.fanOut().asking() != s:
		return needNothing
	case !asks && of.fanOut().asking() == s && s.Status != StepWaiting:
		of.fanOut().setAsker(nil)
		for _, item := range of.Items {
			if item != s {
				r.enqueue(item)
			}
		}
	}
	return now
}
