package agent

import (
	"container/heap"
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
	lists [needKinds]queue
	// approved are those of the steps that wait for a tool slot whose call the user has
	// allowed, in the order in which they became so: a look at all would take long.
	approved []*StepState
	queued   map[string]*queued // by the index of the step
}

// queued is a step in a queue.
type queued struct {
	step     *StepState
	need     need
	at       int  // its index in the queue
	approved bool // it is one of the approved calls
}

// of returns the steps with a need.
func (q *queues) of(n need) queue { return q.lists[n] }

// approvedCalls returns the steps that wait for a tool slot for a call that the user allowed.
func (q *queues) approvedCalls() []stepView { return viewsOf(q.approved) }

// count returns how many steps have a need, and top the one that comes first; nil if there is
// none.
func (q *queues) count(n need) int { return len(q.lists[n]) }

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

// inOrder walks through the steps with a need in order, and all returns them in no order.
func (q *queues) inOrder(n need) walkView { return &walk{in: q.lists[n]} }

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
	if approved := next == needToolSlot && s.gate().reserved(); approved != in.approved {
		if in.approved = approved; approved {
			q.approved = append(q.approved, s)
		} else {
			q.disapprove(s)
		}
	}
}

// take takes a step out of its queue.
func (q *queues) take(in *queued) {
	heap.Remove((*stepHeap)(&q.lists[in.need]), in.at)
	delete(q.queued, in.step.Step.Index)
	if in.approved {
		q.disapprove(in.step)
	}
}

// disapprove takes a step off the approved calls.
func (q *queues) disapprove(s *StepState) {
	q.approved = slices.DeleteFunc(q.approved, func(a *StepState) bool { return a == s })
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
	for _, s := range q.approved {
		if keep(s) {
			some.approved = append(some.approved, s)
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
