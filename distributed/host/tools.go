package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"replan/planning/plan"
)

// toolLimits lets calls of tools with a limit begin. The zero value knows no limits.
type toolLimits struct {
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

// readLimits learns the limits of tools, and records the ends of calls that could not be
// recorded before.
func (h *Host) readLimits(ctx context.Context) error {
	limits, err := h.cfg.Database.ToolLimits(ctx)
	if err != nil {
		return err
	}
	h.tools.mu.Lock()
	known := map[string]chan struct{}{}
	for _, l := range limits {
		if known[l.Tool] = h.tools.limits[l.Tool]; known[l.Tool] == nil {
			known[l.Tool] = make(chan struct{}, 1)
		}
	}
	h.tools.limits = known
	ended := h.tools.ended
	h.tools.ended = nil
	h.tools.mu.Unlock()
	if err := h.cfg.Database.Dequeue(ctx, ended...); err != nil {
		h.tools.mu.Lock()
		h.tools.ended = append(h.tools.ended, ended...)
		h.tools.mu.Unlock()
		return err
	}
	if len(limits) == 0 {
		return nil
	}
	return h.cfg.Database.ForgetCalls(ctx)
}

// admit waits until a call of a run may begin, and returns a function to call when it
// has ended. It asks nothing of the database if the tool has no limit.
func (h *Host) admit(ctx context.Context, l *live, t plan.Tool) (end func(), err error) {
	names, queues := h.tools.of(t)
	var held []string
	end = func() {
		if len(held) == 0 {
			return
		}
		within, cancel := context.WithTimeout(context.Background(), silence*h.cfg.Rhythm)
		defer cancel()
		if err := h.cfg.Database.Dequeue(within, held...); err != nil {
			h.tools.mu.Lock()
			h.tools.ended = append(h.tools.ended, held...)
			h.tools.mu.Unlock()
			h.cfg.Logger.Warn("a call keeps others waiting until the database answers", "tool", t.QualifiedName(), "error", err)
		}
	}
	for i, name := range names {
		h.tools.mu.Lock()
		h.tools.calls++
		id := fmt.Sprint(h.cfg.Worker.ID, "/", h.tools.calls)
		h.tools.mu.Unlock()
		held = append(held, id) // it may be in the database whatever the error
		if err := h.await(ctx, l, id, name, queues[i]); err != nil {
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
func (h *Host) await(ctx context.Context, l *live, id, name string, queue chan struct{}) error {
	select {
	case queue <- struct{}{}:
		defer func() { <-queue }()
	case <-ctx.Done():
		return ctx.Err()
	}
	tick := time.NewTicker(h.cfg.Rhythm)
	defer tick.Stop()
	lost := false
	for queued := false; ; {
		err := error(nil)
		may := false
		if !queued {
			err = h.cfg.Database.Enqueue(ctx, id, name, h.cfg.Worker.ID)
			queued = err == nil
		}
		if queued {
			may, queued, err = h.cfg.Database.MayBegin(ctx, id, name, h.deadAfter().Milliseconds())
		}
		mine := false
		if may {
			var claim string
			claim, err = h.cfg.Database.Claim(ctx, l.task.Run)
			mine = err == nil && claim != "" && claim == l.claim
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
			h.cfg.Logger.Warn("a call waits for the database", "tool", name, "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
