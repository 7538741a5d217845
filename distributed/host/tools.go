package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"replan/distributed/records"
	"replan/planning/plan"
)

// toolLimits lets calls of tools with a limit begin. At first it knows no limits.
type toolLimits struct {
	database  *records.Database
	worker    string // its id
	rhythm    time.Duration
	log       *slog.Logger
	deadAfter func() time.Duration // see Host.deadAfter

	mu     sync.Mutex
	limits map[string]chan struct{} // by server:tool or server:*; the one waiting call here that is queued in the database
	calls  int                      // so far
	ended  []string                 // calls whose end is not in the database yet
}

// of returns the limits that hold for a tool, in the order in which calls wait for them.
func (l *toolLimits) of(t plan.Tool) (names []string, queues []chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range []string{t.QualifiedName(), t.Server + ":*"} {
		if queue := l.limits[name]; queue != nil {
			names, queues = append(names, name), append(queues, queue)
		}
	}
	return names, queues
}

// read learns the limits of tools, and records the ends of calls that could not be
// recorded before.
func (l *toolLimits) read(ctx context.Context) error {
	limits, err := l.database.ToolLimits(ctx)
	if err != nil {
		return err
	}
	l.mu.Lock()
	known := map[string]chan struct{}{}
	for _, limit := range limits {
		if known[limit.Tool] = l.limits[limit.Tool]; known[limit.Tool] == nil {
			known[limit.Tool] = make(chan struct{}, 1)
		}
	}
	l.limits = known
	ended := l.ended
	l.ended = nil
	l.mu.Unlock()
	if err := l.database.Dequeue(ctx, ended...); err != nil {
		l.mu.Lock()
		l.ended = append(l.ended, ended...)
		l.mu.Unlock()
		return err
	}
	if len(limits) == 0 {
		return nil
	}
	return l.database.ForgetCalls(ctx)
}

// admit waits until a call of a run, on which this process has a claim, may begin. It returns a function to call when it
// has ended. It asks nothing of the database if the tool has no limit.
func (l *toolLimits) admit(ctx context.Context, run, claim string, t plan.Tool) (end func(), err error) {
	names, queues := l.of(t)
	var held []string
	end = func() {
		if len(held) == 0 {
			return
		}
		within, cancel := context.WithTimeout(context.Background(), silence*l.rhythm)
		defer cancel()
		if err := l.database.Dequeue(within, held...); err != nil {
			l.mu.Lock()
			l.ended = append(l.ended, held...)
			l.mu.Unlock()
			l.log.Warn("a call keeps others waiting until the database answers", "tool", t.QualifiedName(), "error", err)
		}
	}
	for i, name := range names {
		l.mu.Lock()
		l.calls++
		id := fmt.Sprint(l.worker, "/", l.calls)
		l.mu.Unlock()
		held = append(held, id) // it may be in the database whatever the error
		if err := l.await(ctx, run, claim, id, name, queues[i]); err != nil {
			end()
			// Nothing was called, so nothing is in doubt.
			return nil, fmt.Errorf("%w: %w", &plan.ToolError{Tool: t.QualifiedName(), Message: "the call waited for others of " + name, NotCalled: true}, err)
		}
	}
	return end, nil
}

// await waits until a call may begin. Of the calls that wait here for the same limit,
// one asks the database, once a look. While a call waits, its run may have gone to
// another worker, which makes the call too.
func (l *toolLimits) await(ctx context.Context, run, claim, id, name string, queue chan struct{}) error {
	select {
	case queue <- struct{}{}:
		defer func() { <-queue }()
	case <-ctx.Done():
		return ctx.Err()
	}
	tick := time.NewTicker(l.rhythm)
	defer tick.Stop()
	lost := false
	for queued := false; ; {
		err := error(nil)
		may := false
		if !queued {
			err = l.database.Enqueue(ctx, id, name, l.worker)
			queued = err == nil
		}
		if queued {
			may, queued, err = l.database.MayBegin(ctx, id, name, l.deadAfter().Milliseconds())
		}
		mine := false
		if may {
			var now string
			now, err = l.database.Claim(ctx, run)
			mine = err == nil && now != "" && now == claim
		}
		switch {
		case mine:
			return nil
		case may && err == nil:
			return errLeft
		case err == nil:
			lost = false
		case !lost && ctx.Err() == nil && !errors.Is(err, context.Canceled):
			lost = true // the next looks will probably fail too
			l.log.Warn("a call waits for the database", "tool", name, "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
