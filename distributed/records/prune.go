package records

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// Pruned is what was removed.
type Pruned struct {
	Runs   int   // that had ended, with all their values
	Values int   // of other runs, which no record refers to
	Bytes  int64 // of texts and values, before the database compresses them
}

// underWay are the states of a workflow that has not ended.
const underWay = `('PENDING', 'ENQUEUED', 'DELAYED')`

// pruner removes runs that ended long ago, and values that no record refers to.
type pruner struct{ db *connection }

// aged are the runs $1 that ended more than $2 ms ago.
func (p *pruner) aged() string {
	return `name = $1 AND status NOT IN ` + underWay + ` AND COALESCE(completed_at, updated_at) < ` + p.db.nowMS() + ` - $2`
}

// kept are the tables with a column of runs, and what they hold of one. What is sent to
// a run goes with it by a foreign key.
var kept = []struct{ table, run, content string }{
	{"workflow_input", "workflow_uuid", "inputs"},
	{"workflow_output", "workflow_uuid", "output"},
	{"operation_outputs", "workflow_uuid", "output"},
	{"replan_values", "run", "value"},
	{"replan_checkouts", "run", "bundle"},
	{"replan_patches", "run", "patch"},
}

// Prune removes the runs that ended longer ago than age with all that is kept of them. It
// also removes the large values that no record refers to. A run that has not ended stays,
// also if it is resumed meanwhile. With dry it only counts.
func (p *pruner) Prune(ctx context.Context, age time.Duration, dry bool) (all Pruned, err error) {
	rows, err := p.db.query(ctx, `SELECT workflow_uuid FROM %sworkflow_status WHERE `+p.aged(), Workflow, age.Milliseconds())
	if err != nil {
		return all, fmt.Errorf("list the runs that have ended: %w", err)
	}
	old, err := texts(rows)
	if err != nil {
		return all, fmt.Errorf("list the runs that have ended: %w", err)
	}
	gone := map[string]bool{}
	for _, run := range old {
		bytes, removed, err := p.remove(ctx, run, age, dry)
		if err != nil {
			return all, err
		}
		if gone[run] = removed; removed {
			all.Runs, all.Bytes = all.Runs+1, all.Bytes+bytes
		}
	}
	rows, err = p.db.query(ctx, `SELECT DISTINCT run FROM %sreplan_values`)
	if err != nil {
		return all, fmt.Errorf("list the runs with large values: %w", err)
	}
	holding, err := texts(rows)
	if err != nil {
		return all, fmt.Errorf("list the runs with large values: %w", err)
	}
	for _, run := range holding {
		if gone[run] {
			continue
		}
		swept, _, err := p.sweep(ctx, run, dry)
		if err != nil {
			return all, err
		}
		all.Values, all.Bytes = all.Values+swept.Values, all.Bytes+swept.Bytes
	}
	return all, nil
}

// remove removes a run that has ended and is old. dbos.DeleteWorkflows would remove it
// also if it was resumed after the list was read.
func (p *pruner) remove(ctx context.Context, run string, age time.Duration, dry bool) (bytes int64, removed bool, err error) {
	err = p.db.alter(ctx, dry, func(tx transaction) error {
		size := `COALESCE((SELECT SUM(octet_length(message)) FROM %snotifications WHERE destination_uuid = $1), 0)`
		for _, k := range kept {
			size += ` + COALESCE((SELECT SUM(octet_length(` + k.content + `)) FROM %s` + k.table + ` WHERE ` + k.run + ` = $1), 0)`
		}
		if err := tx.row(ctx, `SELECT `+size, run).Scan(&bytes); err != nil {
			return err
		}
		done, err := tx.exec(ctx, `DELETE FROM %sworkflow_status WHERE workflow_uuid = $3 AND `+p.aged(), Workflow, age.Milliseconds(), run)
		if err != nil {
			return err
		}
		count, err := done.RowsAffected()
		if removed = count > 0; !removed || err != nil {
			return err
		}
		for _, k := range kept {
			if _, err := tx.exec(ctx, `DELETE FROM %s`+k.table+` WHERE `+k.run+` = $1`, run); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, false, fmt.Errorf("remove the run %s: %w", run, err)
	}
	return bytes, removed, nil
}

// Sweep removes the large values of a run that no record refers to: a worker died
// before it wrote the record. It does so only when the run has ended, and reports
// whether it has.
func (p *pruner) Sweep(ctx context.Context, run string) (ended bool, err error) {
	_, ended, err = p.sweep(ctx, run, false)
	return ended, err
}

func (p *pruner) sweep(ctx context.Context, run string, dry bool) (swept Pruned, ended bool, err error) {
	err = p.db.alter(ctx, dry, func(tx transaction) error {
		// The run cannot be resumed while this holds its row, so no record is written.
		err := tx.row(ctx, `SELECT status NOT IN `+underWay+` FROM %sworkflow_status WHERE workflow_uuid = $1`+p.db.forUpdate(), run).Scan(&ended)
		if errors.Is(err, sql.ErrNoRows) {
			ended, err = true, nil // it was removed
		}
		if err != nil || !ended {
			return err
		}
		unused, err := p.unused(ctx, tx, run)
		for sum, bytes := range unused {
			if err == nil {
				_, err = tx.exec(ctx, `DELETE FROM %sreplan_values WHERE run = $1 AND sha256 = $2`, run, sum)
			}
			swept.Values, swept.Bytes = swept.Values+1, swept.Bytes+bytes
		}
		return err
	})
	if err != nil {
		return Pruned{}, false, fmt.Errorf("remove unused values of the run %s: %w", run, err)
	}
	return swept, ended, nil
}

// unused returns the sizes of the large values of a run that no record refers to, by
// their hashes. It reads the records once, since they may be as many as the values.
func (p *pruner) unused(ctx context.Context, tx transaction, run string) (sizes map[string]int64, err error) {
	rows, err := tx.query(ctx, `SELECT sha256, octet_length(value) FROM %sreplan_values WHERE run = $1`, run)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	sizes = map[string]int64{}
	for rows.Next() {
		var sum string
		var bytes int64
		if err := rows.Scan(&sum, &bytes); err != nil {
			return nil, err
		}
		sizes[sum] = bytes
	}
	if err := rows.Err(); err != nil || len(sizes) == 0 {
		return nil, err
	}
	refer, err := tx.query(ctx, `SELECT output FROM %soperation_outputs WHERE workflow_uuid = $1 AND output LIKE $2`, run, `%"sha256":"%`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, refer.Close()) }()
	for refer.Next() {
		var record string
		if err := refer.Scan(&record); err != nil {
			return nil, err
		}
		for _, found := range referred.FindAllStringSubmatch(record, -1) {
			delete(sizes, found[1])
		}
	}
	return sizes, refer.Err()
}

// referred finds the hashes of large values in a record.
var referred = regexp.MustCompile(`"sha256":"([0-9a-f]{64})"`)
