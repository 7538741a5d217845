package records

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"replan/agent/remote"
)

// Row is what the database knows of a run beside its records.
type Row struct {
	Run      string
	Status   string // one of the statuses of DBOS
	Queue    string
	Version  string // that the run was submitted with
	Worker   string // that has it, or had it last
	Priority int
	Created  time.Time
	Outcome  *Outcome // nil if it has not ended, or only its records say how
}

// Waits reports whether the run waits for a worker.
func (r Row) Waits() bool { return r.Status == "ENQUEUED" || r.Status == "DELAYED" }

// Taken reports whether a worker has the run.
func (r Row) Taken() bool { return r.Status == "PENDING" }

// Broken reports whether the run ended without a last record.
func (r Row) Broken() bool {
	return r.Status == "ERROR" || r.Status == "CANCELLED" || r.Status == "MAX_RECOVERY_ATTEMPTS_EXCEEDED"
}

const selectRow = `SELECT s.workflow_uuid, s.status, COALESCE(s.queue_name, ''), COALESCE(s.application_version, ''), COALESCE(s.executor_id, ''), s.priority, s.created_at,
	COALESCE(o.output, s.output, '') FROM %sworkflow_status s LEFT JOIN %sworkflow_output o ON o.workflow_uuid = s.workflow_uuid AND s.status = 'SUCCESS' `

func scanRow(scan func(...any) error) (r Row, err error) {
	var created int64
	var output string
	err = scan(&r.Run, &r.Status, &r.Queue, &r.Version, &r.Worker, &r.Priority, &created, &output)
	r.Created = time.UnixMilli(created).UTC()
	if value, wrong := (Serializer{}).Decode(&output); wrong == nil && !r.Waits() && !r.Taken() {
		if outcome, ok := value.(Outcome); ok {
			r.Outcome = &outcome
		}
	}
	return r, err
}

// runs are the runs as DBOS keeps them: their states, queues and commands.
type runs struct {
	db      *connection
	history *history
}

// Row returns the row of a run.
func (q *runs) Row(ctx context.Context, run string) (Row, error) {
	r, err := scanRow(q.db.row(ctx, selectRow+`WHERE s.workflow_uuid = $1 AND s.name = $2`, run, Workflow).Scan)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return r, NoRun(run)
	case err != nil:
		return r, fmt.Errorf("look for the run %s: %w", run, err)
	}
	return r, nil
}

// Rows returns the rows of the newest runs, newest first; 0 is all.
func (q *runs) Rows(ctx context.Context, newest int) (all []Row, err error) {
	query := selectRow + `WHERE s.name = $1 ORDER BY s.created_at DESC` // by its index
	if newest > 0 {
		query += fmt.Sprintf(" LIMIT %d", newest)
	}
	rows, err := q.db.query(ctx, query, Workflow)
	if err != nil {
		return nil, fmt.Errorf("list the runs: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		r, err := scanRow(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("list the runs: %w", err)
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b Row) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.Run, a.Run)) })
	return all, rows.Err()
}

// Before returns the number of runs that wait before a run in its queue.
func (q *runs) Before(ctx context.Context, r Row) (n int, err error) {
	err = q.db.row(ctx, `SELECT COUNT(*) FROM %sworkflow_status
		WHERE queue_name = $1 AND status IN ('ENQUEUED', 'DELAYED') AND (priority < $2 OR priority = $2 AND created_at < $3)`, r.Queue, r.Priority, r.Created.UnixMilli()).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count the runs before the run %s: %w", r.Run, err)
	}
	return n, nil
}

// Matching returns the ids of the runs that begin or end with a text.
func (q *runs) Matching(ctx context.Context, text string) ([]string, error) {
	pattern := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text)
	rows, err := q.db.query(ctx, `SELECT workflow_uuid FROM %sworkflow_status WHERE name = $1 AND (workflow_uuid LIKE $2 ESCAPE '\' OR workflow_uuid LIKE $3 ESCAPE '\')`, Workflow, pattern+"%", "%"+pattern)
	if err != nil {
		return nil, fmt.Errorf("look for the run %s: %w", text, err)
	}
	return texts(rows)
}

