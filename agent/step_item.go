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

// itemOf ties the execution for one item of a list to the step with for_each.
type itemOf struct {
	step     *StepState     // nil for a step that is no item
	position int            // from 0
	value    any            // the item
	values   map[string]any // what args and expressions may name besides the variables of the run
	ended    bool           // it needs nothing more in this attempt of the step
	running  bool           // it is one of those that may run at once
	queued   bool           // it is in line to be one
}

// fanOut is the progress of a step through its items.
type fanOut struct {
	running int          // items that have begun and not ended
	line    []*StepState // those that wait because of at_once, in the order in which they became ready
	left    int          // items that have not ended
	stopper *StepState   // the item whose failure ends the step; nil while there is none
	asker   *StepState   // the item that asks for all of them, see gateState; nil while none does
}

// longestItem bounds what the title of an item shows of it, in characters.
const longestItem = 60

// expands reports whether the step runs for each item of a list and is no item itself.
func (s *StepState) expands() bool { return s.Step.ForEach != nil && s.item.step == nil }

// isItem reports whether the step is executed for one item of a list, and itemStep returns the
// step that has the list; nil for a step that is no item.
func (s *StepState) isItem() bool         { return s.item.step != nil }
func (s *StepState) itemStep() *StepState { return s.item.step }

// whole returns the step of the plan: that of the list for an item.
func (s *StepState) whole() *StepState {
	if s.item.step != nil {
		return s.item.step
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
	values := of.Step.ForEach.ValuesFor(value, position)
	if step.Executor != plan.ExecutorTool && step.Args == nil {
		step.Args = map[string]any{of.Step.ForEach.As: value}
	}
	*state = StepState{
		Step: step, Status: StepPending, Parent: of.Step.Index, attempts: attempts(step.Index),
		item: itemOf{step: of, position: position, value: value, values: values}, replanned: of.replanned,
	}
	state.author, state.place = of.author, of.place
	return state
}

// beginItems begins an attempt for a list of items, and returns those of the attempt before.
func (s *StepState) beginItems(items int) (before []*StepState) {
	before = s.Items
	s.Items, s.fan = make([]*StepState, items), fanOut{left: items}
	return before
}

// setItem sets one of the items. An item of an earlier attempt becomes one of this step.
func (s *StepState) setItem(i int, item *StepState) {
	item.item.step, s.Items[i] = s, item
}

// keepItem adds an item to those of the step.
func (s *StepState) keepItem(item *StepState) {
	item.item.step = s
	s.Items = append(s.Items, item)
}

// dropItems forgets the items of a step that has become another one.
func (s *StepState) dropItems() (before []*StepState) {
	before = s.Items
	s.Items, s.fan = nil, fanOut{}
	return before
}

// adopt gives an item what an earlier attempt has done for the same value at another place.
func (s *StepState) adopt(done StepState) {
	was := done.Step.Index
	done.Step, done.attempts, done.item, done.place = s.Step, s.attempts, s.item, s.place
	*s = done
	if done.Loop != nil {
		s.Loop = done.Loop.copyTo(s, was)
	}
}

// itemValue returns the item, and itemValues what its args and expressions may name besides
// the variables of the run; nil for a step that is no item.
func (s *StepState) itemValue() any             { return s.item.value }
func (s *StepState) itemValues() map[string]any { return s.item.values }

// pretendItem lets a dry run name an item that is not known.
func (s *StepState) pretendItem(values map[string]any) { s.item.values = values }

// openItem lets an item run that has not ended.
func (s *StepState) openItem() { s.item.ended, s.item.running, s.item.queued = false, false, false }

// reopenItem lets an item run again that had ended, and waitForOne has its step wait for one
// more.
func (s *StepState) reopenItem() {
	s.item.ended = false
	s.item.step.fan.left++
}
func (s *StepState) waitForOne() { s.fan.left++ }

// endItem notes that an item needs nothing more. It reports whether that is new.
func (s *StepState) endItem() bool {
	if s.item.ended {
		return false
	}
	s.item.ended = true
	s.item.step.fan.left--
	return true
}

// stopItems notes the item whose failure ends the step.
func (s *StepState) stopItems(failed *StepState) {
	if s.fan.stopper == nil {
		s.fan.stopper = failed
	}
}

// asker returns the item that asks for all items of a step; nil while none does. setAsker
// sets it.
func (s *StepState) asker() *StepState        { return s.fan.asker }
func (s *StepState) setAsker(item *StepState) { s.fan.asker = item }

// held reports whether an item must wait for its step.
func (s *StepState) held() bool {
	of := s.item.step
	return of.Status != StepRunning || s.Status == StepPending && of.fan.stopper != nil
}

// overtaken returns an item whose turn another one of the step may take: it has not
// started, and its call is not approved. It is nil if there is none.
func (s *StepState) overtaken() *StepState {
	for _, item := range s.Items {
		if item.item.running && item.Status == StepPending && !item.fill.asking && !item.reserved() {
			return item
		}
	}
	return nil
}

// takeTurn reports whether an item that only a slot keeps from running may do so. If enough
// others run, it gets in line.
func (s *StepState) takeTurn() bool {
	of := s.item.step
	switch most := of.Step.ForEach.AtOnce; {
	case s.item.running:
	case most == 0 || of.fan.running < most:
		s.item.running = true
		of.fan.running++
	case !s.item.queued:
		s.item.queued = true
		of.fan.line = append(of.fan.line, s)
	}
	return s.item.running
}

// leaveTurn lets another item run in place of one that waits.
func (s *StepState) leaveTurn() {
	if s.item.running {
		s.item.running = false
		s.item.step.fan.running--
	}
}

// nextInLine takes the next item out of the line, or returns nil if none may run.
func (s *StepState) nextInLine() *StepState {
	if len(s.fan.line) == 0 || s.fan.running >= s.Step.ForEach.AtOnce {
		return nil
	}
	next := s.fan.line[0]
	s.fan.line = s.fan.line[1:]
	next.item.queued = false
	return next
}

// overtake gives an item that starts while it is in line the turn of another one, which it
// returns; nil if it needs none.
func (s *StepState) overtake() *StepState {
	if s.item.step == nil || s.item.running {
		return nil
	}
	s.item.running = true
	other := s.item.step.overtaken()
	if other == nil {
		s.item.step.fan.running++
		return nil
	}
	other.item.running = false
	return other
}

// itemsOver reports whether a step has nothing more to do for its items.
func (s *StepState) itemsOver() bool {
	if s.fan.stopper == nil {
		return s.fan.left == 0
	}
	return !slices.ContainsFunc(s.Items, func(item *StepState) bool {
		return item.Status == StepRunning || item.Status == StepChecking || item.awaitsUser
	})
}

// mayOvertake reports whether an item in line may take the turn of another one of its step.
func (s *StepState) mayOvertake() bool { return s.item.step.overtaken() != nil }

// hasUnfinishedItems reports whether some items of a completed step were neither completed nor
// left out by their condition.
func (s *StepState) hasUnfinishedItems() bool {
	return slices.ContainsFunc(s.Items, func(item *StepState) bool { return item.Status != StepCompleted && !item.NotTaken })
}

// doneItems names the completed items of a step, at most a dozen.
func (s *StepState) doneItems() []string {
	const most = 12
	var names []string
	for _, item := range s.Items {
		if item.Status != StepCompleted {
			continue
		}
		if len(names) == most {
			return append(names, "…")
		}
		names = append(names, plan.OneLine(cmp.Or(itemWords(item.item.value), item.Step.Index), longestItem))
	}
	return names
}

// CancelItems returns the event that keeps the items of a running step that have not begun
// from beginning: one of them fails. ok is false if all have begun.
func CancelItems(s *StepState, why string) (failed event.StepFailed, ok bool) {
	for _, item := range s.Items {
		if item.Status == StepPending || item.Status == StepWaiting {
			return event.StepFailed{Index: item.Step.Index, Attempt: item.attempts.total + 1, Error: untrusted.Text(why), Failure: event.FailureInterrupted}, true
		}
	}
	return event.StepFailed{}, false
}

// Item returns the item that a step is executed for, and whether it is one of several.
func (s *StepState) Item() (value any, ok bool) { return s.item.value, s.item.step != nil }

// EndedItems returns how many of its items have ended.
func (s *StepState) EndedItems() int { return len(s.Items) - s.fan.left }

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

// itemWords names an item in a few words: text as it is, of an object its most telling field.
// It is "" for a list, and for an object without such a field.
func itemWords(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []any:
		return ""
	case map[string]any:
		for _, name := range []string{"path", "name", "title", "file", "id", "url", "key"} {
			if text, ok := v[name].(string); ok && text != "" {
				return text
			}
		}
		return ""
	}
	return plan.CanonicalJSON(value)
}

// ownCondition reports whether the condition of a step is about each item, and not about
// the step as a whole.
func ownCondition(s plan.Step) bool {
	return s.When != "" && slices.ContainsFunc(expression.NamesOf(s.When), s.ForEach.Own)
}

// needOfRunning returns the next need of a step that runs.
func (s *StepState) needOfRunning() need {
	switch {
	case s.Loop != nil:
		return s.Loop.need()
	case s.expands() && s.itemsOver():
		return needRecord
	default:
		return needNothing
	}
}
