// Package one breaks the rule within a package.
package one

// Queue owns its data.
type Queue struct {
	Limit Limits // all code may read it
	items []string
	order *Order
}

// Limits are a value.
type Limits struct{ Most, Size int }

// Len asks.
func (q *Queue) Len() int { return len(q.items) }

// Point is a value: it has no method on a pointer.
type Point struct{ x int }