// Task returns the task of a run as it was submitted.
func (q *runs) Task(ctx context.Context, run string) (t remote.Task, err error) {
	var input sql.NullString
	err = q.db.row(ctx, `SELECT COALESCE(i.inputs, s.inputs) FROM %sworkflow_status s LEFT JOIN %sworkflow_input i
		ON i.workflow_uuid = s.workflow_uuid WHERE s.workflow_uuid = $1`, run).Scan(&input)
	if err != nil {
		return t, fmt.Errorf("read the task of the run %s: %w", run, err)
	}
	value, err := Serializer{}.Decode(&input.String)
	if err != nil {
		return t, problem(remote.CodeVersion, "the run %s cannot be read here: %v", run, err)
	}
	t, ok := value.(remote.Task)
	if !ok {
		return t, problem(remote.CodeVersion, "the run %s cannot be read here: its input is no task", run)
	}
	return t, nil
}

// Waiting returns those of the runs that have commands waiting.
func (q *runs) Waiting(ctx context.Context, runs []string) ([]string, error) {
	found, err := q.which(ctx, runs, `SELECT DISTINCT destination_uuid FROM %snotifications
		WHERE consumed = false AND topic = $1 AND destination_uuid IN `, Commands)
	if err != nil {
		return nil, fmt.Errorf("look for commands: %w", err)
	}
	return found, nil
}

// Kept returns those of the runs that a worker has.
func (q *runs) Kept(ctx context.Context, runs []string, worker string) ([]string, error) {
	found, err := q.which(ctx, runs, `SELECT workflow_uuid FROM %sworkflow_status WHERE status = 'PENDING' AND executor_id = $1 AND workflow_uuid IN `, worker)
	if err != nil {
		return nil, fmt.Errorf("look for the runs of the worker %s: %w", worker, err)
	}
	return found, nil
}

// which returns those of the runs that a query, which ends before their list, selects.
func (q *runs) which(ctx context.Context, runs []string, query, first string) ([]string, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	places := make([]string, len(runs))
	args := []any{first}
	for i, run := range runs {
		places[i] = fmt.Sprintf("$%d", i+2)
		args = append(args, run)
	}
	rows, err := q.db.query(ctx, query+`(`+strings.Join(places, ", ")+`)`, args...)
	if err != nil {
		return nil, err
	}
	return texts(rows)
}

// Counts returns the number of runs in each queue that wait, and that are under way.
func (q *runs) Counts(ctx context.Context) (waiting, running map[string]int, err error) {
	rows, err := q.db.query(ctx, `SELECT queue_name, status, COUNT(*) FROM %sworkflow_status
		WHERE name = $1 AND status IN ('ENQUEUED', 'DELAYED', 'PENDING') AND queue_name IS NOT NULL GROUP BY queue_name, status`, Workflow)
	if err != nil {
		return nil, nil, fmt.Errorf("count the runs in queues: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	waiting, running = map[string]int{}, map[string]int{}
	for rows.Next() {
		var name, status string
		var count int
		if err := rows.Scan(&name, &status, &count); err != nil {
			return nil, nil, fmt.Errorf("count the runs in queues: %w", err)
		}
		if status == "PENDING" {
			running[name] = count
		} else {
			waiting[name] += count
		}
	}
	return waiting, running, rows.Err()
}

// PutBack puts a run that a worker has taken back into its queue, from which it can be
// taken again after a pause. What the worker still does for it is not recorded.
func (q *runs) PutBack(ctx context.Context, run, worker string, pause time.Duration) error {
	_, err := q.db.exec(ctx, `UPDATE %sworkflow_status SET status = 'DELAYED', delay_until_epoch_ms = `+q.db.nowMS()+` + $1,
		updated_at = `+q.db.nowMS()+`, started_at_epoch_ms = NULL, owner_xid = NULL WHERE workflow_uuid = $2 AND executor_id = $3 AND status = 'PENDING'`,
		pause.Milliseconds(), run, worker)
	if err != nil {
		return fmt.Errorf("put the run %s back into its queue: %w", run, err)
	}
	return nil
}

// Claim returns what tells who has a run now from whoever had it before, even the same
// worker; "" if no worker has it.
func (q *runs) Claim(ctx context.Context, run string) (claim string, err error) {
	err = q.db.row(ctx, `SELECT COALESCE(MAX(owner_xid), '') FROM %sworkflow_status WHERE workflow_uuid = $1 AND status = 'PENDING'`, run).Scan(&claim)
	if err != nil {
		return "", fmt.Errorf("look who has the run %s: %w", run, err)
	}
	return claim, nil
}

// NoRun is the error for a run that the database does not have.
func NoRun(name string) error {
	return problem(remote.CodeNotFound, "the database has no run %s: replan runs --on lists them", name)
}

// Ping reports whether the database can be reached.
func (q *runs) Ping(ctx context.Context) error { return q.db.ping(ctx) }

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
