package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"replan/agent/event"
	"replan/internal/english"
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

// applyExpanded begins an attempt of a step for its items. Those whose work an earlier attempt
// has done are not executed again, wherever they are in the list now.
func (r *Run) applyExpanded(d event.StepExpanded) {
	s := r.Step(d.Index)
	if s == nil || !s.expands() {
		return
	}
	s.Status, s.Attempt, s.attempts.total, s.StartedAt = StepRunning, d.Attempt, d.Attempt, r.Now
	s.Error, s.Failure, s.Output = "", "", ""
	a := r.recorder().attemptOf(s, d.Attempt)
	a.Status, a.StartedAt = StepRunning, r.Now
	s.ReadyAt = time.Time{}
	r.Meter.beginStep()
	before := s.Items
	s.Items = make([]*StepState, len(d.Items))
	states := make([]StepState, len(d.Items)) // one allocation, since lists can be long
	s.fan = fanOut{left: len(d.Items)}
	moved := r.movedItems(s, before, d.Items)
	for i, value := range d.Items {
		stays := i < len(before) && plan.EqualValues(before[i].item.value, value)
		if stays {
			s.Items[i] = before[i]
			s.Items[i].item.step = s
		} else {
			s.Items[i] = r.item(&states[i], s, value, i)
		}
		item := s.Items[i]
		if !r.isWorkDone(item) {
			if done := takeMoved(moved, value); done != nil {
				adopt(item, *done)
			}
		}
		if item.Status == StepCompleted {
			item.item.ended = true
			s.fan.left--
			continue
		}
		item.item.ended, item.item.running, item.item.queued = false, false, false
		if stays || r.scheduler().onlyRechecks(item) {
			r.again(item)
		}
	}
	for _, item := range s.Items {
		r.caller().findMissingArgs(item)
		r.scheduler().enqueue(item)
	}
	r.scheduler().enqueue(s)
}

// isWorkDone reports whether an item is completed, or needs nothing but its checks.
func (r *Run) isWorkDone(item *StepState) bool {
	return item.Status == StepCompleted || r.scheduler().onlyRechecks(item)
}

// movedItems returns the items whose work is done and that are at another place of the new list
// or not in it, by value. It returns none if the call of an item depends on its place.
func (r *Run) movedItems(s *StepState, before []*StepState, list []any) map[string][]*StepState {
	if slices.ContainsFunc(plan.References(s.args()), func(ref plan.Reference) bool { return ref.Name == "index" }) {
		return nil
	}
	moved := map[string][]*StepState{}
	for i, item := range before {
		if r.isWorkDone(item) && (i >= len(list) || !plan.EqualValues(item.item.value, list[i])) {
			value := plan.CanonicalJSON(item.item.value)
			moved[value] = append(moved[value], item)
		}
	}
	return moved
}

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

// adopt gives an item what an earlier attempt has done for the same value at another place.
func adopt(item *StepState, done StepState) {
	was := done.Step.Index
	done.Step, done.attempts, done.item, done.sched = item.Step, item.attempts, item.item, item.sched
	*item = done
	if done.Loop != nil {
		item.Loop = done.Loop.movedTo(item, was)
	}
}

// item fills in the state of one item of a step.
func (r *Run) item(state, of *StepState, value any, position int) *StepState {
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
		Step: step, Status: StepPending, Parent: of.Step.Index, attempts: r.attemptsBefore(step.Index),
		item: itemOf{step: of, position: position, value: value, values: values}, replanned: of.replanned,
	}
	state.author = of.author
	state.sched.length, state.sched.place = of.sched.length, of.sched.place
	return state
}

