package runner

import (
	"fmt"
	"sync"

	"replan/planning/plan"
)

// openQuestions holds the questions of servers that wait for an answer. It is safe for
// concurrent use.
type openQuestions struct {
	mu      sync.Mutex
	count   int
	waiting map[string]chan<- plan.ElicitationAnswer
}

// add adds a question and returns its id.
func (q *openQuestions) add(step string, attempt int, answer chan<- plan.ElicitationAnswer) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.count++
	id := fmt.Sprintf("%s.%d.q%d", step, attempt, q.count)
	if q.waiting == nil {
		q.waiting = map[string]chan<- plan.ElicitationAnswer{}
	}
	q.waiting[id] = answer
	return id
}

// take removes a question. It returns nil if that has been done.
func (q *openQuestions) take(id string) chan<- plan.ElicitationAnswer {
	q.mu.Lock()
	defer q.mu.Unlock()
	answer := q.waiting[id]
	delete(q.waiting, id)
	return answer
}
