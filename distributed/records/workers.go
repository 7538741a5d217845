package records

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"replan/agent/remote"
)

// workers are those who carry runs out, by their last sign of life.
type workers struct{ db *connection }

// Beat records a sign of life of a worker and what it offers. It returns the number of
// workers that have given one within silence.
func (t *workers) Beat(ctx context.Context, w remote.Worker, silence time.Duration) (workers int, err error) {
	offer, err := json.Marshal(w)
	if err != nil {
		return 0, fmt.Errorf("encode the offer of a worker: %w", err)
	}
	err = t.db.row(ctx, `INSERT INTO %sreplan_workers (id, seen_ms, offer) VALUES ($1, `+t.db.nowMS()+`, $2)
		ON CONFLICT (id) DO UPDATE SET seen_ms = EXCLUDED.seen_ms, offer = EXCLUDED.offer
		RETURNING (SELECT COUNT(*) FROM %sreplan_workers WHERE `+t.db.nowMS()+` - seen_ms < $3)`, w.ID, string(offer), silence.Milliseconds()).Scan(&workers)
	if err != nil {
		return 0, fmt.Errorf("record a sign of life: %w", err)
	}
	return workers, nil
}

// Forget removes the workers that have been gone for an hour. They have no runs any more.
func (t *workers) Forget(ctx context.Context) error {
	if _, err := t.db.exec(ctx, `DELETE FROM %sreplan_workers WHERE seen_ms < `+t.db.nowMS()+` - $1`, time.Hour.Milliseconds()); err != nil {
		return fmt.Errorf("forget workers that are gone: %w", err)
	}
	return nil
}

// Leave forgets a worker that ends. Its runs are taken up at once.
func (t *workers) Leave(ctx context.Context, id string) error {
	if _, err := t.db.exec(ctx, `DELETE FROM %sreplan_workers WHERE id = $1`, id); err != nil {
		return fmt.Errorf("forget the worker %s: %w", id, err)
	}
	return nil
}

// Workers lists the workers. Alive is for the caller to tell from SilentMS.
func (t *workers) Workers(ctx context.Context) ([]remote.Worker, error) {
	rows, err := t.db.query(ctx, `SELECT offer, `+t.db.nowMS()+` - seen_ms FROM %sreplan_workers ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("list the workers: %w", err)
	}
	defer func() { _ = rows.Close() }() // the error of reading is reported
	var out []remote.Worker
	for rows.Next() {
		var offer string
		var silent int64
		if err := rows.Scan(&offer, &silent); err != nil {
			return nil, fmt.Errorf("list the workers: %w", err)
		}
		var w remote.Worker
		if err := json.Unmarshal([]byte(offer), &w); err != nil {
			return nil, fmt.Errorf("list the workers: %w", err)
		}
		w.SilentMS = silent
		out = append(out, w)
	}
	return out, rows.Err()
}

// Dead returns the workers that have runs under way and have given no sign of life for
// silence, except one.
func (t *workers) Dead(ctx context.Context, silence time.Duration, except string) ([]string, error) {
	rows, err := t.db.query(ctx, `SELECT DISTINCT executor_id FROM %sworkflow_status WHERE status = 'PENDING' AND executor_id <> $1
		AND executor_id NOT IN (SELECT id FROM %sreplan_workers WHERE `+t.db.nowMS()+` - seen_ms < $2)`, except, silence.Milliseconds())
	if err != nil {
		return nil, fmt.Errorf("look for dead workers: %w", err)
	}
	return texts(rows)
}
