package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/store/journal"
	"replan/planning/plan"
)

// NotFoundError reports that no run or plan has an id that the given text fits.
// It wraps plan.ErrUnknownID.
type NotFoundError struct {
	Kind string // "run" or "plan"
	Text string // as given
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("no %s %.200q", e.Kind, e.Text) }

// Unwrap returns plan.ErrUnknownID.
func (e *NotFoundError) Unwrap() error { return plan.ErrUnknownID }

// FindRun returns the id of the run with the given id, or the only one that begins or ends
// with the text. The screen shows the ends. The error is a *NotFoundError or a
// *plan.AmbiguousIDError.
func (s *Store) FindRun(text string) (string, error) {
	return find("run", s.Runs.IDs, text, plan.MatchEnds)
}

// FindPlan returns the id of the stored plan with the given id or unique id
// prefix. The errors are those of FindRun.
func (s *Store) FindPlan(prefix string) (string, error) {
	return find("plan", s.Plans.IDs, prefix, plan.MatchPrefix)
}

// find returns the id that text means.
func find(kind string, ids func() ([]string, error), text string, match func([]string, string) (string, error)) (string, error) {
	known, err := ids()
	if err != nil {
		return "", fmt.Errorf("find a %s: %w", kind, err)
	}
	id, err := match(known, text)
	if errors.Is(err, plan.ErrUnknownID) {
		return "", &NotFoundError{kind, text}
	}
	return id, err
}

// FindChange returns the id of something to undo: a run, or a server used without
// a run, that changed files.
func (s *Store) FindChange(prefix string) (string, error) {
	id, err := s.FindRun(prefix)
	if !errors.Is(err, plan.ErrUnknownID) {
		return id, err
	}
	orphans, listed := s.Runs.Orphans()
	if listed != nil {
		return "", fmt.Errorf("find a run: %w", listed)
	}
	ids := make([]string, len(orphans))
	for i, e := range orphans {
		ids[i] = e.ID
	}
	found, missed := plan.MatchEnds(ids, prefix)
	if errors.Is(missed, plan.ErrUnknownID) {
		missed = err
	}
	return found, missed
}

// StartedRun is a run with the data of its first event.
type StartedRun struct {
	journal.Entry
	event.RunStarted
}

// in reports whether the run was started in a folder. In a journal, bytes of its name that
// are not UTF-8 are replaced.
func (r StartedRun) in(folder string) bool { return r.Workspace == string([]rune(folder)) }

// StartedRuns returns all started runs, newest first. It reads only the first
// event of each run and skips unreadable journals.
func (s *Store) StartedRuns() ([]StartedRun, error) {
	entries, err := s.Runs.List()
	if err != nil {
		return nil, err
	}
	var runs []StartedRun
	for _, e := range entries {
		if r, ok := s.started(e); ok {
			runs = append(runs, r)
		}
	}
	return runs, nil
}

// started reads the first event of a run; ok is false if it has none.
func (s *Store) started(e journal.Entry) (r StartedRun, ok bool) {
	head, err := s.Runs.Head(e.ID)
	if err != nil {
		return r, false
	}
	started, ok := head.Data.(event.RunStarted)
	return StartedRun{e, started}, ok
}

// LastRun returns the newest run that was started in a folder and not by another
// run. Runs that only made a plan do not count, nor do those that accept refuses;
// nil accepts all. The id is "" if there is none.
func (s *Store) LastRun(workspace string, accept func(id string) bool) (string, error) {
	entries, err := s.Runs.List()
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		r, ok := s.started(e)
		if ok && r.in(workspace) && r.Outer == "" && !r.PlanOnly && (accept == nil || accept(r.ID)) {
			return r.ID, nil
		}
	}
	return "", nil
}

// NewestOfSessions returns the newest run that one of the sessions has worked on since
// a time. Runs that other runs started, or that only made a plan, do not count; ok is
// false if there is none.
func (s *Store) NewestOfSessions(sessions []string, since time.Time) (run agent.Run, ok bool, err error) {
	entries, err := s.Runs.List()
	if err != nil {
		return run, false, err
	}
	for _, e := range entries {
		if e.Modified.Before(since) {
			break // so are the rest
		}
		run, err := s.FoldRun(e.ID)
		if sum := run.Summary(); err == nil && sum.Outer == "" && !sum.PlanOnly && slices.Contains(sessions, sum.Session) {
			return run, true, nil
		}
	}
	return run, false, nil
}

// RunsByPlan returns the run ids of each stored plan, newest first.
func (s *Store) RunsByPlan() (map[string][]string, error) {
	started, err := s.StartedRuns()
	if err != nil {
		return nil, err
	}
	runs := map[string][]string{}
	for _, r := range started {
		if r.Plan != nil && r.Plan.ID != "" {
			runs[r.Plan.ID] = append(runs[r.Plan.ID], r.ID)
		}
	}
	return runs, nil
}

// NoRunError reports that a plan has not been run yet.
type NoRunError struct{ Plan string }

func (e *NoRunError) Error() string { return fmt.Sprintf("the plan %s has no run yet", e.Plan) }

// ResumableRun returns the run to resume for the id prefix of a run or plan. For
// a plan that is its latest unfinished run, or its latest run if all succeeded;
// the plan need not be stored any more. For a plan without a run, the error is a
// *NoRunError.
func (s *Store) ResumableRun(prefix string) (agent.Run, error) {
	id, err := s.FindRun(prefix)
	if err == nil {
		return s.FoldRun(id)
	}
	var ambiguous *plan.AmbiguousIDError
	if errors.As(err, &ambiguous) {
		return agent.Run{}, err
	}
	runs, listed := s.RunsByPlan()
	if listed != nil {
		return agent.Run{}, listed
	}
	planID, unknown := s.FindPlan(prefix)
	if errors.Is(unknown, plan.ErrUnknownID) {
		planID, unknown = plan.MatchPrefix(slices.Sorted(maps.Keys(runs)), prefix)
	}
	if errors.As(unknown, &ambiguous) {
		return agent.Run{}, unknown
	}
	if unknown != nil {
		return agent.Run{}, err // the error about runs says what to do
	}
	return s.latest(planID, runs[planID])
}

// latest returns a plan's latest resumable run, else its latest run.
func (s *Store) latest(plan string, runs []string) (agent.Run, error) {
	var latest *agent.Run
	for _, id := range runs {
		run, err := s.FoldRun(id)
		if err != nil {
			return agent.Run{}, err
		}
		if run.Resumable() {
			return run, nil
		}
		if latest == nil {
			latest = &run
		}
	}
	if latest == nil {
		return agent.Run{}, &NoRunError{plan}
	}
	return *latest, nil
}
