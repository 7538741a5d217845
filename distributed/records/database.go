package records

import (
	"context"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

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

// Database is an open database. Each of its parts knows the tables that it is about, and has
// the statements on them.
type Database struct {
	*schema  // makes the tables
	*runs    // what DBOS knows of runs
	*history // the records of runs
	*largeValues
	*workers   // who carries runs out
	*toolCalls // limits of tools
	*snapshots // what runs have changed
	*pruner    // removes what is old

	db   *connection
	pool *pgxpool.Pool // nil is SQLite
}

// newDatabase returns a database. schema is that of the team in PostgreSQL, and pool its
// connections; both are empty for SQLite.
func newDatabase(in *sql.DB, name string, pool *pgxpool.Pool) *Database {
	db := &connection{sql: in, schema: name}
	large := &largeValues{db: db}
	records := &history{db: db, values: large}
	return &Database{
		db: db, pool: pool, history: records, largeValues: large,
		schema: &schema{db: db, name: name, pool: pool}, runs: &runs{db: db, history: records}, workers: &workers{db: db},
		toolCalls: &toolCalls{db: db}, snapshots: &snapshots{db: db}, pruner: &pruner{db: db},
	}
}

var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

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
	return newDatabase(db, "", nil), nil
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
	return newDatabase(stdlib.OpenDBFromPool(pool), schema, pool), nil
}

// Size returns the bytes that the database takes.
func (d *Database) Size(ctx context.Context) (bytes int64, err error) {
	query := "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
	if !d.db.isSQLite() {
		query = "SELECT pg_database_size(current_database())"
	}
	if err := d.db.row(ctx, query).Scan(&bytes); err != nil {
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

// Close closes the database.
func (d *Database) Close() error {
	err := d.db.close()
	if d.pool != nil {
		d.pool.Close()
	}
	return err
}
