package records

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"replan/agent/remote"
)

// ErrTidying refuses to resume a run whose end is recorded, while its worker still has it.
var ErrTidying = problem(remote.CodeUsage, "the run has ended, but its worker is still tidying up: try again later")

// Rewind puts a run that has ended back into its queue, without its end. The run has the terms
// in place of commands that it has not received. All of that happens or nothing, even if the
// answer of the database is lost. dbos.RewindWorkflow takes the first step to remove from the
// caller. If another client resumed the run meanwhile, and it ended again, that would remove
// what the run did.
func (q *runs) Rewind(ctx context.Context, run string, terms remote.Terms) error {
	command, err := encodeCommand(remote.Input{Terms: &terms})
	if err != nil {
		return err
	}
	ended, over := false, false
	err = q.db.alter(ctx, false, func(tx transaction) error {
		err := tx.row(ctx, `SELECT status NOT IN `+underWay+` FROM %sworkflow_status WHERE workflow_uuid = $1 AND name = $2`+q.db.forUpdate(), run, Workflow).Scan(&ended)
		if err != nil {
			return err
		}
		last, output := -1, sql.NullString{}
		err = tx.row(ctx, `SELECT function_id, output FROM %soperation_outputs
			WHERE workflow_uuid = $1 AND function_name = $2 ORDER BY function_id DESC LIMIT 1`, run, Step).Scan(&last, &output)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		value, err := Serializer{}.Decode(&output.String)
		if err != nil && output.Valid {
			return unreadable(run, err)
		}
		record, _ := value.(Record)
		if over = record.End != nil; !ended {
			return nil
		}
		first := last + 1
		if over {
			first = last // else the run ended without saying so
		}
		for _, statement := range []string{
			`DELETE FROM %soperation_outputs WHERE workflow_uuid = $1 AND function_id >= $2`,
			`DELETE FROM %snotifications WHERE destination_uuid = $1 AND (consumed_by_function_id >= $2 OR consumed = false)`,
		} {
			if _, err := tx.exec(ctx, statement, run, first); err != nil {
				return err
			}
		}
		for _, statement := range []string{
			`DELETE FROM %sworkflow_output WHERE workflow_uuid = $1`,
			`UPDATE %sworkflow_status SET status = 'ENQUEUED', recovery_attempts = 0, owner_xid = NULL, started_at_epoch_ms = NULL,
				completed_at = NULL, updated_at = ` + q.db.nowMS() + ` WHERE workflow_uuid = $1`,
		} {
			if _, err := tx.exec(ctx, statement, run); err != nil {
				return err
			}
		}
		_, err = tx.exec(ctx, `INSERT INTO %snotifications (destination_uuid, topic, message, serialization, message_uuid) VALUES ($1, $2, $3, $4, $5)`,
			run, Commands, command, Serializer{}.Name(), rand.Text())
		return err
	})
	if known, ok := errors.AsType[*remote.Problem](err); ok {
		return known
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return NoRun(run)
	case err != nil:
		return fmt.Errorf("resume the run %s: %w", run, err)
	case !ended && over:
		return ErrTidying
	case !ended:
		return problem(remote.CodeUsage, "the run has not ended: follow it instead")
	}
	return nil
}

// encodeCommand returns a command as DBOS stores it.
func encodeCommand(in remote.Input) (*string, error) {
	line, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	return Serializer{}.Encode(string(line))
}
