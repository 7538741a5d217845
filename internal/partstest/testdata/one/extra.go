package one

// The file holds methods of Queue alone, and so is of its part.
func (q *Queue) add(item string) { q.items = append(q.items, item) }

// cursor is mentioned by no other file: it is a detail of this one, and no part.
type cursor struct{ at int }

func (c *cursor) next() int { c.at++; return c.at }
