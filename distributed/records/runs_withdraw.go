package records

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"replan/agent/event"
	"replan/internal/untrusted"
)

// StoppedBefore returns the answer of a run that was stopped before it began; "" is
// the user.
func StoppedBefore(by string) event.ChatReply {
	return event.ChatReply{
		Status: event.StatusCanceled, Reason: event.ReasonInterrupted,
		Text: untrusted.Text("stopped by " + cmp.Or(by, "the user") + " before it began"),
	}
}

// Withdraw ends a run that waits in its queue and has not begun, and reports whether it
// was one: no worker may ever take it. [dbos.CancelWorkflow] would record no end, and
// stop a run that a worker has just taken without a word to its session.
func (q *runs) Withdraw(ctx context.Context, run, by string) (withdrawn bool, err error) {
	err = q.db.alter(ctx, false, func(tx transaction) error {
		waits := false
		err := tx.row(ctx, `SELECT status IN ('ENQUEUED', 'DELAYED') FROM %sworkflow_status WHERE workflow_uuid = $1 AND name = $2`+q.db.forUpdate(), run, Workflow).Scan(&waits)
		if errors.Is(err, sql.ErrNoRows) || err == nil && !waits {
			return nil
		}
		if err != nil {
			return err
		}
		found, last, err := q.history.stored(ctx, tx, run, -1)
		if err != nil {
			return err
		}
		seq := uint64(0)
		for _, r := range found {
			if r.Mail || r.hasReferences() {
				return nil // a worker was at it, and continues at a step between the records
			}
			for _, e := range r.Events {
				if e.Run == run {
					return nil
				}
				seq = max(seq, e.Seq)
			}
		}
		reply := StoppedBefore(by)
		end := OutcomeOf(reply)
		withdrawn = true
		return q.end(ctx, tx, run, last, Record{Events: []event.Event{{Seq: seq + 1, Time: time.Now().UTC(), Run: SessionID(run), Data: reply}}}, Record{End: &end})
	})
	if err != nil {
		return false, fmt.Errorf("stop the run %s: %w", run, err)
	}
	return withdrawn, nil
}

// end ends a run that no worker has, with records that follow its last step.
func (q *runs) end(ctx context.Context, tx transaction, run string, last int, all ...Record) error {
	for _, r := range all {
		last++
		output, err := Serializer{}.Encode(r)
		if err != nil {
			return err
		}
		_, err = tx.exec(ctx, `INSERT INTO %soperation_outputs (workflow_uuid, function_id, function_name, output, serialization)
			VALUES ($1, $2, $3, $4, $5)`, run, last, Step, output, Serializer{}.Name())
		if err != nil {
			return err
		}
	}
	outcome, err := Serializer{}.Encode(*all[len(all)-1].End)
	if err != nil {
		return err
	}
	if _, err := tx.exec(ctx, `INSERT INTO %sworkflow_output (workflow_uuid, output, error) VALUES ($1, $2, '')`, run, outcome); err != nil {
		return err
	}
	_, err = tx.exec(ctx, `UPDATE %sworkflow_status SET status = 'SUCCESS', completed_at = `+q.db.nowMS()+`, updated_at = `+q.db.nowMS()+` WHERE workflow_uuid = $1`, run)
	return err
}
