package records

import (
	"context"
	"database/sql"
	"errors"
	"regexp"
	"strings"
)

// connection runs statements on a database, in its dialect. In a statement, %s stands for
// what comes before the name of a table, and $1, $2 … for its parameters.
type connection struct {
	sql    *sql.DB
	schema string // of PostgreSQL; "" is SQLite
}

func (c *connection) query(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
	return c.sql.QueryContext(ctx, c.render(statement), args...)
}

func (c *connection) row(ctx context.Context, statement string, args ...any) *sql.Row {
	return c.sql.QueryRowContext(ctx, c.render(statement), args...)
}

func (c *connection) exec(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	return c.sql.ExecContext(ctx, c.render(statement), args...)
}

// ping reports whether the database can be reached.
func (c *connection) ping(ctx context.Context) error { return c.sql.PingContext(ctx) }

// whole returns the database, for DBOS.
func (c *connection) whole() *sql.DB { return c.sql }

// close closes the connection.
func (c *connection) close() error { return c.sql.Close() }

// transaction runs statements of which all have an effect or none.
type transaction struct {
	*sql.Tx
	render func(statement string) string
}

func (t transaction) query(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
	return t.QueryContext(ctx, t.render(statement), args...)
}

func (t transaction) row(ctx context.Context, statement string, args ...any) *sql.Row {
	return t.QueryRowContext(ctx, t.render(statement), args...)
}

func (t transaction) exec(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	return t.ExecContext(ctx, t.render(statement), args...)
}

// begin begins a transaction, which the caller commits or rolls back.
func (c *connection) begin(ctx context.Context) (transaction, error) {
	tx, err := c.sql.BeginTx(ctx, nil)
	return transaction{tx, c.render}, err
}

// alter calls do in a transaction, whose effect stays unless dry.
func (c *connection) alter(ctx context.Context, dry bool, do func(transaction) error) (err error) {
	tx, err := c.begin(ctx)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if dry {
		return tx.Rollback()
	}
	return tx.Commit()
}

var parameter = regexp.MustCompile(`\$(\d)`)

// isSQLite reports whether the database is a file of SQLite.
func (c *connection) isSQLite() bool { return c.schema == "" }

// render fills in the schema for each %s, and the form of the parameters $1, $2 … that
// the database wants.
func (c *connection) render(query string) string {
	prefix := ""
	if !c.isSQLite() {
		prefix = `"` + c.schema + `".`
	}
	query = strings.ReplaceAll(query, "%s", prefix)
	if c.isSQLite() {
		query = parameter.ReplaceAllString(query, "?$1")
	}
	return query
}

// forUpdate ends a SELECT that locks its rows until the end of the transaction.
func (c *connection) forUpdate() string {
	if c.isSQLite() {
		return `` // SQLite has one writer
	}
	return ` FOR UPDATE`
}

// nowMS is the clock of the database in ms, in SQL.
func (c *connection) nowMS() string {
	if c.isSQLite() {
		return "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
	}
	return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
}
