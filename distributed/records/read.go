package records

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/remote"
)

// Read returns the records of a run after the given step, and the number of the last
// step. The first is after step -1.
func (d *Database) Read(ctx context.Context, run string, after int) (found []Record, last int, err error) {
	return d.read(ctx, run, after, putBack())
}

// ReadAll returns all records of a run by now, and the number of the last step.
func (d *Database) ReadAll(ctx context.Context, run string) (all []Record, last int, err error) {
	return d.readAll(ctx, run, putBack())
}

// Skim is ReadAll for a reader who needs no results, arguments or variables. It does not
// load large ones, but leaves their references.
func (d *Database) Skim(ctx context.Context, run string) (all []Record, last int, err error) {
	return d.readAll(ctx, run, skim())
}

func (d *Database) readAll(ctx context.Context, run string, decode decoder) (all []Record, last int, err error) {
	last = -1
	for {
		found, next, err := d.read(ctx, run, last, decode)
		if err != nil || next == last {
			return all, last, err
		}
		all, last = append(all, found...), next
	}
}

// read reads at most 500 steps.
func (d *Database) read(ctx context.Context, run string, after int, decode decoder) (found []Record, last int, err error) {
	if found, last, err = d.stored(ctx, d.sql, run, after); err != nil {
		return nil, last, err
	}
	fetch := func(sum string, _ int) ([]byte, string, error) {
		value, err := d.value(ctx, run, sum)
		return value, nameOf(sum), err
	}
	for i := range found {
		if found[i], err = decode(run, found[i], fetch); err != nil {
			return nil, last, err
		}
	}
	return found, last, nil
}

// asked is a database or a transaction.
type asked interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// stored is read without the events that have references.
func (d *Database) stored(ctx context.Context, from asked, run string, after int) (found []Record, last int, err error) {
	last = after
	rows, err := from.QueryContext(ctx, d.render(`SELECT function_id, output FROM %soperation_outputs
		WHERE workflow_uuid = $1 AND function_id > $2 AND function_name = $3 ORDER BY function_id LIMIT 500`), run, after, Step)
	if err != nil {
		return nil, last, fmt.Errorf("read the run %s: %w", run, err)
	}
	defer func() { _ = rows.Close() }() // the error of reading is reported
	for rows.Next() {
		var output sql.NullString
		if err := rows.Scan(&last, &output); err != nil {
			return nil, last, fmt.Errorf("read the run %s: %w", run, err)
		}
		if !output.Valid {
			continue // a step that failed
		}
		value, err := Serializer{}.Decode(&output.String)
		if err != nil {
			return nil, last, unreadable(run, err)
		}
		if record, ok := value.(Record); ok {
			found = append(found, record)
		}
	}
	return found, last, rows.Err()
}

// unreadable refuses a run that another version has written.
func unreadable(run string, err error) error {
	return problem(remote.CodeVersion, "the run %s cannot be read here: %v", run, err)
}

// Events returns the events of records.
func Events(found []Record) (all []event.Event) {
	for _, r := range found {
		all = append(all, r.Events...)
	}
	return all
}

// Waiting returns those of the runs that have commands waiting.
func (d *Database) Waiting(ctx context.Context, runs []string) ([]string, error) {
	found, err := d.which(ctx, runs, `SELECT DISTINCT destination_uuid FROM %snotifications
		WHERE consumed = false AND topic = $1 AND destination_uuid IN `, Commands)
	if err != nil {
		return nil, fmt.Errorf("look for commands: %w", err)
	}
	return found, nil
}

// Kept returns those of the runs that a worker has.
func (d *Database) Kept(ctx context.Context, runs []string, worker string) ([]string, error) {
	found, err := d.which(ctx, runs, `SELECT workflow_uuid FROM %sworkflow_status WHERE status = 'PENDING' AND executor_id = $1 AND workflow_uuid IN `, worker)
	if err != nil {
		return nil, fmt.Errorf("look for the runs of the worker %s: %w", worker, err)
	}
	return found, nil
}

// which returns those of the runs that a query, which ends before their list, selects.
func (d *Database) which(ctx context.Context, runs []string, query, first string) ([]string, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	places := make([]string, len(runs))
	args := []any{first}
	for i, run := range runs {
		places[i] = fmt.Sprintf("$%d", i+2)
		args = append(args, run)
	}
	rows, err := d.sql.QueryContext(ctx, d.render(query+`(`+strings.Join(places, ", ")+`)`), args...)
	if err != nil {
		return nil, err
	}
	return texts(rows)
}

// texts reads rows of one text each.
func texts(rows *sql.Rows) (out []string, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, rows.Err()
}

// Summaries summarizes the runs that the events are of, in their order.
func Summaries(events []event.Event) []agent.Summary {
	runs := map[string]*agent.Run{}
	var order []string
	for _, e := range events {
		if strings.HasPrefix(e.Run, "s-") {
			continue
		}
		if runs[e.Run] == nil {
			runs[e.Run] = agent.NewRun(nil)
			order = append(order, e.Run)
		}
		_ = runs[e.Run].Apply(e) // an event that does not fit is left out, as in a list of journals
	}
	var out []agent.Summary
	for _, id := range order {
		out = append(out, runs[id].Summary())
	}
	return out
}

// SummaryOf summarizes a run; nil if it has not begun.
func SummaryOf(run string, events []event.Event) *agent.Summary {
	for _, s := range Summaries(events) {
		if s.Run == run {
			return &s
		}
	}
	return nil
}
