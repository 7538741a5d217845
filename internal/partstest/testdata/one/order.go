package one

// Order owns its data.
type Order struct{ last int }

// Take adds.
func (o *Order) Take() int { o.last++; return o.last }

func (q *Queue) next() int { // fault: method next of Queue stands outside
	return q.order.Take() // fault: order is a field of Queue
}

func size(q *Queue) int {
	return len(q.items) // fault: items is a field of Queue
}

func shrink(q *Queue, p Point) {
	q.Limit.Most--     // fault: Limit of Queue is written
	q.Limit = Limits{} // fault: Limit of Queue is written
	limits := q.Limit  // a copy
	limits.Most = p.x  // of a value
	_ = Queue{Limit: limits}
}
