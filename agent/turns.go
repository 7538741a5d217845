package agent

import (
	"replan/agent/event"
	"replan/planning/plan"
)

// needOfItems returns the next need of a step that could start with its items. ok is false
// in a dry run that does not know them: it reports the step once, for an unknown item.
func (r scheduler) needOfItems(s *StepState) (next need, ok bool) {
	each := s.Step.ForEach
	for _, reference := range plan.References(each.Items) {
		value, _ := r.value(reference.Name)
		if _, unknown := value.(plan.Placeholder); unknown {
			s.item.values = map[string]any{each.As: plan.Placeholder("<" + each.As + ">"), "index": plan.Placeholder("<index>")}
			return needNothing, false
		}
	}
	items, err := each.List(r.values())
	if err != nil {
		s.call.flaw = &flaw{event.FailureArgs, err.Error()}
		return needRecord, true
	}
	s.call.expanded, s.call.items = true, items
	return needRecord, true
}

// inTurn returns the next need of an item that may have to wait in line. Others need not
// wait for one that waits for its gate or for another attempt.
func (r scheduler) inTurn(s *StepState, now need) need {
	switch now {
	case needGate:
		r.giveTurn(s)
	case needTimer:
		if s.Polls == 0 {
			r.giveTurn(s)
		}
	case needToolSlot, needModelSlot:
		switch {
		case s.takeTurn():
		case s.reserved():
			return needTurn
		default:
			return needNothing
		}
	}
	return now
}

// giveTurn makes room for the next items in line.
func (r scheduler) giveTurn(s *StepState) {
	of := s.item.step
	if s.item.running {
		s.item.running = false
		of.fan.running--
	}
	for len(of.fan.line) > 0 && of.fan.running < of.Step.ForEach.AtOnce {
		next := of.fan.line[0]
		of.fan.line = of.fan.line[1:]
		next.item.queued = false
		r.enqueue(next)
	}
}

// overtake gives an item that starts while it is in line the turn of another one.
func (r scheduler) overtake(s *StepState) {
	if s.item.step == nil || s.item.running {
		return
	}
	s.item.running = true
	if other := s.item.step.overtaken(); other != nil {
		other.item.running = false
		r.enqueue(other)
		return
	}
	s.item.step.fan.running++
}

// endItem notes that an item needs nothing more.
func (r scheduler) endItem(s *StepState) {
	if s.item.ended {
		return
	}
	of := s.item.step
	s.item.ended = true
	of.fan.left--
	r.giveTurn(s)
	r.enqueue(of)
}

// asksForItems returns the need of an item whose gate asks for all items of its step: one
// of them asks, and the others wait for its answer.
func (r scheduler) asksForItems(s *StepState, now need) need {
	of := s.item.step
	asks := now == needGate && r.sharing(s, r.facts(s.Step.Tool)) > 0
	switch {
	case asks && of.fan.asker == nil:
		of.fan.asker = s
	case asks && of.fan.asker != s:
		return needNothing
	case !asks && of.fan.asker == s && s.Status != StepWaiting:
		of.fan.asker = nil
		for _, item := range of.Items {
			if item != s {
				r.enqueue(item)
			}
		}
	}
	return now
}
