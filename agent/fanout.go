package agent

import (
	"cmp"
	"slices"

	"replan/planning/plan"
)

// fanOut is the progress of a step with for_each through its items.
type fanOut struct {
	items   []*StepState // "3.1", "3.2" of step 3; see [StepState.Items]
	running int          // items that have begun and not ended
	line    []*StepState // those that wait because of at_once, in the order in which they became ready
	left    int          // items that have not ended
	stopper *StepState   // the item whose failure ends the step; nil while there is none
	asker   *StepState   // the item whose gate asks for all of them; nil while none does
}

// begin begins with a number of items, which set fills in. It returns the items before.
func (f *fanOut) begin(items int) (before []*StepState) {
	before = f.items
	*f = fanOut{items: make([]*StepState, items), left: items}
	return before
}

// set sets one of the items.
func (f *fanOut) set(i int, item *StepState) { f.items[i] = item }

// keep adds an item that has ended.
func (f *fanOut) keep(item *StepState) { f.items = append(f.items, item) }

// waitForOne notes that one more item has not ended.
func (f *fanOut) waitForOne() { f.left++ }

// listed returns the items.
func (f *fanOut) listed() []*StepState { return f.items }

// all returns the items, nil before the step has begun with them.
func (f *fanOut) all() []stepView { return viewsOf(f.items) }

// count returns the number of items.
func (f *fanOut) count() int { return len(f.items) }

// unended returns how many items have not ended.
func (f *fanOut) unended() int { return f.left }

// end notes that an item needs nothing more. It reports whether that is new.
func (f *fanOut) end(s *StepState) bool {
	item := s.item()
	if item.ended {
		return false
	}
	item.ended = true
	f.left--
	return true
}

// reopen lets an item run again that had ended.
func (f *fanOut) reopen(s *StepState) {
	s.item().ended = false
	f.left++
}

// stop notes the item whose failure ends the step, unless there is one.
func (f *fanOut) stop(failed *StepState) {
	if f.stopper == nil {
		f.stopper = failed
	}
}

// stopped reports whether the failure of an item ends the step.
func (f *fanOut) stopped() bool { return f.stopper != nil }

// stoppedBy returns the item whose failure ends the step; nil while there is none.
func (f *fanOut) stoppedBy() stepView {
	if f.stopper == nil {
		return nil
	}
	return f.stopper
}

// asking returns the item whose gate asks for all items; nil while none does.
func (f *fanOut) asking() *StepState { return f.asker }

// setAsker sets the item whose gate asks for all items.
func (f *fanOut) setAsker(item *StepState) { f.asker = item }

// over reports whether the step has nothing more to do for its items.
func (f *fanOut) over() bool {
	if f.stopper == nil {
		return f.left == 0
	}
	return !slices.ContainsFunc(f.items, func(item *StepState) bool {
		return item.Status == StepRunning || item.Status == StepChecking || item.awaitsAnswer()
	})
}

// takeTurn reports whether an item that only a slot keeps from running may do so. If atOnce
// others run, it gets in line; 0 is no limit.
func (f *fanOut) takeTurn(s *StepState, atOnce int) bool {
	item := s.item()
	switch {
	case item.running:
	case atOnce == 0 || f.running < atOnce:
		item.running = true
		f.running++
	case !item.queued:
		item.queued = true
		f.line = append(f.line, s)
	}
	return item.running
}

// leaveTurn lets another item run in place of one that waits.
func (f *fanOut) leaveTurn(s *StepState) {
	if item := s.item(); item.running {
		item.running = false
		f.running--
	}
}

// nextInLine takes the next item out of the line, or returns nil if none may run.
func (f *fanOut) nextInLine(atOnce int) *StepState {
	if len(f.line) == 0 || f.running >= atOnce {
		return nil
	}
	next := f.line[0]
	f.line = f.line[1:]
	next.item().queued = false
	return next
}

// overtake gives an item that starts while it is in line the turn of another one, which it
// returns; nil if it needs none.
func (f *fanOut) overtake(s *StepState) *StepState {
	item := s.item()
	if item.running {
		return nil
	}
	item.running = true
	other := f.overtaken()
	if other == nil {
		f.running++
		return nil
	}
	other.item().running = false
	return other
}

// overtaken returns an item whose turn another one of the step may take: it has not
// started, and its call is not approved. It is nil if there is none.
func (f *fanOut) overtaken() *StepState {
	for _, item := range f.items {
		if item.item().running && item.Status == StepPending && !item.request().asks() && !item.gate().reserved() {
			return item
		}
	}
	return nil
}

// unfinished reports whether some items of a completed step were neither completed nor left out
// by their condition.
func (f *fanOut) unfinished() bool {
	return slices.ContainsFunc(f.items, func(item *StepState) bool { return item.Status != StepCompleted && !item.NotTaken })
}

// done names the completed items, at most a dozen.
func (f *fanOut) done() []string {
	const most = 12
	var names []string
	for _, item := range f.items {
		if item.Status != StepCompleted {
			continue
		}
		if len(names) == most {
			return append(names, "…")
		}
		names = append(names, plan.OneLine(cmp.Or(itemWords(item.item().value()), item.Step.Index), longestItem))
	}
	return names
}
