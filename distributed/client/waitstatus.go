package client

import (
	"context"
	"fmt"
	"time"

	"replan/distributed/records"
	"replan/internal/english"
)

// waitStatus is what a client knows of a run that has no new records.
type waitStatus struct {
	client   *Client
	database *records.Database // of the client
	rhythm   rhythm
	run      string

	asked  time.Time // when the database was last asked
	worker string    // that has the run, or had it last
	waits  string    // what the run waits for; "" if a worker has it
	since  time.Time // when waits changed
	told   string    // what the user knows of waits

	notOpened *records.NotOpened // the last record says that the run was given back
}

// recorded takes in a new record.
func (w *waitStatus) recorded(r records.Record) { w.notOpened = r.NotOpened }

// report tells the user if the run waits, and when a worker has it again.
func (w *waitStatus) report(ctx context.Context) error {
	const looks = 4 // of those for records
	if time.Since(w.asked) < looks*w.rhythm.longest {
		return nil
	}
	w.asked = time.Now()
	row, err := w.database.Row(ctx, w.run)
	if err != nil {
		return err
	}
	if row.Broken() {
		return w.client.broken(w.run)
	}
	workers, err := w.client.Workers(ctx)
	if err != nil {
		return err
	}
	if row.Taken() && alive(workers, row.Worker) {
		return w.taken(row.Worker)
	}
	if !row.Taken() && !row.Waits() {
		return nil
	}
	waits, now, queued := "", false, false
	task, _ := records.NeedsOf(row.Queue)
	switch missing := Missing(workers, task, row.Version); {
	case row.Taken(), w.worker != "" && !alive(workers, w.worker):
		if row.Taken() {
			w.worker = row.Worker
		}
		waits = string(gone(w.worker, missing))
	case missing != "":
		waits, now = missing+"; the run waits for one", true
	case w.notOpened != nil:
		waits, now = string(givenBack(*w.notOpened)), true
	default:
		waits, queued = "the run waits in its queue", true
	}
	if waits != w.waits {
		w.waits, w.since = waits, time.Now()
	}
	if waits == w.told || !now && time.Since(w.since) < w.rhythm.patience {
		return nil
	}
	w.told = waits
	if queued {
		before, err := w.database.Before(ctx, row)
		if err != nil {
			return err
		}
		waits += " and is the next"
		if before > 0 {
			waits = fmt.Sprintf("%s behind %s", w.told, english.Count(before, "run"))
		}
	}
	return w.client.note(waits)
}

// taken takes in that a worker has the run.
func (w *waitStatus) taken(worker string) error {
	told, last := w.told, w.worker
	w.worker, w.waits, w.told = worker, "", ""
	switch {
	case last != "" && (last != worker || told != ""):
		return w.client.note("the worker " + worker + " has taken the run up")
	case told != "":
		return w.client.note("the worker " + worker + " has the run")
	default:
		return nil
	}
}
