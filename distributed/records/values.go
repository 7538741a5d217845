package records

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/store/values"
)

// largeValues are the large values of the events of all runs.
type largeValues struct{ db *connection }

// insert keeps a large value of a run, unless it is kept.
func (t *largeValues) insert(ctx context.Context, run, sum string, value []byte) (sql.Result, error) {
	return t.db.exec(ctx, `INSERT INTO %sreplan_values (run, sha256, value, saved_ms) VALUES ($1, $2, $3, `+t.db.nowMS()+`)
		ON CONFLICT (run, sha256) DO NOTHING`, run, sum, value)
}

// value returns a large value of a run.
func (t *largeValues) value(ctx context.Context, run, sum string) (value []byte, err error) {
	err = t.db.row(ctx, `SELECT value FROM %sreplan_values WHERE run = $1 AND sha256 = $2`, run, sum).Scan(&value)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, damaged(run, errors.New(nameOf(sum)+" is missing"))
	case err != nil:
		return nil, fmt.Errorf("read a large value of the run %s: %w", run, err)
	}
	return value, nil
}

// Values are the large values of the events of a run, as the worker that carries it out
// keeps them. They are safe for concurrent use.
type Values struct {
	table  *largeValues
	run    string
	log    *slog.Logger
	decode decoder

	mu   sync.Mutex
	kept map[string]bool // hashes of values that the database has
}

// Values returns the large values of a run. What keeps it waiting is logged.
func (t *largeValues) Values(run string, log *slog.Logger) *Values {
	return &Values{table: t, run: run, log: log, decode: putBack(), kept: map[string]bool{}}
}

// Record returns the record of events once the database has their large values, for
// which it waits.
func (v *Values) Record(ctx context.Context, events []event.Event) (Record, error) {
	var lines []json.RawMessage
	for _, e := range events {
		line, taken, err := values.Extract(e)
		if err != nil {
			return Record{}, fmt.Errorf("record the run %s: %w", v.run, err)
		}
		for _, t := range taken {
			if err := v.keep(ctx, t); err != nil {
				return Record{}, err
			}
		}
		lines = append(lines, line)
	}
	return Record{Events: events, lines: lines}, nil
}

func (v *Values) keep(ctx context.Context, t values.Value) error {
	v.mu.Lock()
	known := v.kept[t.SHA256]
	v.mu.Unlock()
	if known {
		return nil
	}
	var text bytes.Buffer
	_, _ = t.JSON.WriteTo(&text) // a buffer takes everything
	_, err := patiently(ctx, v, func() (sql.Result, error) { return v.table.insert(ctx, v.run, t.SHA256, text.Bytes()) })
	if err != nil {
		return fmt.Errorf("keep a large value of the run %s: %w", v.run, err)
	}
	v.know(t.SHA256)
	return nil
}

func (v *Values) know(sum string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.kept[sum] = true
}

// PutBack returns a record that was read with all its values. It waits for the database.
func (v *Values) PutBack(ctx context.Context, r Record) (Record, error) {
	return v.decode(v.run, r, func(sum string, _ int) ([]byte, string, error) {
		value, err := patiently(ctx, v, func() ([]byte, error) { return v.table.value(ctx, v.run, sum) })
		if err == nil {
			v.know(sum)
		}
		return value, nameOf(sum), err
	})
}

// patiently calls do until the database answers, or ctx ends. A problem is an answer.
// Another error may need a person, such as a full disk.
func patiently[T any](ctx context.Context, v *Values, do func() (T, error)) (T, error) {
	const shortest, longest = 100 * time.Millisecond, 5 * time.Second
	logged := time.Duration(0)
	for pause := shortest; ; pause = min(2*pause, longest) {
		out, err := do()
		if _, ok := errors.AsType[*remote.Problem](err); ok || err == nil {
			return out, err
		}
		if pause > logged && ctx.Err() == nil {
			logged = pause
			v.log.Warn("a run waits for the database to take or give a large value", "run", v.run, "error", err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return out, err
		}
	}
}

// nameOf names a value in errors.
func nameOf(sum string) string { return "its large value " + sum }

// damaged refuses a run whose values are not those that were written.
func damaged(run string, err error) error {
	return problem(remote.CodeDatabase, "the run %s is damaged: %v; restore the database from a backup", run, err)
}

// decoder returns a record that was read with its events.
type decoder func(run string, r Record, fetch values.Fetch) (Record, error)

// putBack decodes records with all their values, which they share.
func putBack() decoder {
	var known values.Known
	return func(run string, r Record, fetch values.Fetch) (Record, error) {
		return r.decoded(run, func(line []byte, e *event.Event) error { return whole(run, line, e, &known, fetch) })
	}
}

// skim decodes records without the values that an event can be read without.
func skim() decoder {
	var known values.Known
	return func(run string, r Record, fetch values.Fetch) (Record, error) {
		return r.decoded(run, func(line []byte, e *event.Event) error {
			refs, _ := values.References(line)
			if !slices.ContainsFunc(refs, func(pointer string) bool { return !opaque(pointer) }) && e.UnmarshalJSON(line) == nil {
				return nil
			}
			return whole(run, line, e, &known, fetch)
		})
	}
}

// whole decodes an event with its values.
func whole(run string, line []byte, e *event.Event, known *values.Known, fetch values.Fetch) error {
	var failed error
	filled, err := known.PutBack(line, func(sum string, size int) (value []byte, name string, err error) {
		value, name, failed = fetch(sum, size)
		return value, name, failed
	})
	switch {
	case failed != nil:
		return failed
	case err != nil:
		return damaged(run, err)
	}
	if *e, err = filled.Event(); err != nil {
		return unreadable(run, err)
	}
	return nil
}

// opaque reports whether the place of a value takes any other value, such as a
// reference.
func opaque(pointer string) bool {
	for _, field := range []string{"/result/", "/args/", "/variables/"} {
		if strings.Contains(pointer+"/", field) {
			return true
		}
	}
	return false
}

// refers reports whether an event has references in place of values.
func refers(line json.RawMessage) bool {
	refs, _ := values.References(line)
	return len(refs) > 0
}
