package records

import (
	"context"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // the driver "sqlite"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"replan/agent/remote"
	"replan/internal/untrusted"
)

// DefaultSchema is the schema of a team that names none.
const DefaultSchema = "replan"

// appName names replan's rows in a database that other applications of DBOS use too.
const appName = "replan"

// A worker that stalls in the middle of a transaction keeps no other worker from its runs for
// longer than this, in ms.
const (
	idleParameter = "idle_in_transaction_session_timeout"
	idleTime      = "5000"
)

// Database is an open database.
type Database struct {
	Schema string // of the team, in PostgreSQL
	pool   *pgxpool.Pool
	sql    *sql.DB
}

var (
	schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)
	parameter  = regexp.MustCompile(`\$(\d)`)
)

// Open opens a database: postgres://… or sqlite:FILE. The parameter schema of a
// PostgreSQL address names the team's schema. An error is a [*remote.Problem], which
// says what to do and never holds the password.
func Open(ctx context.Context, address string) (*Database, error) {
	kind, rest, _ := strings.Cut(address, ":")
	switch kind {
	case "sqlite":
		return openSQLite(rest)
	case "postgres", "postgresql":
		return openPostgres(ctx, address)
	case "":
		return nil, problem(remote.CodeUsage, "no database is named: use --on postgres://HOST/DATABASE or --on sqlite:FILE, or set REPLAN_ON")
	default:
		if !strings.Contains(address, ":") {
			return nil, problem(remote.CodeUsage, "the database must be postgres://… or sqlite:FILE: for a file use sqlite:%s", address)
		}
		return nil, problem(remote.CodeUsage, "the database must be postgres://… or sqlite:FILE, not %.20q", kind+":")
	}
}

// OpenExisting opens a database as Open does, but makes no file.
func OpenExisting(ctx context.Context, address string) (*Database, error) {
	if file, ok := strings.CutPrefix(address, "sqlite:"); ok && file != "" {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil, problem(remote.CodeDatabase, "there is no database %s: start a worker on it first with replan-worker work, which says when it takes runs", file)
		}
	}
	return Open(ctx, address)
}

// openSQLite opens a file. Every commit reaches the disk before it returns.
func openSQLite(file string) (*Database, error) {
	if file == "" {
		return nil, problem(remote.CodeUsage, "no file is named: use sqlite:FILE")
	}
	created, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600) // #nosec G304 -- the user names it; others may not read it
	if err != nil {
		return nil, problem(remote.CodeDatabase, "the database cannot be opened; its folder must exist: %v", err)
	}
	if err := created.Close(); err != nil {
		return nil, problem(remote.CodeDatabase, "the database cannot be opened: %v", err)
	}
	pragmas := url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(10000)", "foreign_keys(ON)", "journal_mode(WAL)", "synchronous(FULL)"}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: file}).EscapedPath()+"?"+pragmas.Encode())
	if err != nil {
		return nil, problem(remote.CodeDatabase, "the database %s cannot be opened: %v", file, err)
	}
	const connections = 4
	db.SetMaxOpenConns(connections)
	if err := db.Ping(); err != nil {
		return nil, problem(remote.CodeDatabase, "the database %s cannot be opened: %v; its folder must exist, and it must be a file of SQLite", file, errors.Join(err, db.Close()))
	}
	return &Database{sql: db}, nil
}

// openPostgres connects to a server.
func openPostgres(ctx context.Context, address string) (*Database, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, problem(remote.CodeUsage, "the address of the database cannot be read: write postgres://USER:PASSWORD@HOST/DATABASE, with special characters as %%XX")
	}
	query, err := url.ParseQuery(at.RawQuery)
	if err != nil {
		return nil, problem(remote.CodeUsage, "the parameters after ? in the address of the database cannot be read: write special characters as %%XX")
	}
	schema := query.Get("schema")
	query.Del("schema")
	at.RawQuery = query.Encode()
	if schema == "" {
		schema = DefaultSchema
	}
	if !schemaName.MatchString(schema) {
		return nil, problem(remote.CodeUsage, "the schema cannot be called %.64q: use lower-case letters, digits and _", schema)
	}
	cfg, err := pgxpool.ParseConfig(at.String())
	if err != nil {
		return nil, problem(remote.CodeUsage, "the address of the database at %s cannot be used: check its parameters and the files that they name", at.Host)
	}
	if !query.Has("connect_timeout") {
		cfg.ConnConfig.ConnectTimeout = connectTime
	}
	if _, set := cfg.ConnConfig.RuntimeParams[idleParameter]; !set {
		cfg.ConnConfig.RuntimeParams[idleParameter] = idleTime
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, problem(remote.CodeDatabase, "open the database at %s: %s", at.Host, reason(err))
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		advice := ""
		if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown {
			advice = "; name the file of its authority in the address, as sslrootcert"
		}
		return nil, problem(remote.CodeDatabase, "the database %s at %s cannot be used: %s%s", cfg.ConnConfig.Database, at.Host, reason(err), advice)
	}
	return &Database{Schema: schema, pool: pool, sql: stdlib.OpenDBFromPool(pool)}, nil
}

