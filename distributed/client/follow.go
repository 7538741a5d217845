package client

import (
	"context"
	"errors"
	"time"

	"replan/distributed/records"
)

// following is a run that a client follows.
type following struct {
	client   *Client
	database *records.Database // of the client
	rhythm   rhythm
	run      string
	see      func(r records.Record, recorded bool) error
	after    int  // the step of the last record
	recorded bool // the records were there when Follow was called
	ended    bool

	lost     time.Time // when the database was lost; zero if it is not
	lossTold bool      // the user knows

	wait *waitStatus
}

// follow calls see until the run ends or ctx does.
func (f *following) follow(ctx context.Context) error {
	wait := f.rhythm.shortest
	for {
		before := f.after
		err := f.step(ctx, wait == f.rhythm.longest)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errLost):
			wait = f.rhythm.again
			err = f.lose()
		case err == nil && f.after > before:
			wait = 0
			err = f.regain()
		case err == nil:
			wait = min(max(wait, f.rhythm.shortest)*2, f.rhythm.longest)
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
	err := f.client.look(ctx, func(ctx context.Context) (err error) {
		found, last, err = f.database.Read(ctx, f.run, f.after)
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range found {
		f.wait.recorded(r)
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
	return f.client.look(ctx, f.wait.report)
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
	return f.client.note("the database cannot be reached; trying again")
}

// regain takes in that the database can be reached.
func (f *following) regain() error {
	told := f.lossTold
	f.lost, f.lossTold = time.Time{}, false
	if !told {
		return nil
	}
	return f.client.note("the database is back")
}
