package store

import (
	"context"
	"errors"

	"replan/agent"
	"replan/agent/event"
)

// RunSummaries returns a summary of each readable run, newest first.
func (s *Store) RunSummaries() ([]agent.Summary, error) {
	list, _, err := s.Summaries()
	return list, err
}

// Summaries returns a summary of each run, newest first. Unreadable journals are
// reported in broken and do not hide the other runs. A journal without any event
// is skipped, since its run never began. It reads only the journals that have
// changed since the last call, and those that a process writes.
func (s *Store) Summaries() (list []agent.Summary, broken []error, err error) {
	entries, err := s.Runs.List()
	if err != nil {
		return nil, nil, err
	}
	list = []agent.Summary{}
	known, _ := s.summaries.Read() // without them it only takes longer
	fresh := map[string]agent.Summary{}
	for _, e := range entries {
		if summary, ok := known.find(e); ok {
			list = append(list, whileLocked(summary, e.Locked))
			continue
		}
		run, err := s.FoldRun(e.ID)
		switch {
		case errors.Is(err, event.ErrNoEvents):
		case err != nil:
			broken = append(broken, err)
		default:
			summary := run.Summary()
			list = append(list, whileLocked(summary, e.Locked))
			if !e.Locked {
				fresh[e.ID] = summary
			}
		}
	}
	if len(fresh) > 0 {
		// If they cannot be kept, the next list takes as long as this one.
		_, _ = s.summaries.Change(context.Background(), func(f *summariesFile) { *f = summarize(entries, *f, fresh) })
	}
	countingOnUndone(list)
	return list, broken, nil
}

// countingOnUndone marks the runs that cannot be resumed because a run that they
// started, and whose result they have, is undone.
func countingOnUndone(list []agent.Summary) {
	outer := map[string]*agent.Summary{}
	for i := range list {
		outer[list[i].Run] = &list[i]
	}
	for _, s := range list {
		if !s.Undone || s.Status != event.StatusCompleted {
			continue // its call failed, or is made again
		}
		const nested = 16 // runs in each other, at most; journals may be damaged
		by := outer[s.Outer]
		for n := 0; n < nested && by != nil; n, by = n+1, outer[by.Outer] {
			by.Resumable = false
		}
	}
}

// Summary returns the summary of a run. If a process holds its journal and it has
// not ended, it is running, and no other process can resume it.
func Summary(run *agent.Run, locked bool) agent.Summary {
	return whileLocked(run.Summary(), locked)
}

// whileLocked changes the summary of a run that has not ended if a process holds
// its journal.
func whileLocked(s agent.Summary, locked bool) agent.Summary {
	if locked && s.Status == agent.StatusUnfinished {
		s.Status, s.Resumable = agent.StatusRunning, false
	}
	return s
}

// Locked reports whether a process is working on the run.
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

// NewestRun returns the newest run of a workspace, or the run that is resumed in
// its place; ok is false if there is none.
func (s *Store) NewestRun(workspace string) (run agent.Run, ok bool, err error) {
	started, err := s.StartedRuns()
	if err != nil {
		return run, false, err
	}
	for _, r := range started {
		if r.in(workspace) {
			run, err = s.outermost(r.ID)
			return run, err == nil, err
		}
	}
	return run, false, nil
}

// outermost returns a run, or the parent run that it is resumed with.
func (s *Store) outermost(id string) (agent.Run, error) {
	run, err := s.FoldRun(id)
	for err == nil && run.Summary().Outer != "" {
		outer, missing := s.FoldRun(run.Summary().Outer)
		if missing != nil || !outer.Resumable() {
			break
		}
		run = outer
	}
	return run, err
}

// RunsOfSession returns the events of each run that a conversation started,
// newest first. It skips runs that ended before the conversation began.
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
			continue // deleted, or not begun
		}
		if started, ok := head.Data.(event.RunStarted); !ok || started.Session != session {
			continue
		}
		events, err := s.ReadRun(e.ID)
		if err != nil {
			return nil, err
		}
		runs = append(runs, events)
	}
	return runs, nil
}
