package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/distributed/records"
	"replan/internal/untrusted"
)

const (
	// maxDeaths is the number of workers that may die in a row while a run makes no
	// progress: it is likely to be what kills them.
	maxDeaths = 5
	// maxNotOpened is the number of workers in a row that may fail to open a run.
	maxNotOpened = 5
	// unheard is how long the engine may listen to queues after [dbos.ListenQueues] has
	// left them out, so that this worker would take the run that it puts back.
	unheard = 2 * time.Second
	// The pause of a worker that cannot open runs is long enough for others to take the
	// run first, which the engine puts back up to a second late.
	firstPause   = 2 * unheard
	longestPause = time.Minute
)

// openings are how the attempts of a worker to open runs went.
type openings struct {
	problem string        // of the last attempt; "" if it succeeded
	pause   time.Duration // after it, without taking runs
	until   time.Time     // the end of the pause
}

// paused reports whether the worker takes no runs for now.
func (o openings) paused() bool { return time.Now().Before(o.until) }

// opened notes that this worker can open runs.
func (h *Host) opened() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.openings = openings{}
}

// notOpened makes this worker take no runs for a while, since it may be at fault.
func (h *Host) notOpened(why error) error {
	h.mu.Lock()
	if h.openings.problem != why.Error() {
		h.cfg.Logger.Error("this worker cannot open runs; it takes none for a while, and tries again", "error", why)
	}
	h.openings.problem = why.Error()
	if !h.openings.paused() { // else others failed at the same time
		h.openings.pause = min(max(firstPause, 2*h.openings.pause), longestPause)
		h.openings.until = time.Now().Add(h.openings.pause)
	}
	h.mu.Unlock()
	return h.listen(h.dbos)
}

// count counts the workers in a row that died, or could not open the run.
func (l *live) count(r records.Record) {
	switch {
	case r.TakenUp != "":
		if !l.harmless {
			l.deaths++
		}
		l.harmless = false
	case r.Stopped:
		l.harmless = true
	case r.NotOpened != nil:
		l.notOpened++
		l.deaths = 0
	case len(r.Events) > 0:
		l.notOpened = 0
		for _, e := range r.Events {
			l.judge(e)
		}
	case r.Mail:
		l.deaths = 0 // a user looks after it
	}
}

// judge notes whether an event is progress, and whether the run could kill its worker
// after it. Progress is a result that no later worker works for again. What people decide
// is none: it comes by mail.
func (l *live) judge(e event.Event) {
	switch e.Data.(type) {
	case event.PhaseCompleted, event.PlanDiff, event.StepCompleted, event.StepFailed, event.StepSkipped, event.CheckCompleted,
		event.ModelReplied, event.SynthesisCompleted, event.RunCompleted, event.ChatReply:
		l.deaths = 0
	case event.PhaseStarted, event.StepStarted, event.ModelRequested, event.ReplanStarted, event.SynthesisStarted:
		l.harmless = false
	case event.RunPaused: // its worker stops in order
		l.harmless = true
	case event.RunResumed: // and waits for answers, if gates are open
		l.harmless = len(l.held.left) > 0
	}
}

// failed returns the record of a run that could not be opened. If another worker may
// succeed, the run goes back to its queue, else it ends.
func (l *live) failed(ctx context.Context, why error) (records.Record, error) {
	if ctx.Err() != nil {
		return records.Record{}, errLeft
	}
	if l.leaving.Err() != nil {
		return records.Record{Stopped: true}, nil
	}
	if _, ofRun := errors.AsType[*remote.Problem](why); ofRun {
		return l.refuse(event.ReasonNotOpened, untrusted.Text(why.Error())), nil
	}
	here := l.host.cfg.Worker.ID
	if err := l.host.notOpened(why); err != nil {
		l.host.cfg.Logger.Warn("stop listening to the queues", "error", err)
	}
	if l.notOpened+1 < maxNotOpened {
		return records.Record{NotOpened: &records.NotOpened{Worker: here, Why: untrusted.Text(why.Error())}}, nil
	}
	return l.refuse(event.ReasonWorkersFailed, untrusted.Text(fmt.Sprintf("the run could not be opened %d times, the last time by the worker %s: %v", maxNotOpened, here, why))), nil
}

// refuse ends a run that cannot go on with a sentence.
func (l *live) refuse(reason event.Reason, why untrusted.Text) records.Record {
	l.host.cfg.Logger.Error("a run fails, since it cannot be opened", "run", l.task.Run, "error", string(why))
	return l.conclude(event.ChatReply{Status: event.StatusFailed, Reason: reason, Text: why})
}

// conclude ends a run without a session. The end is the next record.
func (l *live) conclude(reply event.ChatReply) records.Record {
	end := records.OutcomeOf(reply)
	l.last = &end
	id := records.SessionID(l.task.Run)
	return records.Record{Events: []event.Event{{Seq: l.lastOf(id) + 1, Time: time.Now().UTC(), Run: id, Data: reply}}}
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
