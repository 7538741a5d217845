package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"replan/agent/event"
	"replan/agent/store/journal"
)

// Pruning selects the runs to remove.
type Pruning struct {
	Keep       int           // number of newest ended runs to keep
	OlderThan  time.Duration // keep younger runs; 0 keeps none for their age
	Unfinished bool          // also remove runs that have not ended
	DryRun     bool          // only list, remove nothing
}

// Pruned is what a prune removed, even if it failed halfway.
type Pruned struct {
	Files  []string // never nil
	Unread []error  // journals kept because it is unknown whether their run ended
}

// Prune removes old runs with their files, conversations without any remaining
// run, and stored changes without a run.
func (s *Store) Prune(p Pruning, now time.Time) (Pruned, error) {
	pruned := Pruned{Files: []string{}}
	entries, err := s.Runs.List()
	if err != nil {
		return pruned, fmt.Errorf("list the runs: %w", err)
	}
	sessions := map[string]bool{}    // that lost a run
	removedRuns := map[string]bool{} // runs removed, or to be removed
	ended := 0
	for _, e := range entries {
		run, err := s.FoldRun(e.ID)
		empty := errors.Is(err, event.ErrNoEvents)
		if err != nil && !empty {
			pruned.Unread = append(pruned.Unread, err)
			continue
		}
		over := run.Result != nil || run.Undone != nil || empty
		if over {
			ended++
		}
		old := p.OlderThan == 0 || now.Sub(e.Modified) > p.OlderThan
		if e.Locked || !old || over && ended <= p.Keep || !over && !p.Unfinished {
			continue
		}
		removed, err := pruned.remove(s.Runs, e.ID, p.DryRun)
		if err != nil {
			return pruned, fmt.Errorf("remove the run %s: %w", e.ID, err)
		}
		if !removed {
			continue
		}
		removedRuns[e.ID] = true
		if session := run.Summary().Session; session != "" {
			sessions[session] = true
		}
	}
	if err := s.pruneSessions(&pruned, sessions, removedRuns, p.DryRun); err != nil {
		return pruned, err
	}
	return pruned, s.pruneOrphans(&pruned, p, now)
}

// Forget removes a run and its session, which are not needed. It leaves what is in use.
func (s *Store) Forget(run, session string) error {
	for _, of := range []struct {
		folder journal.Folder
		id     string
	}{{s.Runs, run}, {s.Sessions, session}} {
		if _, err := of.folder.Delete(of.id); err != nil && !errors.Is(err, journal.ErrLocked) {
			return fmt.Errorf("remove %s: %w", of.id, err)
		}
	}
	return nil
}

// pruneOrphans removes stored changes without a journal.
func (s *Store) pruneOrphans(pruned *Pruned, p Pruning, now time.Time) error {
	entries, err := s.Runs.Orphans()
	if err != nil {
		return fmt.Errorf("list the runs: %w", err)
	}
	for i, e := range entries {
		if e.Locked || i < p.Keep || p.OlderThan > 0 && now.Sub(e.Modified) <= p.OlderThan {
			continue
		}
		if _, err := pruned.remove(s.Runs, e.ID, p.DryRun); err != nil {
			return fmt.Errorf("remove what is kept of %s: %w", e.ID, err)
		}
	}
	return nil
}

// pruneSessions removes those of the sessions whose runs are all gone.
func (s *Store) pruneSessions(pruned *Pruned, sessions, removedRuns map[string]bool, dry bool) error {
	if len(sessions) == 0 {
		return nil
	}
	left, err := s.RunSummaries()
	if err != nil {
		return fmt.Errorf("list the runs: %w", err)
	}
	for _, run := range left {
		if !removedRuns[run.Run] {
			delete(sessions, run.Session)
		}
	}
	entries, err := s.Sessions.List()
	if err != nil {
		return fmt.Errorf("list the sessions: %w", err)
	}
	for _, e := range entries {
		if !sessions[e.ID] || e.Locked {
			continue
		}
		if _, err := pruned.remove(s.Sessions, e.ID, dry); err != nil {
			return fmt.Errorf("remove the session %s: %w", e.ID, err)
		}
	}
	return nil
}

// remove deletes a run or a conversation and lists its files; a dry run only
// lists them. It returns false if it was resumed in the meantime.
func (p *Pruned) remove(from journal.Folder, id string, dry bool) (bool, error) {
	if !dry {
		files, err := from.Delete(id)
		p.Files = append(p.Files, files...)
		if errors.Is(err, journal.ErrLocked) {
			return false, nil
		}
		return err == nil, err
	}
	for _, name := range from.Files(id) {
		_, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, err
		}
		p.Files = append(p.Files, name)
	}
	return true, nil
}
