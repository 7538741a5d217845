package agent

import (
	"cmp"
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
	lists [needKinds]queue
	// approved are those of the steps that wait for a tool slot whose call the user has
	// allowed, in the order in which they became so: a look at all would take long.
	approved []*StepState
}

// of returns the steps with a need.
func (q *queues) of(n need) queue { return q.lists[n] }

// approvedCalls returns the steps that wait for a tool slot for a call that the user allowed.
func (q *queues) approvedCalls() []*StepState { return q.approved }

// schedule is the place of a step in the queues.
type schedule struct {
	place  int     // its rank among all steps, by number and then as written
	length float64 // ms to the end of the longest path from it
	need   need    // its next need
	at     int     // its index in the queue for that need

	approved bool // it is one of the approved calls of the queues
}

// rank sets the rank of a step and the length of the longest path from it, and rankAs sets
// those of another step.
func (s *schedule) rank(place int, length float64) { s.place, s.length = place, length }

func (s *schedule) rankAs(other *StepState) {
	s.place, s.length = other.sched.place, other.sched.length
}

// needs reports whether this is the next need of a step.
func (s *schedule) needs(n need) bool { return s.need == n }

// compare orders steps: the longest remaining path first, and equal ones by their rank.
func (s *schedule) compare(other *schedule) int {
	return cmp.Or(cmp.Compare(other.length, s.length), cmp.Compare(s.place, other.place))
}

// count makes the number of a call of a model its rank.
func (s *schedule) count(number int) { s.place = number }

// number returns the rank of a step.
func (s *schedule) number() int { return s.place }

// drop takes a step out of all queues, once they are emptied.
func (s *schedule) drop() { s.need, s.approved = needNothing, false }

// put puts a step into the queue for its next need.
func (q *queues) put(s *StepState, next need) {
	if was := s.sched.need; was != next {
		if was != needNothing {
			heap.Remove((*stepHeap)(&q.lists[was]), s.sched.at)
		}
		if s.sched.need = next; next != needNothing {
			heap.Push((*stepHeap)(&q.lists[next]), s)
		}
	}
	if approved := next == needToolSlot && s.reserved(); approved != s.sched.approved {
		if s.sched.approved = approved; approved {
			q.approved = append(q.approved, s)
		} else {
			q.approved = slices.DeleteFunc(q.approved, func(a *StepState) bool { return a == s })
		}
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
func (q *queues) only(keep func(*StepState) bool) queuesView {
	var some queues
	for i := range q.lists {
		for s := range q.lists[i].inOrder() { // in order, they are a heap again; their places in the real one stay
			if keep(s) {
				some.lists[i] = append(some.lists[i], s)
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
type queue []*StepState

// first returns up to n steps in order.
func (q queue) first(n int) []*StepState {
	if n <= 0 || len(q) == 0 {
		return nil
	}
	out := make([]*StepState, 0, min(n, len(q)))
	for s := range q.inOrder() {
		if out = append(out, s); len(out) == cap(out) {
			break
		}
	}
	return out
}

// inOrder returns the steps in order. It does not change the heap: it walks from the top,
// always continuing from the best member seen.
func (q queue) inOrder() iter.Seq[*StepState] {
	return func(yield func(*StepState) bool) {
		if len(q) == 0 || !yield(q[0]) {
			return
		}
		edge := []int{1, 2} // heap indices that come next
		for {
			best := -1
			for i, at := range edge {
				if at < len(q) && (best < 0 || q[at].before(q[edge[best]])) {
					best = i
				}
			}
			if best < 0 || !yield(q[edge[best]]) {
				return
			}
			at := edge[best]
			edge[best] = 2*at + 1
			edge = append(edge, 2*at+2)
		}
	}
}

// stepHeap is a queue as package heap changes it.
type stepHeap queue

func (q stepHeap) Len() int           { return len(q) }
func (q stepHeap) Less(i, j int) bool { return q[i].before(q[j]) }
func (q stepHeap) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].sched.at, q[j].sched.at = i, j
}

// Push adds a step, for package heap.
func (q *stepHeap) Push(x any) {
	s := x.(*StepState)
	s.sched.at = len(*q)
	*q = append(*q, s)
}

// Pop takes the last step, for package heap.
func (q *stepHeap) Pop() any {
	last := len(*q) - 1
	s := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return s
}
