package client

import (
	"context"
	"fmt"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"replan/agent/remote"
	"replan/distributed/records"
)

// Queues lists the queues of runs.
func (c *Client) Queues(ctx context.Context) ([]records.Queue, error) {
	waiting, running, err := c.database.Counts(ctx)
	if err != nil {
		return nil, err
	}
	all, err := dbos.ListQueues(c.dbos)
	if err != nil {
		return nil, fmt.Errorf("list the queues: %w", err)
	}
	var out []records.Queue
	for _, q := range all {
		if _, ok := records.NeedsOf(q.GetName()); ok {
			out = append(out, records.Queue{Queue: q, Waiting: waiting[q.GetName()], Running: running[q.GetName()]})
		}
	}
	return out, nil
}

// SetLimits sets limits of the queue of a task, which it creates if there is none.
func (c *Client) SetLimits(ctx context.Context, t remote.Task, l records.Limits) error {
	name, err := records.EnsureQueue(ctx, c.dbos, t)
	if err != nil {
		return err
	}
	queue, err := dbos.RetrieveQueue(c.dbos, name)
	if err != nil {
		return fmt.Errorf("look for the queue: %w", err)
	}
	return l.Set(c.dbos, queue)
}
