package agent

import (
	"container/heap"
	"iter"
	"slices"
)

// need is what a step needs next. It lets Next look only at steps that can be
// acted on, however long the plan is. It follows from the events alone;
// enqueue updates it whenever they change it.
type need uint8

const (
	needNothing   need = iota // it waits for others, is running or has ended
	needRecord                // it only needs a record: it fails, is skipped or is retried
	needTimer                 // it waits for a time
	needGate                  // its gate must be opened
	needToolSlot              // it waits for a tool slot
	needModelSlot             // it waits for a model slot
	needCheck                 // its checks must be evaluated
	needTurn                  // its approved call waits until fewer items of its step run
	needKinds
)

// queues holds the steps that can be acted on, by need.
type queues struct {
	lists    [needKinds]queue
	approved approvedCalls      // of the steps that wait for a tool slot
	queued   map[string]*queued // by the index of the step
}

// approvedCalls are the steps whose call the user has allowed, in the order in which they became
// so. A look at all steps that wait would take long.
type approvedCalls struct {
	calls  []*queued               // nil in place of each that is none any more
	gaps   int                     // how many are nil
	byTool map[string]approvedSize // by the name in the step
}

// approvedSize counts approved calls of a tool, and the steps of the budget that they are.
type approvedSize struct{ calls, steps int }

// add adds a step.
func (a *approvedCalls) add(in *queued) {
	a.calls = append(a.calls, in)
	in.approvedAt = len(a.calls)
	a.count(in.step, 1)
}

// remove takes a step out. The others keep their places until half of the places are empty.
func (a *approvedCalls) remove(in *queued) {
	a.calls[in.approvedAt-1] = nil
	in.approvedAt = 0
	a.count(in.step, -1)
	if a.gaps++; 2*a.gaps < len(a.calls) {
		return
	}
	a.calls, a.gaps = slices.DeleteFunc(a.calls, func(in *queued) bool { return in == nil }), 0
	for i, in := range a.calls {
		in.approvedAt = i + 1
	}
}

// count counts a call for its tool, or takes it back if by is -1.
func (a *approvedCalls) count(s *StepState, by int) {
	if a.byTool == nil {
		a.byTool = map[string]approvedSize{}
	}
	of := a.byTool[s.Step.Tool]
	of.calls, of.steps = of.calls+by, of.steps+by*s.ofBudget()
	a.byTool[s.Step.Tool] = of
}

// queued is a step in a queue.
type queued struct {
	step       *StepState
	need       need
	at         int // its index in the queue
	approvedAt int // its place among the approved calls, from 1; 0 if it is none
}

// of returns the steps with a need.
func (q *queues) of(n need) queue { return q.lists[n] }

// approvedCalls returns the steps that wait for a tool slot for a call that the user allowed.
func (q *queues) approvedCalls() iter.Seq[stepView] {
	return func(yield func(stepView) bool) {
		for _, in := range q.approved.calls {
			if in != nil && !yield(in.step) {
				return
			}
		}
	}
}

// approvedByTool calls do for each tool with how many calls those are, and how many steps.
func (q *queues) approvedByTool(do func(tool string, calls, steps int)) {
	for tool, size := range q.approved.byTool {
		do(tool, size.calls, size.steps)
	}
}

// count returns how many steps have a need.
func (q *queues) count(n need) int { return len(q.lists[n]) }

// top returns the step with a need that comes first; nil if there is none.
func (q *queues) top(n need) stepView {
	if s := q.lists[n].top(); s != nil {
		return s
	}
	return nil
}

// first returns the steps with a need in order, at most so many of them.
func (q *queues) first(n need, most int) []stepView {
	if most = min(most, q.count(n)); most <= 0 {
		return nil
	}
	out := make([]stepView, 0, most)
	for w := (walk{in: q.lists[n]}); len(out) < most; {
		out = append(out, w.next())
	}
	return out
}

// inOrder walks through the steps with a need in order.
func (q *queues) inOrder(n need) walkView { return &walk{in: q.lists[n]} }

