package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"replan/distributed/records"
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

// reach waits until the database can be reached.
func (c *Client) reach(ctx context.Context) error {
	for {
		err := c.look(ctx, c.database.Ping)
		if !errors.Is(err, errLost) || ctx.Err() != nil {
			return err
		}
		if err := pause(ctx, c.rhythm.again); err != nil {
			return err
		}
	}
}

// look limits the time of a look at the database: a connection may break without a word.
// The error is errLost if the database cannot be reached.
func (c *Client) look(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.rhythm.limit)
	defer cancel()
	err := do(ctx)
	if records.Lost(err) {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return err
}

var errLost = errors.New("the database cannot be reached")

// following is a run that a client follows.
type following struct {
	*Client
	run      string
	see      func(r records.Record, recorded bool) error
	after    int  // the step of the last record
	recorded bool // the records were there when Follow was called
	ended    bool

	lost     time.Time // when the database was lost; zero if it is not
	lossTold bool      // the user knows

	waitStatus
}

// Follow calls see with each record of a run, from its first, until the run ends or
// ctx does. recorded says that the record was there when Follow was called. While the
// database cannot be reached, it tries again.
func (c *Client) Follow(ctx context.Context, run string, see func(r records.Record, recorded bool) error) error {
	f := following{Client: c, run: run, see: see, after: -1, recorded: true}
	wait := c.rhythm.shortest
	for {
		before := f.after
		err := f.step(ctx, wait == c.rhythm.longest)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errLost):
			wait = c.rhythm.again
			err = f.lose()
		case err == nil && f.after > before:
			wait = 0
			err = f.regain()
		case err == nil:
			wait = min(max(wait, c.rhythm.shortest)*2, c.rhythm.longest)
			err = f.regain()
		}
		if err != nil || f.ended {
			return err
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// step takes in the next records, and if there are none and idle is set, reports what the run waits for.
func (f *following) step(ctx context.Context, idle bool) error {
	var found []records.Record
	last := f.after
	err := f.look(ctx, func(ctx context.Context) (err error) {
		found, last, err = f.database.Read(ctx, f.run, f.after)
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range found {
		f.notOpened = r.NotOpened
		if err := f.see(r, f.recorded); err != nil {
			return err
		}
		if f.ended = r.End != nil; f.ended {
			return nil
		}
	}
	if last > f.after {
		f.after = last
		return nil
	}
	f.recorded = false
	if !idle {
		return nil
	}
	return f.look(ctx, f.reportWait)
}

// lose takes in that the database cannot be reached.
func (f *following) lose() error {
	if f.lost.IsZero() {
		f.lost = time.Now()
	}
	if f.lossTold || time.Since(f.lost) < f.rhythm.patience {
		return nil
	}
	f.lossTold = true
	return f.note("the database cannot be reached; trying again")
}

// regain takes in that the database can be reached.
func (f *following) regain() error {
	told := f.lossTold
	f.lost, f.lossTold = time.Time{}, false
	if !told {
		return nil
	}
	return f.note("the database is back")
}

func (c *Client) note(text string) error {
	if c.Note == nil {
		return nil
	}
	return c.Note(text)
}

// broken returns why a run ended without saying so.
func (c *Client) broken(run string) error {
	status, err := c.status(run)
	if err != nil {
		return err
	}
	why := "its workflow is " + string(status.Status)
	if status.Error != nil {
		why = status.Error.Error()
	}
	return fmt.Errorf("the run %s broke off, and can be resumed: %s", run, why)
}
