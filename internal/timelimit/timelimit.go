package timelimit

import (
	"context"
	"sync"
	"time"
)

// Limit is the time limit of a context. It is safe for concurrent use.
type Limit struct {
	cancel context.CancelCauseFunc

	whole time.Duration

	mu    sync.Mutex
	timer *time.Timer
	left  time.Duration // when the clock was last read
	since time.Time     // when it was
	holds int           // who holds the clock
	ended bool
}

// The clock is read at least once in a slice of time. If more than a slice has passed with
// some slack, the program was stopped in between, and the rest does not count.
const slice, slack = 5 * time.Second, 2 * time.Second

// limitContext is a context that a Limit ends. It then reports that its deadline is
// exceeded, as a context of the standard library does. Contexts made from it report
// that as their cause.
type limitContext struct{ context.Context }

// Err returns why the context has ended, nil if it has not.
func (c limitContext) Err() error {
	err := c.Context.Err()
	if err != nil && context.Cause(c.Context) == context.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	return err
}

// New returns a context that ends with parent, or after the clock has run for d. Time in
// which the program is stopped, by ctrl+z or a suspended machine, does not count.
// The caller must call Stop.
func New(parent context.Context, d time.Duration) (context.Context, *Limit) {
	ctx, cancel := context.WithCancelCause(parent)
	l := &Limit{cancel: cancel, whole: d, left: d, since: time.Now()}
	l.timer = time.AfterFunc(min(d, slice), l.expire)
	return limitContext{ctx}, l
}

func (l *Limit) expire() {
	l.mu.Lock()
	running := l.holds == 0 && !l.ended
	if running {
		l.read()
	}
	if running && l.left > 0 {
		l.timer.Reset(min(l.left, slice))
	}
	over := running && l.left <= 0
	l.mu.Unlock()
	if over {
		l.cancel(context.DeadlineExceeded)
	}
}

// read takes the time off that has passed since the clock was last read.
func (l *Limit) read() {
	l.left -= l.passed()
	l.since = time.Now()
}

// passed returns the time that counts since the clock was last read.
func (l *Limit) passed() time.Duration {
	passed := time.Since(l.since)
	if passed > slice+slack {
		return slice
	}
	return passed
}

// Hold stops the clock until release is called. Several may hold it at once.
func (l *Limit) Hold() (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holds++; l.holds == 1 {
		l.timer.Stop()
		l.read()
	}
	return sync.OnceFunc(l.release)
}

func (l *Limit) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holds--; l.holds == 0 && !l.ended {
		l.left, l.since = max(l.left, 0), time.Now()
		l.timer.Reset(min(l.left, slice))
	}
}

// Ran returns how long the clock has run.
func (l *Limit) Ran() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := l.left
	if l.holds == 0 {
		left -= l.passed()
	}
	return l.whole - left
}

// Stop ends the context and releases its resources.
func (l *Limit) Stop() {
	l.mu.Lock()
	l.ended = true
	l.timer.Stop()
	l.mu.Unlock()
	l.cancel(context.Canceled)
}
