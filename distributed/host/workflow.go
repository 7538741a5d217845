package host

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/session"
	"replan/distributed/records"
)

// run is the workflow. What it does depends only on the recorded steps: until they are
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
	live := newLive(h, task)
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
		if record, err = live.values.PutBack(ctx, record); err != nil {
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
			live.mayTakeUp()
			<-ctx.Done()
			return records.Outcome{}, ctx.Err() // see above
		}
		if record.NotOpened != nil && here {
			return records.Outcome{}, h.putBack(ctx, task.Run)
		}
		if record.End != nil {
			if inherited {
				h.sweepLater(task.Run)
			}
			live.dropKept(ctx)
			return *record.End, nil
		}
	}
}

// awaitsTerms reports whether the run had ended, and it is not known yet on which terms
// it continues.
func (l *live) awaitsTerms() bool {
	all := l.all()
	return len(all) > 0 && all[len(all)-1].Data.Kind() == event.KindChatReply && l.agreed < len(all)
}

// again forgets what became of the attempts before a run was resumed.
func (l *live) again() {
	l.agreed, l.notOpened, l.deaths, l.stopped = len(l.all()), 0, 0, nil
}

// receive takes one command from the mailbox of the workflow, as a record announced, if
// it is there.
func (l *live) receive(ctx dbos.Context) error {
	line, err := dbos.Recv[string](ctx, records.Commands, 0)
	switch {
	case isTimeout(err), err == nil && line == "": // it was received before
		return nil
	case err != nil:
		return fmt.Errorf("receive a command: %w", err)
	}
	var in remote.Input
	if err := json.Unmarshal([]byte(line), &in); err != nil {
		l.host.cfg.Logger.Warn("a command is ignored", "run", l.task.Run, "error", err)
		return nil
	}
	if in.Terms != nil {
		l.task.Agree(*in.Terms)
		l.again()
		return nil
	}
	if _, stop := in.Command.(session.Stop); stop && len(l.of(l.task.Run)) == 0 {
		reply := records.StoppedBefore(in.By)
		l.stopped = &reply
	}
	l.held.commands = append(l.held.commands, in)
	if l.session != nil {
		l.deliver()
	}
	return nil
}
