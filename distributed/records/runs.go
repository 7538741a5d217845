package records

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"replan/agent/remote"
)

// Row is what the database knows of a run beside its records.
type Row struct {
	Run    string
	Status string // one of the statuses of DBOS
}

// Broken reports whether the run ended without a last record.
func (r Row) Broken() bool {
	return r.Status == "ERROR" || r.Status == "CANCELLED" || r.Status == "MAX_RECOVERY_ATTEMPTS_EXCEEDED"
}

// Row returns the row of a run.
func (d *Database) Row(ctx context.Context, run string) (r Row, err error) {
	err = d.sql.QueryRowContext(ctx, d.render(`SELECT workflow_uuid, status FROM %sworkflow_status WHERE workflow_uuid = $1`), run).Scan(&r.Run, &r.Status)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return r, NoRun(run)
	case err != nil:
		return r, fmt.Errorf("look for the run %s: %w", run, err)
	}
	return r, nil
}

// NoRun is the error for a run that the database does not have.
func NoRun(name string) error {
	return problem(remote.CodeNotFound, "the database has no run %s: replan runs --on lists them", name)
}

// Ping reports whether the database can be reached.
func (d *Database) Ping(ctx context.Context) error { return d.sql.PingContext(ctx) }

// Lost reports whether an error says that the database could not be reached, which may
// pass, and not what it answered.
func Lost(err error) bool {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		// A broken connection, a server that stops or starts, too many connections, and a
		// transaction that took too long.
		return strings.HasPrefix(answer.Code, "08") || strings.HasPrefix(answer.Code, "57P") || answer.Code == "53300" || answer.Code == "25P03"
	}
	if answer, ok := errors.AsType[interface {
		error
		Code() int
	}](err); ok { // of SQLite
		const busy, locked, input, open = 5, 6, 10, 14
		switch answer.Code() & 0xff {
		case busy, locked, input, open:
			return true
		}
		return false
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true // also a deadline
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	return connecting || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}