// Size returns the bytes that the database takes.
func (d *Database) Size(ctx context.Context) (bytes int64, err error) {
	query := "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
	if d.pool != nil {
		query = "SELECT pg_database_size(current_database())"
	}
	if err := d.sql.QueryRowContext(ctx, query).Scan(&bytes); err != nil {
		return 0, fmt.Errorf("measure the database: %w", err)
	}
	return bytes, nil
}

// connectTime is the limit of a connection to a server whose address names none.
const connectTime = 10 * time.Second

// problem returns an error for the user.
func problem(code, format string, args ...any) error {
	return &remote.Problem{Code: code, Text: untrusted.Text(fmt.Sprintf(format, args...))}
}

// reason is the innermost error of a failed connection. Those around it repeat it for
// every address and attempt.
func reason(err error) string {
	for {
		switch wrapped := err.(type) { //nolint:errorlint // it looks for the innermost
		case *pgconn.PgError:
			return wrapped.Message
		case interface{ Unwrap() []error }:
			all := wrapped.Unwrap()
			if len(all) == 0 {
				return err.Error()
			}
			err = all[len(all)-1]
		case interface{ Unwrap() error }:
			inner := wrapped.Unwrap()
			if inner == nil {
				return err.Error()
			}
			err = inner
		default:
			return err.Error()
		}
	}
}

// dbosWords are DBOS's own words before the reason of an error, which it does not wrap.
var dbosWords = regexp.MustCompile(`^.*failed to [^:]*: `)

// Refused returns why DBOS could not prepare the database.
func (d *Database) Refused(err error) error {
	if d.pool != nil && strings.Contains(err.Error(), "(SQLSTATE 42501)") { // it is not wrapped
		role := d.pool.Config().ConnConfig.User
		return problem(remote.CodeDatabase, "the role %s may not create the schema %s, nor change it: have an administrator run CREATE SCHEMA %[2]s AUTHORIZATION %[1]s", role, d.Schema)
	}
	return problem(remote.CodeDatabase, "the database cannot be prepared: %s", dbosWords.ReplaceAllString(reason(err), ""))
}

// Close closes the database.
func (d *Database) Close() error {
	err := d.sql.Close()
	if d.pool != nil {
		d.pool.Close()
	}
	return err
}

// Config returns the configuration of a DBOS context on the database.
func (d *Database) Config(executor, version string, log *slog.Logger) dbos.Config {
	cfg := dbos.Config{
		AppName: appName, ExecutorID: executor, ApplicationVersion: version, Logger: log, Serializer: Serializer{},
		DatabaseSchema: d.Schema, SystemDBPool: d.pool,
	}
	if d.pool == nil {
		cfg.SQLiteSystemDB = d.sql
	}
	return cfg
}

// Client returns a DBOS client on the database.
func (d *Database) Client(ctx context.Context, log *slog.Logger) (dbos.Client, error) {
	cfg := dbos.ClientConfig{AppName: appName, Logger: log, Serializer: Serializer{}, DatabaseSchema: d.Schema, SystemDBPool: d.pool}
	if d.pool == nil {
		cfg.SQLiteSystemDB = d.sql
	}
	return dbos.NewClient(ctx, cfg)
}

// render fills in the schema for each %s, and the form of the parameters $1, $2 … that
// the database wants.
func (d *Database) render(query string) string {
	prefix := ""
	if d.pool != nil {
		prefix = `"` + d.Schema + `".`
	}
	query = strings.ReplaceAll(query, "%s", prefix)
	if d.pool == nil {
		query = parameter.ReplaceAllString(query, "?$1")
	}
	return query
}

// forUpdate ends a SELECT that locks its rows until the end of the transaction.
func (d *Database) forUpdate() string {
	if d.pool == nil {
		return `` // SQLite has one writer
	}
	return ` FOR UPDATE`
}

// nowMS is the clock of the database in ms, in SQL.
func (d *Database) nowMS() string {
	if d.pool == nil {
		return "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
	}
	return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
}
