package host

import (
	"context"
	"errors"
)

// sweepLater has the large values removed that an earlier worker kept for a record that
// it never wrote, once the end of the run is in the database.
func (h *Host) sweepLater(run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unswept = append(h.unswept, run)
}

// sweep sweeps the runs of sweepLater. The command prune removes the rest.
func (h *Host) sweep(ctx context.Context) error {
	h.mu.Lock()
	runs := h.unswept
	h.unswept = nil
	h.mu.Unlock()
	var errs []error
	for _, run := range runs {
		ended, err := h.cfg.Database.Sweep(ctx, run)
		errs = append(errs, err)
		if !ended {
			h.sweepLater(run)
		}
	}
	return errors.Join(errs...)
}
