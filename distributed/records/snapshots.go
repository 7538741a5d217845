package records

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"replan/agent/remote"
	"replan/internal/untrusted"
)

// MaxSnapshot is the largest snapshot of a checkout, in bytes.
const MaxSnapshot = 256 << 20

// snapshots are what runs have changed in their checkouts, and patches that no repository took.
type snapshots struct{ db *connection }

// SaveSnapshot keeps what a run has changed in its checkout, in place of what was kept
// before.
func (s *snapshots) SaveSnapshot(ctx context.Context, run string, bundle []byte) error {
	if len(bundle) > MaxSnapshot {
		return fmt.Errorf("keep the changes of the run %s: they have %d MB and at most %d fit; have git ignore large files", run, len(bundle)>>20, MaxSnapshot>>20)
	}
	_, err := s.db.exec(ctx, `INSERT INTO %sreplan_checkouts (run, bundle, saved_ms) VALUES ($1, $2, `+s.db.nowMS()+`)
		ON CONFLICT (run) DO UPDATE SET bundle = EXCLUDED.bundle, saved_ms = EXCLUDED.saved_ms`, run, bundle)
	if err != nil {
		return fmt.Errorf("keep the changes of the run %s: %w", run, err)
	}
	return nil
}

// LoadSnapshot returns what a run has changed in its checkout; nil if nothing is kept.
func (s *snapshots) LoadSnapshot(ctx context.Context, run string) ([]byte, error) {
	var bundle []byte
	err := s.db.row(ctx, `SELECT bundle FROM %sreplan_checkouts WHERE run = $1`, run).Scan(&bundle)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("load the changes of the run %s: %w", run, err)
	}
	return bundle, nil
}

// DropSnapshot forgets what a run has changed in its checkout.
func (s *snapshots) DropSnapshot(ctx context.Context, run string) error {
	if _, err := s.db.exec(ctx, `DELETE FROM %sreplan_checkouts WHERE run = $1`, run); err != nil {
		return fmt.Errorf("forget the changes of the run %s: %w", run, err)
	}
	return nil
}

// SavePatch keeps the changes of a run that no repository took.
func (s *snapshots) SavePatch(ctx context.Context, run, patch string) error {
	_, err := s.db.exec(ctx, `INSERT INTO %sreplan_patches (run, patch) VALUES ($1, $2)
		ON CONFLICT (run) DO UPDATE SET patch = EXCLUDED.patch`, run, patch)
	if err != nil {
		return fmt.Errorf("keep the patch of the run %s: %w", run, err)
	}
	return nil
}

// LoadPatch returns the changes of a run that no repository took.
func (s *snapshots) LoadPatch(ctx context.Context, run string) (patch string, err error) {
	err = s.db.row(ctx, `SELECT patch FROM %sreplan_patches WHERE run = $1`, run).Scan(&patch)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", &remote.Problem{Code: remote.CodeNotFound, Text: untrusted.Text("there is no patch of the run " + run + ": its changes are on a branch, or it has made none")}
	case err != nil:
		return "", fmt.Errorf("load the patch of the run %s: %w", run, err)
	}
	return patch, nil
}
