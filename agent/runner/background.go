package runner

import (
	"sync"

	"replan/agent/event"
)

// background does work that must not hold up the goroutine that owns a session. Its
// workers see nothing of the session's state: what they found returns to the owner as a
// function, which the owner calls.
type background struct {
	events  *publisher
	results chan<- func()
	workers sync.WaitGroup
}

// run has a worker do the work. The owner then calls what it returns; nil is nothing.
func (b *background) run(work func() (then func())) {
	b.workers.Go(func() {
		if then := work(); then != nil {
			b.results <- then
		}
	})
}

// report has the owner call a function, while the worker that reports goes on.
func (b *background) report(then func()) { b.results <- then }

// publishLater has the owner publish an event, while the worker that reports goes on.
func (b *background) publishLater(data event.Data) {
	b.results <- func() { _ = b.events.publish(data) }
}

// ended returns a channel that is closed when all workers have ended. Until then,
// the results must be read.
func (b *background) ended() <-chan struct{} {
	idle := make(chan struct{})
	go func() { b.workers.Wait(); close(idle) }()
	return idle
}