// keepItems gives a step of a new plan the items whose work is done, which are not executed
// again. The others follow the new step: it may have another gate, timeout or condition. So do
// the checks of those that are not completed.
func (r *Run) keepItems(s *StepState, before []*StepState) {
	s.Items = make([]*StepState, len(before))
	for i, item := range before {
		if item.Status == StepCompleted {
			item.item.step, s.Items[i] = s, item
			continue
		}
		s.Items[i] = r.item(new(StepState), s, item.item.value, i)
		s.fan.left++
		if r.scheduler().onlyRechecks(item) {
			adopt(s.Items[i], *item)
			r.beginChecks(s.Items[i])
		}
	}
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

// stopItems ends a step because of an item: the others that run may finish, and nothing new
// starts.
func (r *Run) stopItems(s *StepState) {
	of := s.item.step
	if of.fan.stopper == nil {
		of.fan.stopper = s
	}
	for _, item := range of.Items {
		if item.Status == StepWaiting {
			r.Permissions.closeGate(item.Gate)
			item.Status, item.Gate = StepPending, ""
		}
		r.scheduler().enqueue(item)
	}
	r.scheduler().enqueue(of)
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

// itemsOver reports whether a step has nothing more to do for its items.
func (s *StepState) itemsOver() bool {
	if s.fan.stopper == nil {
		return s.fan.left == 0
	}
	return !slices.ContainsFunc(s.Items, func(item *StepState) bool {
		return item.Status == StepRunning || item.Status == StepChecking || item.awaitsUser
	})
}

// cameItems returns the event that ends a step with items.
func (r *decision) cameItems(s *StepState) event.Data {
	ms := r.Now.Sub(s.StartedAt).Milliseconds()
	done, denied, taken := 0, 0, len(s.Items)
	results := make([]any, len(s.Items))
	for i, item := range s.Items {
		switch {
		case item.Status == StepCompleted:
			results[i] = item.Result
			done++
		case item.gate.answer == gateDenied && !item.NotTaken:
			denied++
		case item.NotTaken:
			taken--
		}
	}
	switch stopper := s.fan.stopper; {
	case denied > 0 && denied == taken:
		return event.StepFailed{Index: s.Step.Index, Attempt: s.Attempt, Error: plan.DeniedAtGate, Failure: event.FailureDenied, MS: ms}
	case stopper != nil:
		sentence := fmt.Sprintf("%s (%s) failed: %s", stopper.Step.Index, stopper.Step.Title, stopper.Error)
		if done > 0 {
			sentence = fmt.Sprintf("%s\n%d of %s done, which are not repeated if this step stays: %s",
				sentence, done, english.Count(len(s.Items), "item"), strings.Join(doneItems(s), ", "))
		}
		return event.StepFailed{Index: s.Step.Index, Attempt: s.Attempt, Error: untrusted.Text(sentence), Failure: stopper.Failure, MS: ms}
	case r.dryRun:
		return event.StepCompleted{Index: s.Step.Index, Attempt: s.Attempt, DryRun: true, Result: string(placeholder(s.Step)), Title: s.Step.Title, Executor: s.Step.Executor, Tool: s.Step.Tool, DependsOn: r.needs(s), MS: ms}
	default:
		return event.StepCompleted{Index: s.Step.Index, Attempt: s.Attempt, Result: results, MS: ms}
	}
}

// doneItems names the completed items of a step, at most a dozen.
func doneItems(s *StepState) []string {
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

// endsItems reports whether the failure of an item ends its step.
func (r *Run) endsItems(s *StepState) bool {
	if s.gate.answer == gateDenied && s.Failure == event.FailureDenied {
		return false // the user leaves it out
	}
	stops := s.Failure == event.FailureDenied || s.Failure == event.FailureInterrupted || !s.Failure.Replannable()
	return stops || r.Plan.FailureOf(s.item.step.Step, r.fallback) != plan.OnFailureSkip
}

// unfinishedItems reports whether some items of a completed step were neither completed nor
// left out by their condition.
func unfinishedItems(s *StepState) bool {
	return slices.ContainsFunc(s.Items, func(item *StepState) bool { return item.Status != StepCompleted && !item.NotTaken })
}

// Item returns the item that a step is executed for, and whether it is one of several.
func (s *StepState) Item() (value any, ok bool) { return s.item.value, s.item.step != nil }

// EndedItems returns how many of its items have ended.
func (s *StepState) EndedItems() int { return len(s.Items) - s.fan.left }
