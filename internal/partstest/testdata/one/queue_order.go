package one

// A file whose name begins with the word of a part belongs to it.
func reset(q *Queue) { q.items, q.Limit.Most = nil, 0 }
