package store

import (
	"errors"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/store/journal"
)

// RunSummaries returns a line for each run that can be read, newest first.
func (s *Store) RunSummaries() ([]agent.Summary, error) {
	list, _, err := s.Summaries()
	return list, err
}

// Summaries returns a line for each run, newest first. Journals that cannot be
// read are errors of their own and keep nobody from the others; one without a
// single event has never begun.
func (s *Store) Summaries() (list []agent.Summary, broken []error, err error) {
	entries, err := s.Runs.List()
	if err != nil {
		return nil, nil, err
	}
	list = []agent.Summary{}
	for _, e := range entries {
		run, err := s.Runs.Fold(e.ID)
		switch {
		case errors.Is(err, journal.ErrEmpty):
		case err != nil:
			broken = append(broken, err)
		default:
			list = append(list, Summary(&run, e.Locked))
		}
	}
	return list, broken, nil
}

// Summary returns a run in a line. Where a process holds its journal and it has
// not ended, it is running, and nobody else can resume it.
func Summary(run *agent.Run, locked bool) agent.Summary {
	s := run.Summary()
	if locked && run.Result == nil {
		s.Status, s.Resumable = agent.StatusRunning, false
	}
	return s
}

// Locked reports whether a process works on the run.
func (s *Store) Locked(id string) (bool, error) {
	entries, err := s.Runs.List()
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if e.ID == id {
			return e.Locked, nil
		}
	}
	return false, nil
}

// NewestRun returns the newest run of a folder, or the one that a resume of it
// resumes; ok is false where there is none.
func (s *Store) NewestRun(workspace string) (run agent.Run, ok bool, err error) {
	started, err := s.StartedRuns()
	if err != nil {
		return run, false, err
	}
	for _, r := range started {
		if r.Workspace == workspace {
			run, err = s.outermost(r.ID)
			return run, err == nil, err
		}
	}
	return run, false, nil
}

// outermost returns a run, or the one that started it and is resumed with it.
func (s *Store) outermost(id string) (agent.Run, error) {
	run, err := s.Runs.Fold(id)
	for err == nil && run.Summary().Outer != "" {
		outer, missing := s.Runs.Fold(run.Summary().Outer)
		if missing != nil || !outer.Resumable() {
			break
		}
		run = outer
	}
	return run, err
}

// RunsOfSession returns the events of each run that a conversation started,
// newest first. Runs that ended before the conversation began are not looked at.
func (s *Store) RunsOfSession(session string, conversation []event.Event) ([][]event.Event, error) {
	entries, err := s.Runs.List()
	if err != nil {
		return nil, err
	}
	var runs [][]event.Event
	for _, e := range entries {
		if len(conversation) > 0 && e.Modified.Before(conversation[0].Time.Add(-clockSlack)) {
			continue
		}
		head, err := s.Runs.Head(e.ID)
		if err != nil {
			continue // it is gone, or has not begun
		}
		if started, ok := head.Data.(event.RunStarted); !ok || started.Session != session {
			continue
		}
		events, err := s.Runs.Read(e.ID)
		if err != nil {
			return nil, err
		}
		runs = append(runs, events)
	}
	return runs, nil
}
