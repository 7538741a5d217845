package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/distributed/records"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// open opens the session and gives it its first command.
func (l *live) open(ctx context.Context) error {
	claim, err := l.cfg.Database.Claim(ctx, l.task.Run)
	if err != nil {
		return err
	}
	opened, err := l.openTools(ctx)
	if err != nil {
		return err
	}
	l.claim, l.opened = claim, opened
	l.journal.snapshotBefore(opened.Snapshot)
	cfg := opened.Config
	cfg.Store = store{Store: cfg.Store, journal: l.journal}
	cfg.NewID = l.newID(cfg.NewID)
	cfg.Approve, cfg.Review, cfg.Reviewer, cfg.Attended, cfg.InDoubt = l.task.Approve, l.task.Review, l.task.Review && l.task.Attended, l.task.Attended, l.task.InDoubt
	cfg.Delegated, cfg.Admit = true, func(ctx context.Context, t plan.Tool) (func(), error) {
		return l.limits.admit(ctx, l.task.Run, l.claim, t)
	}
	cfg.Workspace = Workspace(l.task.Source) // the folder is another one on each worker
	if past := l.journal.of(records.SessionID(l.task.Run)); len(past) > 0 {
		cfg.Restored = &runner.Restored{ID: records.SessionID(l.task.Run), Journal: l.journal, Events: past}
	}
	// The workflow ends the session, after it has recorded what that says.
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	l.session, err = runner.NewSession(ctx, cfg)
	if err != nil {
		stop(err)
		return errors.Join(err, opened.Close())
	}
	go l.watch(l.journal.lastOf(records.SessionID(l.task.Run)))
	l.session.Send(l.first())
	l.openings.succeeded()
	context.AfterFunc(l.leave, func() {
		stop(errWorkerStops)
		l.session.Close()
	})
	return nil
}

// openTools opens what the run works with, unless the worker stops meanwhile.
func (l *live) openTools(ctx context.Context) (Opened, error) {
	ctx, cancel := context.WithCancel(ctx) // the tools live as long
	inTime := context.AfterFunc(l.leave, cancel)
	opened, err := l.cfg.Open(ctx, l.task)
	if err == nil && !inTime() {
		err = errors.Join(errWorkerStops, opened.Close())
	}
	if err != nil {
		cancel()
		return Opened{}, err
	}
	end := opened.Close
	opened.Close = func() error {
		defer cancel()
		return end()
	}
	return opened, nil
}

// first returns the command that starts or resumes the run.
func (l *live) first() session.Command {
	switch {
	case len(l.journal.of(l.task.Run)) > 0:
		return session.Resume{Run: l.task.Run}
	case l.task.Plan != nil:
		return session.Execute{Plan: *l.task.Plan, OnFailure: l.task.OnFailure, Synthesize: l.task.Synthesize, Strict: l.task.Strict}
	default:
		return session.Submit{Text: string(l.task.Goal)}
	}
}

// newID returns the ids of the session, of the run, and then others.
func (l *live) newID(other func(time.Time) string) func(time.Time) string {
	own := 0
	if l.journal.of(records.SessionID(l.task.Run)) == nil {
		own++
	}
	if l.journal.of(l.task.Run) == nil {
		own++
	}
	return func(now time.Time) string {
		if own == 0 {
			return other(now)
		}
		own--
		return strings.TrimPrefix(l.task.Run, "r-")
	}
}

// failed returns the record of a run that could not be opened. If another worker may
// succeed, the run goes back to its queue, else it ends.
func (l *live) failed(ctx context.Context, why error) (records.Record, error) {
	if ctx.Err() != nil {
		return records.Record{}, errLeft
	}
	if l.leave.Err() != nil {
		return records.Record{Stopped: true}, nil
	}
	if _, ofRun := errors.AsType[*remote.Problem](why); ofRun {
		return l.refuse(event.ReasonNotOpened, untrusted.Text(why.Error())), nil
	}
	here := l.cfg.Worker.ID
	if err := l.host.notOpened(why); err != nil {
		l.cfg.Logger.Warn("stop listening to the queues", "error", err)
	}
	if !l.attempts.isLast() {
		return records.Record{NotOpened: &records.NotOpened{Worker: here, Why: untrusted.Text(why.Error())}}, nil
	}
	return l.refuse(event.ReasonWorkersFailed, untrusted.Text(fmt.Sprintf("the run could not be opened %d times, the last time by the worker %s: %v", maxNotOpened, here, why))), nil
}

// refuse ends a run that cannot go on with a sentence.
func (l *live) refuse(reason event.Reason, why untrusted.Text) records.Record {
	l.cfg.Logger.Error("a run fails, since it cannot be opened", "run", l.task.Run, "error", string(why))
	return l.conclude(event.ChatReply{Status: event.StatusFailed, Reason: reason, Text: why})
}

// conclude ends a run without a session. The end is the next record.
func (l *live) conclude(reply event.ChatReply) records.Record {
	end := records.OutcomeOf(reply)
	l.last = &end
	id := records.SessionID(l.task.Run)
	return records.Record{Events: []event.Event{{Seq: l.journal.lastOf(id) + 1, Time: time.Now().UTC(), Run: id, Data: reply}}}
}
