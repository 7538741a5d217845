package workspace

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

var errClosed = errors.New("the workspace tools are closed")

// closeTime is how long close waits for calls that do not react to their end.
const closeTime = 4 * time.Second

// calls are the calls under way.
type calls struct {
	log  *slog.Logger
	life context.Context // ends with close, and every call with it
	end  context.CancelCauseFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

func newCalls(log *slog.Logger) *calls {
	c := &calls{log: log}
	c.life, c.end = context.WithCancelCause(context.Background())
	return c
}

// begin starts a call, which close cancels. The returned function ends it.
func (c *calls) begin(ctx context.Context) (context.Context, func(), error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, errClosed
	}
	c.running.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.life, func() { cancel(context.Cause(c.life)) })
	return ctx, func() {
		stop()
		cancel(nil)
		c.running.Done()
	}, nil
}

// close cancels the calls under way and waits for them, though not for long. It reports
// false if that was done before.
func (c *calls) close() bool {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return false
	}
	c.closed = true
	c.mu.Unlock()
	c.end(errClosed)
	ended := make(chan struct{})
	go func() {
		c.running.Wait()
		close(ended)
	}()
	late := time.NewTimer(closeTime)
	defer late.Stop()
	select {
	case <-ended:
	case <-late.C:
		c.log.Warn("a call is left that does not end")
	}
	return true
}
