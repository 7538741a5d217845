package host

import (
	"context"
	"errors"
	"sync"

	"replan/distributed/records"
)

// sweeper has the large values removed that an earlier worker kept for a record that it
// never wrote. The command prune removes the rest.
type sweeper struct {
	database *records.Database

	mu   sync.Mutex
	runs []string // that ended here and may have such values
}

// later sweeps a run once its end is in the database.
func (s *sweeper) later(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = append(s.runs, run)
}

// sweep sweeps the runs of later that have ended.
func (s *sweeper) sweep(ctx context.Context) error {
	s.mu.Lock()
	runs := s.runs
	s.runs = nil
	s.mu.Unlock()
	var errs []error
	for _, run := range runs {
		ended, err := s.database.Sweep(ctx, run)
		errs = append(errs, err)
		if !ended {
			s.later(run)
		}
	}
	return errors.Join(errs...)
}
