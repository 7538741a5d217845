package agent

import (
	"slices"

	"replan/agent/event"
	"replan/planning/plan"
)

// expander has a step executed for each item of its list.
type expander struct {
	steps       *roster
	board       *Board
	permissions *Permissions
	clock       *Clock
	counter     *counter
	preparer    *preparer
	recorder    *recorder
	scheduler   *scheduler
}

// applyExpanded begins an attempt of a step for its items. Those whose work an earlier attempt
// has done are not executed again, wherever they are in the list now.
func (r *expander) applyExpanded(d event.StepExpanded) {
	s := r.steps.step(d.Index)
	if s == nil || !s.expands() {
		return
	}
	s.expand(d.Attempt, r.clock.Now)
	r.recorder.begin(s, nil)
	r.counter.begins(s)
	before := s.beginItems(len(d.Items))
	states := make([]StepState, len(d.Items)) // one allocation, since lists can be long
	moved := r.movedItems(s, before, d.Items)
	for i, value := range d.Items {
		stays := i < len(before) && plan.EqualValues(before[i].item().value(), value)
		if stays {
			s.setItem(i, before[i])
		} else {
			s.setItem(i, newItem(&states[i], s, value, i, r.board.attemptsBefore))
		}
		item := s.Items[i]
		if !r.isWorkDone(item) {
			if done := takeMoved(moved, value); done != nil {
				item.adopt(*done)
			}
		}
		item.item().open()
		if item.Status == StepCompleted {
			s.fanOut().end(item)
			continue
		}
		if stays || r.scheduler.onlyRechecks(item) {
			r.scheduler.again(item)
		}
	}
	for _, item := range s.Items {
		r.preparer.findMissingArgs(item)
		r.scheduler.enqueue(item)
	}
	r.scheduler.enqueue(s)
}

// isWorkDone reports whether an item is completed, or needs nothing but its checks.
func (r *expander) isWorkDone(item *StepState) bool {
	return item.Status == StepCompleted || r.scheduler.onlyRechecks(item)
}

// movedItems returns the items whose work is done and that are at another place of the new list
// or not in it, by value. It returns none if the call of an item depends on its place.
func (r *expander) movedItems(s *StepState, before []*StepState, list []any) map[string][]*StepState {
	if slices.ContainsFunc(plan.References(s.args()), func(ref plan.Reference) bool { return ref.Name == "index" }) {
		return nil
	}
	moved := map[string][]*StepState{}
	for i, item := range before {
		if r.isWorkDone(item) && (i >= len(list) || !plan.EqualValues(item.item().value(), list[i])) {
			value := plan.CanonicalJSON(item.item().value())
			moved[value] = append(moved[value], item)
		}
	}
	return moved
}

// keepItems gives a step of a new plan the items whose work is done, which are not executed
// again. The others follow the new step: it may have another gate, timeout or condition. So do
// the checks of those that are not completed.
func (r *expander) keepItems(s *StepState, before []*StepState) {
	s.beginItems(0)
	for i, item := range before {
		if item.Status == StepCompleted {
			s.keepItem(item)
			continue
		}
		s.keepItem(newItem(new(StepState), s, item.item().value(), i, r.board.attemptsBefore))
		s.fanOut().waitForOne()
		if r.scheduler.onlyRechecks(item) {
			s.Items[i].adopt(*item)
			r.scheduler.beginChecks(s.Items[i])
		}
	}
}

// stopItems ends a step because of an item: the others that run may finish, and nothing new
// starts.
func (r *expander) stopItems(s *StepState) {
	of := s.item().owner()
	of.fanOut().stop(s)
	for _, item := range of.Items {
		if item.Status == StepWaiting {
			r.permissions.closeGate(item.Gate)
			item.leaveGate()
		}
		r.scheduler.enqueue(item)
	}
	r.scheduler.enqueue(of)
}
