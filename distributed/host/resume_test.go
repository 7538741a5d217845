package host_test

import (
	"path/filepath"
	"strings"
	"testing"

	"replan/agent/remote"
)

// ends is a run that has ended, with records of two steps and of its end.
func (d tables) ends(run string) {
	d.execute("INSERT INTO %workflow_status (workflow_uuid, status, name, queue_name, recovery_attempts) VALUES ($1, 'SUCCESS', 'run', 'q', 1)", run)
	for n, output := range []string{`record {"mail":true}`, `record {"mail":true}`, endRecord} {
		d.execute("INSERT INTO %operation_outputs (workflow_uuid, function_id, function_name, output) VALUES ($1, $2, 'events', $3)", run, n, output)
	}
}

const endRecord = `record {"end":{"status":"failed","reason":"denied"}}`

func TestResumeRemovesOnlyTheEndOfARun(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		limitTool(t, address, "w:change", 1) // it has the tables
		db := lookInto(t, address)
		db.ends("r-1")
		c := openClient(t, address)
		if err := c.Resume(t.Context(), "r-1", remote.Terms{}); err != nil {
			t.Fatal(err)
		}
		if n := db.number("SELECT COUNT(*) FROM %operation_outputs WHERE output <> '" + endRecord + "'"); n != 2 {
			t.Errorf("%d records of 2 are left", n)
		}
		if n := db.number("SELECT COUNT(*) FROM %operation_outputs"); n != 2 {
			t.Error("the end is still there")
		}
		if n := db.number("SELECT COUNT(*) FROM %workflow_status WHERE status = 'ENQUEUED' AND queue_name = 'q' AND recovery_attempts = 0"); n != 1 {
			t.Error("the run is not in its queue")
		}
		if err := c.Resume(t.Context(), "r-1", remote.Terms{}); err == nil || err.Error() != "the run has not ended: follow it instead" {
			t.Errorf("the second resume ends with %v", err)
		}
	})
}

func TestResumeWhoseTermsAreNotTakenChangesNothing(t *testing.T) {
	address := "sqlite:" + filepath.Join(t.TempDir(), "runs.db")
	limitTool(t, address, "w:change", 1)
	db := lookInto(t, address)
	db.ends("r-1")
	db.execute("CREATE TRIGGER refuses BEFORE INSERT ON notifications BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")
	if err := openClient(t, address).Resume(t.Context(), "r-1", remote.Terms{}); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("the resume ends with %v", err)
	}
	if n := db.number("SELECT COUNT(*) FROM workflow_status WHERE status = 'SUCCESS'"); n != 1 {
		t.Error("the run continues on its old terms")
	}
}

// TestResumeKeepsWhatAnotherResumeDid lets another client resume the run while this one
// is about to: the run continues and ends again.
func TestResumeKeepsWhatAnotherResumeDid(t *testing.T) {
	t.Parallel()
	address := server.Database(t)
	limitTool(t, address, "w:change", 1)
	db := lookInto(t, address)
	db.ends("r-1")
	other, err := db.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"UPDATE replan.workflow_status SET updated_at = updated_at + 1",
		`UPDATE replan.operation_outputs SET output = 'record {"mail":true}' WHERE function_id = 2`,
		"INSERT INTO replan.operation_outputs (workflow_uuid, function_id, function_name, output) VALUES ('r-1', 3, 'events', '" + endRecord + "')",
	} {
		if _, err := other.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	c := openClient(t, address)
	resumed := make(chan error, 1)
	go func() { resumed <- c.Resume(t.Context(), "r-1", remote.Terms{}) }()
	for waits := 0; waits == 0; {
		waits = db.number("SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
	}
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-resumed; err != nil {
		t.Errorf("the resume fails: %v", err)
	}
	if n := db.number("SELECT COUNT(*) FROM %operation_outputs"); n != 3 {
		t.Errorf("%d records of 3 are left", n)
	}
}
