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
	left  time.Duration // when the clock last started
	since time.Time     // when it did
	holds int           // who holds the clock
	ended bool
}

// limited is a context that a Limit ends. It then reports that its deadline is
// exceeded, as a context of the standard library does. Contexts made from it report
// that as their cause.
type limited struct{ context.Context }

// Err returns why the context has ended, nil if it has not.
func (c limited) Err() error {
	err := c.Context.Err()
	if err != nil && context.Cause(c.Context) == context.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	return err
}

// New returns a context that ends with parent, or after the clock has run for d.
// The caller must call Stop.
func New(parent context.Context, d time.Duration) (context.Context, *Limit) {
	ctx, cancel := context.WithCancelCause(parent)
	l := &Limit{cancel: cancel, whole: d, left: d, since: time.Now()}
	l.timer = time.AfterFunc(d, l.expire)
	return limited{ctx}, l
}

func (l *Limit) expire() {
	l.mu.Lock()
	over := l.holds == 0 && !l.ended && time.Since(l.since) >= l.left
	l.mu.Unlock()
	if over {
		l.cancel(context.DeadlineExceeded)
	}
}

// Hold stops the clock until release is called. Several may hold it at once.
func (l *Limit) Hold() (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holds++; l.holds == 1 {
		l.timer.Stop()
		l.left -= time.Since(l.since)
	}
	return sync.OnceFunc(l.release)
}

func (l *Limit) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holds--; l.holds == 0 && !l.ended {
		l.left, l.since = max(l.left, 0), time.Now()
		l.timer.Reset(l.left)
	}
}

// Ran returns how long the clock has run.
func (l *Limit) Ran() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := l.left
	if l.holds == 0 {
		left -= time.Since(l.since)
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
