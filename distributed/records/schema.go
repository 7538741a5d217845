package records

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"replan/agent/remote"
)

// schema makes the tables of replan beside those of DBOS, and checks them.
type schema struct {
	db   *connection
	name string        // of the team, in PostgreSQL
	pool *pgxpool.Pool // nil is SQLite
}

// knownTables is the version of the tables that DBOS makes. A newer one may have
// changed what this package reads of them.
const knownTables = 125

// CheckTables refuses a database that a newer version has changed.
func (s *schema) CheckTables(ctx context.Context) error {
	var version int
	if err := s.db.row(ctx, `SELECT MAX(version) FROM %sdbos_migrations`).Scan(&version); err != nil {
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
func (s *schema) Alone(ctx context.Context, do func() error) (err error) {
	if s.pool == nil {
		return do() // SQLite has one writer
	}
	// Not one of the pool, which DBOS closes and waits for if it fails.
	connection, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return problem(remote.CodeDatabase, "prepare the database: %s", reason(err))
	}
	defer func() { err = errors.Join(err, connection.Close(context.WithoutCancel(ctx))) }() // it unlocks too
	// It does not wait in the database: what makes an index there waits for such waiters.
	again := time.NewTicker(lockPause)
	defer again.Stop()
	for held := false; ; {
		err := connection.QueryRow(ctx, "SELECT pg_try_advisory_lock(hashtext($1))", "replan "+s.name).Scan(&held)
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
func (s *schema) Prepare(ctx context.Context) error {
	bytes := "BYTEA"
	if s.pool == nil {
		bytes = "BLOB"
	}
	for _, table := range append([]string{
		`%sreplan_workers (id TEXT PRIMARY KEY, seen_ms BIGINT NOT NULL, offer TEXT NOT NULL)`,
		`%sreplan_checkouts (run TEXT PRIMARY KEY, bundle ` + bytes + ` NOT NULL, saved_ms BIGINT NOT NULL)`,
		`%sreplan_patches (run TEXT PRIMARY KEY, patch TEXT NOT NULL)`,
		`%sreplan_values (run TEXT, sha256 TEXT, value ` + bytes + ` NOT NULL, saved_ms BIGINT NOT NULL, PRIMARY KEY (run, sha256))`,
	}, toolTables...) {
		create := `CREATE TABLE IF NOT EXISTS ` + table
		_, err := s.db.exec(ctx, create)
		if err != nil { // another worker creates it at the same time
			_, err = s.db.exec(ctx, create)
		}
		if err != nil {
			return fmt.Errorf("create the tables of workers: %w", err)
		}
	}
	return nil
}

// Check reports whether workers have prepared the database.
func (s *schema) Check(ctx context.Context) error {
	var count int
	if err := s.db.row(ctx, `SELECT COUNT(*) FROM %sreplan_workers`).Scan(&count); err != nil {
		if Lost(err) {
			return problem(remote.CodeDatabase, "the database cannot be reached: %s", reason(err))
		}
		if answer, ok := errors.AsType[*pgconn.PgError](err); ok && answer.Code == "42501" { // insufficient_privilege
			return problem(remote.CodeDatabase, "this role may not use the runs of replan in the database: %s", reason(err))
		}
		return problem(remote.CodeDatabase, "the database holds no runs of replan: start a worker on it first with replan-worker work, which says when it takes runs")
	}
	return s.CheckTables(ctx)
}

// dbosWords are DBOS's own words before the reason of an error, which it does not wrap.
var dbosWords = regexp.MustCompile(`^.*failed to [^:]*: `)

// Refused returns why DBOS could not prepare the database.
func (s *schema) Refused(err error) error {
	if s.pool != nil && strings.Contains(err.Error(), "(SQLSTATE 42501)") { // it is not wrapped
		role := s.pool.Config().ConnConfig.User
		return problem(remote.CodeDatabase, "the role %s may not create the schema %s, nor change it: have an administrator run CREATE SCHEMA %[2]s AUTHORIZATION %[1]s", role, s.name)
	}
	return problem(remote.CodeDatabase, "the database cannot be prepared: %s", dbosWords.ReplaceAllString(reason(err), ""))
}

// Config returns the configuration of a DBOS context on the database.
func (s *schema) Config(executor, version string, log *slog.Logger) dbos.Config {
	cfg := dbos.Config{
		AppName: appName, ExecutorID: executor, ApplicationVersion: version, Logger: log, Serializer: Serializer{},
		DatabaseSchema: s.name, SystemDBPool: s.pool,
	}
	if s.pool == nil {
		cfg.SQLiteSystemDB = s.db.whole()
	}
	return cfg
}

// Client returns a DBOS client on the database.
func (s *schema) Client(ctx context.Context, log *slog.Logger) (dbos.Client, error) {
	cfg := dbos.ClientConfig{AppName: appName, Logger: log, Serializer: Serializer{}, DatabaseSchema: s.name, SystemDBPool: s.pool}
	if s.pool == nil {
		cfg.SQLiteSystemDB = s.db.whole()
	}
	return dbos.NewClient(ctx, cfg)
}
