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

// history is the records of runs, which are the outputs of their steps.
type history struct {
	db     *connection
	values *largeValues
}

// Read returns the records of a run after the given step, and the number of the last
// step. The first is after step -1.
func (h *history) Read(ctx context.Context, run string, after int) (found []Record, last int, err error) {
	return h.read(ctx, run, after, putBack())
}

// ReadAll returns all records of a run by now, and the number of the last step.
func (h *history) ReadAll(ctx context.Context, run string) (all []Record, last int, err error) {
	return h.readAll(ctx, run, putBack())
}

// Skim is ReadAll for a reader who needs no results, arguments or variables. It does not
// load large ones, but leaves their references.
func (h *history) Skim(ctx context.Context, run string) (all []Record, last int, err error) {
	return h.readAll(ctx, run, skim())
}

func (h *history) readAll(ctx context.Context, run string, decode decoder) (all []Record, last int, err error) {
	last = -1
	for {
		found, next, err := h.read(ctx, run, last, decode)
		if err != nil || next == last {
			return all, last, err
		}
		all, last = append(all, found...), next
	}
}

// read reads at most 500 steps.
func (h *history) read(ctx context.Context, run string, after int, decode decoder) (found []Record, last int, err error) {
	if found, last, err = h.stored(ctx, h.db, run, after); err != nil {
		return nil, last, err
	}
	fetch := func(sum string, _ int) ([]byte, string, error) {
		value, err := h.values.value(ctx, run, sum)
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
	query(ctx context.Context, statement string, args ...any) (*sql.Rows, error)
}

// stored is read without the events that have references.
func (h *history) stored(ctx context.Context, from asked, run string, after int) (found []Record, last int, err error) {
	last = after
	rows, err := from.query(ctx, `SELECT function_id, output FROM %soperation_outputs
		WHERE workflow_uuid = $1 AND function_id > $2 AND function_name = $3 ORDER BY function_id LIMIT 500`, run, after, Step)
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
