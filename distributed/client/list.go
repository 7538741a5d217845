package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/remote"
	"replan/distributed/host"
	"replan/distributed/records"
	"replan/internal/untrusted"
)

// Find returns the full id of a run by its beginning or end, as lists show it. Without
// a name it is the newest run.
func (c *Client) Find(ctx context.Context, name string) (string, error) {
	if name == "" {
		newest, err := c.database.Rows(ctx, 1)
		if err == nil && len(newest) == 0 {
			err = &remote.Problem{Code: remote.CodeNotFound, Text: "the database has no runs yet: start one with replan run GOAL"}
		}
		if err != nil {
			return "", err
		}
		return newest[0].Run, nil
	}
	matching, err := c.database.Matching(ctx, name)
	switch {
	case err != nil:
		return "", err
	case slices.Contains(matching, name):
		return name, nil
	case len(matching) == 0:
		return "", records.NoRun(name)
	case len(matching) == 1:
		return matching[0], nil
	default:
		return "", &remote.Problem{Code: remote.CodeUsage, Text: text(fmt.Errorf("%d runs match %s: give more of the id", len(matching), name))}
	}
}

// Runs summarizes the newest runs, newest first; 0 is all. It leaves out those that
// cannot be read here, such as runs of a newer version; the error is about the newest of
// them.
func (c *Client) Runs(ctx context.Context, newest int) ([]agent.Summary, error) {
	rows, err := c.database.Rows(ctx, newest)
	if err != nil {
		return nil, err
	}
	workers, err := c.Workers(ctx)
	if err != nil {
		return nil, err
	}
	var out []agent.Summary
	var unreadable error
	for _, r := range rows {
		if r.Outcome != nil && r.Outcome.Summary != nil {
			out = append(out, *r.Outcome.Summary)
			continue
		}
		found, _, err := c.database.Skim(ctx, r.Run)
		var s agent.Summary
		if err == nil {
			s, err = c.summary(ctx, r, found, workers)
		}
		if _, ok := errors.AsType[*remote.Problem](err); ok {
			unreadable = cmp.Or(unreadable, err)
			continue
		}
		if err != nil {
			return out, err
		}
		out = append(out, s)
	}
	return out, unreadable
}

// Run returns the summary of a run, and its events so far.
func (c *Client) Run(ctx context.Context, run string) (s agent.Summary, events []event.Event, err error) {
	row, err := c.database.Row(ctx, run)
	if err != nil {
		return s, nil, err
	}
	found, _, err := c.database.ReadAll(ctx, run)
	if err != nil {
		return s, nil, err
	}
	workers, err := c.Workers(ctx)
	if err != nil {
		return s, nil, err
	}
	s, err = c.summary(ctx, row, found, workers)
	return s, records.Events(found), err
}

// summary summarizes a run, which may not have begun.
func (c *Client) summary(ctx context.Context, r records.Row, found []records.Record, workers []remote.Worker) (s agent.Summary, err error) {
	events := records.Events(found)
	if begun := records.SummaryOf(r.Run, events); begun != nil {
		s = *begun
	} else if s, err = c.submitted(ctx, r); err != nil {
		return s, err
	}
	task, _ := records.NeedsOf(r.Queue)
	var end *records.Outcome
	if n := len(found); n > 0 {
		end = found[n-1].End // a resume removes it
	}
	switch {
	case end != nil && s.Status == agent.StatusUnfinished:
		s.Status, s.Reason, s.Resumable = end.Status, end.Reason, true
		for _, e := range events {
			if reply, ok := e.Data.(event.ChatReply); ok && s.Status != event.StatusCompleted {
				s.Why = reply.Text
			}
		}
	case end != nil: // though its worker may still be tidying up
	case r.Waits():
		s.Status, s.Reason, s.Resumable = agent.StatusWaiting, "", false
		s.Why = untrusted.Text(Missing(workers, task, r.Version))
		if n := len(found); s.Why == "" && n > 0 && found[n-1].NotOpened != nil {
			s.Why = givenBack(*found[n-1].NotOpened)
		}
	case r.Taken() && alive(workers, r.Worker):
		s.Status, s.Reason, s.Resumable = agent.StatusRunning, "", false
	case r.Taken():
		s.Status, s.Reason, s.Resumable, s.Why = agent.StatusWaiting, "", false, gone(r.Worker, Missing(workers, task, r.Version))
	case s.Status != agent.StatusUnfinished:
	default:
		s.Status, s.Resumable, s.Why = event.StatusFailed, true, "it broke off"
	}
	return s, nil
}

// submitted summarizes a run that has not begun.
func (c *Client) submitted(ctx context.Context, r records.Row) (agent.Summary, error) {
	task, err := c.database.Task(ctx, r.Run)
	s := agent.Summary{Run: r.Run, Goal: task.Goal, Status: agent.StatusUnfinished, Started: r.Created, Workspace: host.Workspace(task.Source)}
	if task.Plan != nil {
		s.Plan, s.Title, s.Steps = task.Plan.ID, task.Plan.Title, len(task.Plan.Steps)
	}
	return s, err
}

// Workers lists the workers.
func (c *Client) Workers(ctx context.Context) ([]remote.Worker, error) {
	workers, err := c.database.Workers(ctx)
	for i := range workers {
		workers[i].Alive = host.Alive(workers[i])
	}
	return workers, err
}

// alive reports whether a worker is alive.
func alive(workers []remote.Worker, id string) bool {
	return slices.ContainsFunc(workers, func(w remote.Worker) bool { return w.ID == id && w.Alive })
}

// gone says that the worker of a run is gone, and what none of the others offers.
func gone(worker, missing string) untrusted.Text {
	if missing != "" {
		return untrusted.Text("the worker " + worker + " is gone, and " + missing)
	}
	return untrusted.Text("the worker " + worker + " is gone; the run waits for another")
}

// givenBack says why a worker gave a run back to its queue.
func givenBack(n records.NotOpened) untrusted.Text {
	return untrusted.Text("the worker "+n.Worker+" could not open the run, which waits for the next attempt: ") + n.Why
}

// Missing says what none of the workers offers; "" if one offers all that a task of a
// version needs.
func Missing(workers []remote.Worker, t remote.Task, version string) string {
	var fewest []string
	found, other := false, ""
	for _, w := range workers {
		switch {
		case !w.Alive:
			continue
		case w.Version != version:
			other = w.Version
			continue
		}
		lacks := records.Lacks(w, t)
		if lacks == nil {
			return ""
		}
		if !found || len(lacks) < len(fewest) {
			found, fewest = true, lacks
		}
	}
	if !found && other != "" {
		return "no worker has version " + version + ", but others have " + other + ": start one of version " + version + ", or build replan and replan-worker from the same commit"
	}
	if !found {
		return "no worker of version " + version + " is there: start one with replan-worker work"
	}
	return "no worker offers " + strings.Join(fewest, " and ")
}
