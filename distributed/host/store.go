package host

import (
	"fmt"
	"io/fs"
	"slices"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner"
	"replan/distributed/records"
)

// store keeps the journals of a run in the steps of its workflow.
type store struct {
	runner.Store
	live *live
}

// CreateJournal returns the journal of a run or session.
func (s store) CreateJournal(string, string) (runner.Journal, error) { return batches{s.live}, nil }

// ReopenRun returns a run with its journal.
func (s store) ReopenRun(id string) (runner.Journal, []event.Event, error) {
	events, err := s.ReadRun(id)
	return batches{s.live}, events, err
}

// ReadRun returns the events of a run of this workflow.
func (s store) ReadRun(id string) ([]event.Event, error) {
	events := s.live.of(id)
	if len(events) == 0 {
		return nil, fmt.Errorf("run %s: %w", id, fs.ErrNotExist)
	}
	return events, nil
}

// RunSummaries summarizes the runs of this workflow.
func (s store) RunSummaries() ([]agent.Summary, error) { return records.Summaries(s.live.all()), nil }

// batches is the journal of a run or session: each call of Append is a record.
type batches struct{ live *live }

// Append returns once the events are in the database.
func (b batches) Append(events ...event.Event) error {
	if b.live.leaving.Err() != nil {
		// The run continues elsewhere, so its end here is no answer.
		events = slices.DeleteFunc(slices.Clone(events), func(e event.Event) bool { return e.Data.Kind() == event.KindChatReply })
	}
	if len(events) == 0 {
		return nil
	}
	if keep := b.live.opened.Keep; keep != nil && slices.ContainsFunc(events, endsStep) {
		if err := keep(b.live.given); err != nil {
			return fmt.Errorf("keep what the run has changed: %w", err)
		}
	}
	record, err := b.live.values.Record(b.live.given, events)
	if err != nil {
		return err
	}
	select {
	case b.live.batches <- record:
	case <-b.live.given.Done():
		return errLeft
	}
	select {
	case <-b.live.kept:
		return nil
	case <-b.live.given.Done():
		return errLeft
	}
}

// endsStep reports whether a step may have changed something before the event.
func endsStep(e event.Event) bool {
	switch e.Data.(type) {
	case event.StepCompleted, event.StepFailed, event.StepInDoubt:
		return true
	default:
		return false
	}
}

// Close does nothing.
func (batches) Close() error { return nil }
