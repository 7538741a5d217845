package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/expression"
	"replan/planning/plan"
)

// expands reports whether the step runs for each item of a list and is no item itself.
func (s *StepState) expands() bool { return s.Step.ForEach != nil && !s.isItem() }

// isItem reports whether the step is executed for one item of a list.
func (s *StepState) isItem() bool { return s.item().owner() != nil }

// whole returns the step of the plan: that of the list for an item.
func (s *StepState) whole() *StepState {
	if of := s.item().owner(); of != nil {
		return of
	}
	return s
}

// newItem fills in the state of one item of a step.
func newItem(state, of *StepState, value any, position int, attempts func(index string) attemptCount) *StepState {
	step := of.Step
	step.Index += "." + strconv.Itoa(position+1)
	step.Title = untrusted.Text(string(step.Title) + ": " + plan.OneLine(cmp.Or(itemWords(value), fmt.Sprintf("item %d", position+1)), longestItem))
	step.ForEach, step.DependsOn, step.Args = nil, nil, of.args()
	if !ownCondition(of.Step) {
		step.When = "" // it was that of the step
	}
	if step.Executor != plan.ExecutorTool && step.Args == nil {
		step.Args = map[string]any{of.Step.ForEach.As: value}
	}
	*state = StepState{
		Step: step, Status: StepPending, Parent: of.Step.Index, attempts: attempts(step.Index),
		parts: stepParts{author: of.parts.author, item: newListItem(of, value, position)},
	}
	state.place = of.place
	return state
}

// beginItems begins an attempt for a list of items, and returns those of the attempt before.
func (s *StepState) beginItems(items int) (before []*StepState) {
	before = s.fanOut().begin(items)
	s.Items = s.fanOut().listed()
	return before
}

// setItem sets one of the items. An item of an earlier attempt becomes one of this step.
func (s *StepState) setItem(i int, item *StepState) {
	item.item().belongTo(s)
	s.fanOut().set(i, item)
}

// keepItem adds an item to those of the step.
func (s *StepState) keepItem(item *StepState) {
	item.item().belongTo(s)
	s.fanOut().keep(item)
	s.Items = s.fanOut().listed()
}

// dropItems forgets the items of a step that has become another one.
func (s *StepState) dropItems() { s.Items, s.parts.fan = nil, fanOut{} }

// adopt gives an item what an earlier attempt has done for the same value at another place.
func (s *StepState) adopt(done StepState) {
	oldIndex := done.Step.Index
	done.Step, done.attempts, done.parts.item, done.place = s.Step, s.attempts, s.parts.item, s.place
	*s = done
	if done.Loop != nil {
		s.Loop = done.Loop.copyTo(s, oldIndex)
	}
}

// held reports whether an item must wait for its step.
func (s *StepState) held() bool {
	of := s.item().owner()
	return of.Status != StepRunning || s.Status == StepPending && of.fanOut().stopped()
}

// CancelItems returns the event that keeps the items of a running step that have not begun
// from beginning: one of them fails. ok is false if all have begun.
func CancelItems(s *StepState, why string) (failed event.StepFailed, ok bool) {
	for _, item := range s.Items {
		if item.Status == StepPending || item.Status == StepWaiting {
			return event.StepFailed{Index: item.Step.Index, Attempt: item.nextAttempt(), Error: untrusted.Text(why), Failure: event.FailureInterrupted}, true
		}
	}
	return event.StepFailed{}, false
}

// Item returns the item that a step is executed for, and whether it is one of several.
func (s *StepState) Item() (value any, ok bool) { return s.item().value(), s.isItem() }

// EndedItems returns how many of its items have ended.
func (s *StepState) EndedItems() int { return len(s.Items) - s.fanOut().unended() }

// takeMoved removes and returns a moved item with such a value, nil if there is none.
func takeMoved(moved map[string][]*StepState, value any) *StepState {
	if len(moved) == 0 {
		return nil
	}
	key := plan.CanonicalJSON(value)
	done := moved[key]
	if len(done) == 0 {
		return nil
	}
	moved[key] = done[1:]
	return done[0]
}

// ownCondition reports whether the condition of a step is about each item, and not about
// the step as a whole.
func ownCondition(s plan.Step) bool {
	return s.When != "" && slices.ContainsFunc(expression.NamesOf(s.When), s.ForEach.Own)
}

// decidedBy returns the conditions on which it depends whether the call of the step is made, each
// "" for none. each is the list that it is called for; nil for none.
func (s *StepState) decidedBy() (conditions [3]string, each *plan.ForEach) {
	of := s.whole()
	conditions[0] = s.Step.When
	if s.isItem() && !ownCondition(of.Step) {
		conditions[1] = of.Step.When
	}
	if s.Step.Until != nil {
		conditions[2] = s.Step.Until.Expect
	}
	return conditions, of.Step.ForEach
}

// needOfRunning returns the next need of a step that runs.
func (s *StepState) needOfRunning() need {
	switch {
	case s.Loop != nil:
		return s.Loop.need()
	case s.expands() && s.fanOut().over():
		return needRecord
	default:
		return needNothing
	}
}
