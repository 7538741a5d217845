package host

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/runner"
	"replan/distributed/records"
	"replan/internal/untrusted"
)

// live is a run in this process.
type live struct {
	host *Host
	cfg  Config // of the host
	task remote.Task

	openings *openings   // of the host
	limits   *toolLimits // of the host

	journal  *journal
	held     held // commands
	attempts attempts

	eventsAtTerms int // number of recorded events when terms were last received

	stopped *event.ChatReply // of a run that was stopped before it began
	takenUp bool             // by this worker, which is recorded
	last    *records.Outcome // the end, without a session

	session     *runner.Session // nil until the recorded steps are exhausted
	claim       string          // of this process on the run, see [records.Database.Claim]
	opened      Opened
	handedBack  bool                 // its changes were handed back
	unconfirmed bool                 // a record of the journal waits to be confirmed
	commandHint chan struct{}        // a command may wait in the database
	ended       chan records.Outcome // the session has ended
	owned       context.Context      // ends when this process no longer owns the run
	disown      context.CancelFunc   // ends owned

	leave    context.Context    // ends when another worker is to take the run up
	endHere  context.CancelFunc // ends leave
	released chan struct{}      // closed when another worker may

	releaseOnce sync.Once
}

func newLive(h *Host, cfg Config, openings *openings, limits *toolLimits, task remote.Task) *live {
	l := &live{host: h, cfg: cfg, openings: openings, limits: limits, task: task, commandHint: make(chan struct{}, 1), ended: make(chan records.Outcome, 1), released: make(chan struct{})}
	l.owned, l.disown = context.WithCancel(context.Background())
	l.leave, l.endHere = context.WithCancel(context.Background())
	l.journal = newJournal(l.owned, l.leave, cfg.Database.Values(task.Run, cfg.Logger))
	return l
}

// run returns the id of the run.
func (l *live) run() string { return l.task.Run }

// handOver leaves the run to another worker. The channel is closed when that may take it up.
func (l *live) handOver() (released <-chan struct{}) {
	l.endHere()
	return l.released
}

// whole returns a record that was read with all its large values.
func (l *live) whole(ctx context.Context, r records.Record) (records.Record, error) {
	return l.journal.whole(ctx, r)
}

// release lets another worker take the run up.
func (l *live) release() { l.releaseOnce.Do(func() { close(l.released) }) }

// next returns what is recorded next. The first call opens the session.
func (l *live) next(ctx context.Context) (records.Record, error) {
	if l.last != nil {
		return records.Record{End: l.last}, nil
	}
	if l.session == nil {
		over := l.awaitsTerms()
		if over {
			if waiting, err := l.cfg.Database.Waiting(ctx, []string{l.task.Run}); err != nil || len(waiting) > 0 {
				return records.Record{Mail: true}, nil // the terms of a resume may be there
			}
		}
		if !l.takenUp {
			l.takenUp = true
			if died := l.attempts.died(); died >= maxDeaths {
				return l.refuse(event.ReasonWorkersFailed, untrusted.Text(fmt.Sprintf("its workers died %d times at this place: see what they were doing, and resume the run to try again", died))), nil
			}
			if !l.host.attach(l) {
				<-ctx.Done()
				return records.Record{}, errLeft
			}
			return records.Record{TakenUp: l.cfg.Worker.ID}, nil
		}
		if !over && len(l.journal.of(l.task.Run)) == 0 {
			if l.stopped != nil {
				return l.conclude(*l.stopped), nil
			}
			if waiting, err := l.cfg.Database.Waiting(ctx, []string{l.task.Run}); err == nil && len(waiting) > 0 {
				return records.Record{Mail: true}, nil // a stop may be there
			}
		}
		open := l.open
		if over {
			open = l.finish
		}
		if err := open(ctx); err != nil {
			return l.failed(ctx, err)
		}
		if over {
			return records.Record{End: l.last}, nil
		}
	}
	// All that a run says is recorded before its end, and before further commands.
	select {
	case batch := <-l.journal.appended():
		l.unconfirmed = true
		return batch, nil
	default:
	}
	select {
	case batch := <-l.journal.appended():
		l.unconfirmed = true
		return batch, nil
	case <-l.commandHint:
		return records.Record{Mail: true}, nil
	case end := <-l.ended:
		if l.leave.Err() != nil {
			l.release()
			<-ctx.Done() // a step that was canceled is not recorded
			return records.Record{}, errLeft
		}
		end.Summary = records.SummaryOf(l.task.Run, l.journal.all())
		return records.Record{End: &end}, nil
	case <-ctx.Done():
		return records.Record{}, errLeft
	}
}

