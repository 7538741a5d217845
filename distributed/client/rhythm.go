package client

import (
	"context"
	"time"
)

// rhythm is how often a client looks at the database.
type rhythm struct {
	shortest, longest time.Duration // pauses between two looks at a run that is followed
	again             time.Duration // the pause after a failure
	patience          time.Duration // how long something lasts before the user reads of it
	limit             time.Duration // of one look
	tidying           time.Duration // how long a resume waits for the worker of a run that has ended
}

var usual = rhythm{shortest: 20 * time.Millisecond, longest: 250 * time.Millisecond, again: 500 * time.Millisecond, patience: 2 * time.Second, limit: 30 * time.Second, tidying: 10 * time.Second}

// pause waits for a while, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
