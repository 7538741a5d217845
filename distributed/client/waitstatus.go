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
	asked  time.Time // when the database was last asked
	worker string    // that has the run, or had it last
	waits  string    // what the run waits for; "" if a worker has it
	since  time.Time // when waits changed
	told   string    // what the user knows of waits

	notOpened *records.NotOpened // the last record says that the run was given back
}

// reportWait tells the user if the run waits, and when a worker has it again.
func (f *following) reportWait(ctx context.Context) error {
	const looks = 4 // of those for records
	if time.Since(f.asked) < looks*f.rhythm.longest {
		return nil
	}
	f.asked = time.Now()
	row, err := f.database.Row(ctx, f.run)
	if err != nil {
		return err
	}
	if row.Broken() {
		return f.broken(f.run)
	}
	workers, err := f.Workers(ctx)
	if err != nil {
		return err
	}
	if row.Taken() && alive(workers, row.Worker) {
		return f.taken(row.Worker)
	}
	if !row.Taken() && !row.Waits() {
		return nil
	}
	waits, now, queued := "", false, false
	task, _ := records.NeedsOf(row.Queue)
	switch missing := Missing(workers, task, row.Version); {
	case row.Taken(), f.worker != "" && !alive(workers, f.worker):
		if row.Taken() {
			f.worker = row.Worker
		}
		waits = string(gone(f.worker, missing))
	case missing != "":
		waits, now = missing+"; the run waits for one", true
	case f.notOpened != nil:
		waits, now = string(givenBack(*f.notOpened)), true
	default:
		waits, queued = "the run waits in its queue", true
	}
	if waits != f.waits {
		f.waits, f.since = waits, time.Now()
	}
	if waits == f.told || !now && time.Since(f.since) < f.rhythm.patience {
		return nil
	}
	f.told = waits
	if queued {
		before, err := f.database.Before(ctx, row)
		if err != nil {
			return err
		}
		waits += " and is the next"
		if before > 0 {
			waits = fmt.Sprintf("%s behind %s", f.told, english.Count(before, "run"))
		}
	}
	return f.note(waits)
}

// taken takes in that a worker has the run.
func (f *following) taken(worker string) error {
	told, last := f.told, f.worker
	f.worker, f.waits, f.told = worker, "", ""
	switch {
	case last != "" && (last != worker || told != ""):
		return f.note("the worker " + worker + " has taken the run up")
	case told != "":
		return f.note("the worker " + worker + " has the run")
	default:
		return nil
	}
}
