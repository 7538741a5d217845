package host

import (
	"fmt"
	"io/fs"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner"
	"replan/distributed/records"
)

// store keeps the journals of a run in the steps of its workflow.
type store struct {
	runner.Store
	journal *journal
}

// CreateJournal returns the journal of a run or session.
func (s store) CreateJournal(string, string) (runner.Journal, error) { return s.journal, nil }

// ReopenRun returns a run with its journal.
func (s store) ReopenRun(id string) (runner.Journal, []event.Event, error) {
	events, err := s.ReadRun(id)
	return s.journal, events, err
}

// ReadRun returns the events of a run of this workflow.
func (s store) ReadRun(id string) ([]event.Event, error) {
	events := s.journal.of(id)
	if len(events) == 0 {
		return nil, fmt.Errorf("run %s: %w", id, fs.ErrNotExist)
	}
	return events, nil
}

// RunSummaries summarizes the runs of this workflow.
func (s store) RunSummaries() ([]agent.Summary, error) {
	return records.Summaries(s.journal.all()), nil
}