// ring tells the run to look for a command.
func (l *live) ring() {
	select {
	case l.commandHint <- struct{}{}:
	default: // it has been told
	}
}

// errWorkerStops is what those who follow a run read when its worker stops.
var errWorkerStops = errors.New("the worker is stopping; another worker will continue the run")

// errLeft reports that this process gives a run up, so that another takes it.
var errLeft = errors.New("the worker is stopping; another worker will continue the run")

// record takes in a record that is in the database. With here, this process wrote it.
func (l *live) record(r records.Record, here bool) {
	l.journal.take(r.Events)
	l.attempts.count(r, l.held.leftOpen())
	if here && len(r.Events) > 0 && l.cfg.Recorded != nil {
		l.cfg.Recorded(l.task.Run, r.Events) // before the session continues, which uses the slice again
	}
	for _, e := range r.Events {
		if here {
			l.held.see(e, l.task.Run)
		} else {
			l.held.forget(e)
		}
	}
	if here && l.unconfirmed {
		l.unconfirmed = false
		l.journal.confirm()
		l.deliver()
	}
}

// finish completes a run whose worker died after the answer was recorded.
func (l *live) finish(ctx context.Context) (err error) {
	all := l.journal.all()
	reply, _ := all[len(all)-1].Data.(event.ChatReply)
	end := records.OutcomeOf(reply)
	if end.Status == event.StatusCompleted {
		if l.opened, err = l.openTools(ctx); err != nil {
			return err
		}
		l.openings.succeeded()
		end = l.handBack(end)
		l.closeOpened()
	}
	l.last = &end
	return nil
}

// handBack hands back what the run has changed, and returns the outcome with a note.
func (l *live) handBack(end records.Outcome) records.Outcome {
	if l.opened.HandBack == nil || l.owned.Err() != nil {
		return end
	}
	words, err := l.opened.HandBack(l.owned, end)
	l.handedBack = err == nil && end.Status == event.StatusCompleted
	if err != nil {
		words = "the changes of the run were not handed back: " + err.Error()
	}
	end.Note = untrusted.Text(words)
	return end
}

// dropKept forgets what was kept of the changes that this process has handed back. Before
// the end is recorded, another worker may have to hand them back again.
func (l *live) dropKept(ctx context.Context) {
	if !l.handedBack {
		return
	}
	if err := l.cfg.Database.DropSnapshot(ctx, l.task.Run); err != nil {
		l.cfg.Logger.Warn("forget the changes that were handed back", "run", l.task.Run, "error", err)
	}
}

// watch reads the events of the session, whose last recorded one has the given number,
// and ends it with its first new answer.
func (l *live) watch(recorded uint64) {
	end := records.Outcome{Status: event.StatusFailed, Reason: event.ReasonStepFailed}
	var closing sync.WaitGroup
	for e := range l.session.Events() {
		reply, ok := e.Data.(event.ChatReply)
		if !ok || e.Seq <= recorded {
			continue
		}
		recorded = e.Seq
		end = records.OutcomeOf(reply)
		closing.Go(l.session.Close)
	}
	closing.Wait()
	if l.leave.Err() == nil {
		end = l.handBack(end)
	}
	l.ended <- end
}

// close ends the session if the workflow ends before it. Nothing that it still says is
// recorded: this process does not own the run any more, or leaves it to another.
func (l *live) close() {
	l.disown()
	defer l.release()
	if l.cfg.Left != nil {
		defer l.cfg.Left(l.task.Run)
	}
	l.host.detach(l)
	if l.session == nil {
		return
	}
	l.session.Close()
	l.closeOpened()
}

func (l *live) closeOpened() {
	if err := l.opened.Close(); err != nil {
		l.cfg.Logger.Warn("close the tools of a run", "run", l.task.Run, "error", err)
	}
}

// Workspace returns the name of the folder that a run works in, on any worker.
func Workspace(from remote.Source) string {
	switch {
	case from.Repository == "":
		return "a new folder"
	case from.Revision == "":
		return from.Repository
	default:
		return from.Repository + "@" + from.Revision
	}
}