// all returns the steps with a need in no order.
func (q *queues) all(n need) []stepView {
	if q.count(n) == 0 {
		return nil
	}
	out := make([]stepView, 0, q.count(n))
	for _, in := range q.lists[n] {
		out = append(out, in.step)
	}
	return out
}

// put puts a step into the queue for its next need.
func (q *queues) put(s *StepState, next need) {
	in := q.queued[s.Step.Index]
	if in != nil && (in.step != s || in.need != next) {
		q.take(in)
		in = nil
	}
	if next == needNothing {
		return
	}
	if in == nil {
		if q.queued == nil {
			q.queued = map[string]*queued{}
		}
		in = &queued{step: s, need: next}
		q.queued[s.Step.Index] = in
		heap.Push((*stepHeap)(&q.lists[next]), in)
	}
	switch approved := next == needToolSlot && s.gate().reserved(); {
	case approved && in.approvedAt == 0:
		q.approved.add(in)
	case !approved && in.approvedAt > 0:
		q.approved.remove(in)
	}
}

// take takes a step out of its queue.
func (q *queues) take(in *queued) {
	heap.Remove((*stepHeap)(&q.lists[in.need]), in.at)
	delete(q.queued, in.step.Step.Index)
	if in.approvedAt > 0 {
		q.approved.remove(in)
	}
}

// empty reports whether no step can be acted on.
func (q *queues) empty() bool {
	for i := range q.lists {
		if len(q.lists[i]) > 0 {
			return false
		}
	}
	return true
}

// only returns the queues with those steps alone that keep keeps.
func (q *queues) only(keep func(stepView) bool) queuesView {
	var some queues
	for i := range q.lists {
		w := walk{in: q.lists[i]}
		for in := w.nextQueued(); in != nil; in = w.nextQueued() { // in order, they are a heap again; their places in the real one stay
			if keep(in.step) {
				some.lists[i] = append(some.lists[i], in)
			}
		}
	}
	for _, in := range q.approved.calls {
		if in != nil && keep(in.step) {
			some.approved.calls = append(some.approved.calls, in)
			some.approved.count(in.step, 1)
		}
	}
	return &some
}

// queue holds steps with the same need. The longest remaining path comes first,
// and equal ones are in plan order; steps that wait for a time are sorted by it.
type queue []*queued

// top returns the step that comes first, nil if there is none.
func (q queue) top() *StepState {
	if len(q) == 0 {
		return nil
	}
	return q[0].step
}

// all returns the steps in no order.
func (q queue) all() []*StepState {
	out := make([]*StepState, len(q))
	for i, in := range q {
		out[i] = in.step
	}
	return out
}

// walk goes through a queue in order. It does not change the heap: it starts from the top, and
// always continues from the best member seen.
type walk struct {
	in    queue
	edge  []int // heap indices that come next
	begun bool
}

// next returns the next step; nil after the last one.
func (w *walk) next() stepView {
	if in := w.nextQueued(); in != nil {
		return in.step
	}
	return nil
}

func (w *walk) nextQueued() *queued {
	if !w.begun {
		w.begun = true
		if len(w.in) == 0 {
			return nil
		}
		w.edge = []int{1, 2}
		return w.in[0]
	}
	best := -1
	for i, at := range w.edge {
		if at < len(w.in) && (best < 0 || w.in[at].before(w.in[w.edge[best]])) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	at := w.edge[best]
	w.edge[best] = 2*at + 1
	w.edge = append(w.edge, 2*at+2)
	return w.in[at]
}

// before reports whether a step comes before another one of its queue.
func (in *queued) before(other *queued) bool { return in.step.before(other.step, in.need) }

// stepHeap is a queue as package heap changes it.
type stepHeap queue

func (q stepHeap) Len() int           { return len(q) }
func (q stepHeap) Less(i, j int) bool { return q[i].before(q[j]) }
func (q stepHeap) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].at, q[j].at = i, j
}

// Push adds a step, for package heap.
func (q *stepHeap) Push(x any) {
	in := x.(*queued)
	in.at = len(*q)
	*q = append(*q, in)
}

// Pop takes the last step, for package heap.
func (q *stepHeap) Pop() any {
	last := len(*q) - 1
	in := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return in
}
