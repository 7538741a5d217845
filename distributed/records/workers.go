package records

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"replan/agent/remote"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// knownTables is the version of the tables that DBOS makes. A newer one may have
// changed what this package reads of them.
const knownTables = 125

// CheckTables refuses a database that a newer version has changed.
func (d *Database) CheckTables(ctx context.Context) error {
	var version int
	if err := d.sql.QueryRowContext(ctx, d.render(`SELECT MAX(version) FROM %sdbos_migrations`)).Scan(&version); err != nil {
		return fmt.Errorf("read the version of the tables: %w", err)
	}
	if version > knownTables {
		return problem(remote.CodeVersion, "the tables of the database are of version %d, and this replan-worker knows them up to %d: use the version of the other workers", version, knownTables)
	}
	return nil
}

// lockPause is the pause between two attempts to get the lock of [Database.Alone].
const lockPause = 50 * time.Millisecond

// Alone calls do while no other worker is in Alone on the same schema: DBOS makes its
// tables as if no other process did.
func (d *Database) Alone(ctx context.Context, do func() error) (err error) {
	if d.pool == nil {
		return do() // SQLite has one writer
	}
	// Not one of the pool, which DBOS closes and waits for if it fails.
	connection, err := pgx.ConnectConfig(ctx, d.pool.Config().ConnConfig)
	if err != nil {
		return problem(remote.CodeDatabase, "prepare the database: %s", reason(err))
	}
	defer func() { err = errors.Join(err, connection.Close(context.WithoutCancel(ctx))) }() // it unlocks too
	// It does not wait in the database: what makes an index there waits for such waiters.
	again := time.NewTicker(lockPause)
	defer again.Stop()
	for held := false; ; {
		err := connection.QueryRow(ctx, "SELECT pg_try_advisory_lock(hashtext($1))", "replan "+d.Schema).Scan(&held)
		if err != nil {
			return problem(remote.CodeDatabase, "prepare the database: %s", reason(err))
		}
		if held {
			break
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return do()
}

// Prepare creates the tables of workers, checkouts, large values and limits of tools. DBOS must have created its
// own before.
func (d *Database) Prepare(ctx context.Context) error {
	bytes := "BYTEA"
	if d.pool == nil {
		bytes = "BLOB"
	}
	for _, table := range append([]string{
		`%sreplan_workers (id TEXT PRIMARY KEY, seen_ms BIGINT NOT NULL, offer TEXT NOT NULL)`,
		`%sreplan_checkouts (run TEXT PRIMARY KEY, bundle ` + bytes + ` NOT NULL, saved_ms BIGINT NOT NULL)`,
		`%sreplan_patches (run TEXT PRIMARY KEY, patch TEXT NOT NULL)`,
		`%sreplan_values (run TEXT, sha256 TEXT, value ` + bytes + ` NOT NULL, saved_ms BIGINT NOT NULL, PRIMARY KEY (run, sha256))`,
	}, toolTables...) {
		create := d.render(`CREATE TABLE IF NOT EXISTS ` + table)
		_, err := d.sql.ExecContext(ctx, create)
		if err != nil { // another worker creates it at the same time
			_, err = d.sql.ExecContext(ctx, create)
		}
		if err != nil {
			return fmt.Errorf("create the tables of workers: %w", err)
		}
	}
	return nil
}

// Check reports whether workers have prepared the database.
func (d *Database) Check(ctx context.Context) error {
	var count int
	if err := d.sql.QueryRowContext(ctx, d.render(`SELECT COUNT(*) FROM %sreplan_workers`)).Scan(&count); err != nil {
		if Lost(err) {
			return problem(remote.CodeDatabase, "the database cannot be reached: %s", reason(err))
		}
		if answer, ok := errors.AsType[*pgconn.PgError](err); ok && answer.Code == "42501" { // insufficient_privilege
			return problem(remote.CodeDatabase, "this role may not use the runs of replan in the database: %s", reason(err))
		}
		return problem(remote.CodeDatabase, "the database holds no runs of replan: start a worker on it first with replan-worker work, which says when it takes runs")
	}
	return d.CheckTables(ctx)
}

// Beat records a sign of life of a worker and what it offers. It returns the number of
// workers that have given one within silence.
func (d *Database) Beat(ctx context.Context, w remote.Worker, silence time.Duration) (workers int, err error) {
	offer, err := json.Marshal(w)
	if err != nil {
		return 0, fmt.Errorf("encode the offer of a worker: %w", err)
	}
	err = d.sql.QueryRowContext(ctx, d.render(`INSERT INTO %sreplan_workers (id, seen_ms, offer) VALUES ($1, `+d.nowMS()+`, $2)
		ON CONFLICT (id) DO UPDATE SET seen_ms = EXCLUDED.seen_ms, offer = EXCLUDED.offer
		RETURNING (SELECT COUNT(*) FROM %sreplan_workers WHERE `+d.nowMS()+` - seen_ms < $3)`), w.ID, string(offer), silence.Milliseconds()).Scan(&workers)
	if err != nil {
		return 0, fmt.Errorf("record a sign of life: %w", err)
	}
	return workers, nil
}

// Forget removes the workers that have been gone for an hour. They have no runs any more.
func (d *Database) Forget(ctx context.Context) error {
	if _, err := d.sql.ExecContext(ctx, d.render(`DELETE FROM %sreplan_workers WHERE seen_ms < `+d.nowMS()+` - $1`), time.Hour.Milliseconds()); err != nil {
		return fmt.Errorf("forget workers that are gone: %w", err)
	}
	return nil
}

// Leave forgets a worker that ends. Its runs are taken up at once.
func (d *Database) Leave(ctx context.Context, id string) error {
	if _, err := d.sql.ExecContext(ctx, d.render(`DELETE FROM %sreplan_workers WHERE id = $1`), id); err != nil {
		return fmt.Errorf("forget the worker %s: %w", id, err)
	}
	return nil
}

// Workers lists the workers. Alive is for the caller to tell from SilentMS.
func (d *Database) Workers(ctx context.Context) ([]remote.Worker, error) {
	rows, err := d.sql.QueryContext(ctx, d.render(`SELECT offer, `+d.nowMS()+` - seen_ms FROM %sreplan_workers ORDER BY id`))
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
func (d *Database) Dead(ctx context.Context, silence time.Duration, except string) ([]string, error) {
	rows, err := d.sql.QueryContext(ctx, d.render(`SELECT DISTINCT executor_id FROM %sworkflow_status WHERE status = 'PENDING' AND executor_id <> $1
		AND executor_id NOT IN (SELECT id FROM %sreplan_workers WHERE `+d.nowMS()+` - seen_ms < $2)`), except, silence.Milliseconds())
	if err != nil {
		return nil, fmt.Errorf("look for dead workers: %w", err)
	}
	return texts(rows)
}

// PutBack puts a run that a worker has taken back into its queue, from which it can be
// taken again after a pause. What the worker still does for it is not recorded.
func (d *Database) PutBack(ctx context.Context, run, worker string, pause time.Duration) error {
	_, err := d.sql.ExecContext(ctx, d.render(`UPDATE %sworkflow_status SET status = 'DELAYED', delay_until_epoch_ms = `+d.nowMS()+` + $1,
		updated_at = `+d.nowMS()+`, started_at_epoch_ms = NULL, owner_xid = NULL WHERE workflow_uuid = $2 AND executor_id = $3 AND status = 'PENDING'`),
		pause.Milliseconds(), run, worker)
	if err != nil {
		return fmt.Errorf("put the run %s back into its queue: %w", run, err)
	}
	return nil
}

// Claim returns what tells who has a run now from whoever had it before, even the same
// worker; "" if no worker has it.
func (d *Database) Claim(ctx context.Context, run string) (claim string, err error) {
	err = d.sql.QueryRowContext(ctx, d.render(`SELECT COALESCE(MAX(owner_xid), '') FROM %sworkflow_status WHERE workflow_uuid = $1 AND status = 'PENDING'`), run).Scan(&claim)
	if err != nil {
		return "", fmt.Errorf("look who has the run %s: %w", run, err)
	}
	return claim, nil
}
