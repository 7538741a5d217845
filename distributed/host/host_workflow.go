package host

import (
	"context"
	"fmt"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"replan/agent/remote"
	"replan/distributed/records"
)

// run is the workflow. What it does depends only on the recorded steps. Until they are
// exhausted it collects their events, then it opens a session that continues from there.
func (h *Host) run(ctx dbos.Context, task remote.Task) (records.Outcome, error) {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-time.After(silence * h.cfg.Rhythm): // what is taken is kept from workers that have room
		return records.Outcome{}, h.putBack(ctx, task.Run)
	case <-ctx.Done():
		return records.Outcome{}, ctx.Err() // with another error the run might end
	}
	live := h.newLive(task)
	defer live.close()
	inherited := false
	for {
		here := false
		record, err := dbos.RunAsStep(ctx, func(ctx context.Context) (records.Record, error) {
			here = true
			return live.next(ctx)
		}, dbos.WithStepName(records.Step))
		if err != nil {
			return records.Outcome{}, fmt.Errorf("run %s: %w", task.Run, err)
		}
		if record, err = live.whole(ctx, record); err != nil {
			return records.Outcome{}, fmt.Errorf("take the run up: %w", err) // it names the run
		}
		inherited = inherited || !here
		live.record(record, here)
		if record.Mail {
			if err := live.receive(ctx); err != nil {
				return records.Outcome{}, fmt.Errorf("run %s: %w", task.Run, err)
			}
		}
		if record.Stopped && here {
			live.release()
			<-ctx.Done()
			return records.Outcome{}, ctx.Err() // see above
		}
		if record.NotOpened != nil && here {
			return records.Outcome{}, h.putBack(ctx, task.Run)
		}
		if record.End != nil {
			if inherited {
				h.sweeper.later(task.Run)
			}
			live.dropKept(ctx)
			return *record.End, nil
		}
	}
}

// newLive returns a run that this process takes.
func (h *Host) newLive(task remote.Task) *live { return newLive(h, h.cfg, h.openings, h.tools, task) }

// notOpened makes this worker take no runs for a while, since it may be at fault.
func (h *Host) notOpened(why error) error {
	h.openings.failed(why)
	return h.listen(h.dbos)
}

// putBack puts a run back into its queue. The error is not recorded, since the run is
// this worker's no more.
func (h *Host) putBack(ctx context.Context, run string) error {
	again := time.NewTicker(beats * h.cfg.Rhythm)
	defer again.Stop()
	for {
		err := h.cfg.Database.PutBack(ctx, run, h.cfg.Worker.ID, unheard)
		if err == nil {
			return errLeft
		}
		h.cfg.Logger.Warn("put a run back", "error", err)
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
