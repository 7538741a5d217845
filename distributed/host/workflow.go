package host

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"replan/agent/remote"
	"replan/distributed/records"
)

// run is the workflow. What it does depends only on the recorded steps: until they are
// exhausted it collects their events, then it opens a session that goes on from there.
func (h *Host) run(ctx dbos.Context, task remote.Task) (records.Outcome, error) {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return records.Outcome{}, errLeft
	}
	live := newLive(h, task)
	defer live.close()
	for {
		here := false
		record, err := dbos.RunAsStep(ctx, func(ctx context.Context) (records.Record, error) {
			here = true
			return live.next(ctx)
		}, dbos.WithStepName(records.Step))
		if err != nil {
			return records.Outcome{}, fmt.Errorf("run %s: %w", task.Run, err)
		}
		live.record(record, here)
		if record.Mail {
			if err := live.receive(ctx); err != nil {
				return records.Outcome{}, fmt.Errorf("run %s: %w", task.Run, err)
			}
		}
		if record.End != nil {
			return *record.End, nil
		}
	}
}

// receive takes one command from the mailbox of the workflow.
func (l *live) receive(ctx dbos.Context) error {
	line, err := dbos.Recv[string](ctx, records.Commands, 0)
	switch {
	case isTimeout(err), err == nil && line == "":
		return nil // it was received before
	case err != nil:
		return fmt.Errorf("receive a command: %w", err)
	}
	var in remote.Input
	if err := json.Unmarshal([]byte(line), &in); err != nil {
		l.host.cfg.Logger.Warn("a command is ignored", "run", l.task.Run, "error", err)
		return nil
	}
	if l.session == nil {
		l.unheeded = append(l.unheeded, in)
		return nil
	}
	l.deliver(in)
	return nil
}
