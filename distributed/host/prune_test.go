package host_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/session"
	"replan/distributed/records"
)

func TestValuesWithoutARecordGoWhenTheRunHasEnded(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		open, _ := finds(t, large)
		c, w := leaveAtGate(t, address, "r-1", open)
		db, d := lookInto(t, address), openDatabase(t, address)
		defer d.Close() //nolint:errcheck // of a test
		db.execute("INSERT INTO %replan_values (run, sha256, value, saved_ms) VALUES ('r-1', 'of a worker that died', $1, 0)", []byte("7"))
		startHost(t, address, "w2", open)
		await[event.GateRequested](t, w, 2)
		if ended, err := d.Sweep(t.Context(), "r-1"); ended || err != nil || db.number("SELECT COUNT(*) FROM %replan_values") != 2 {
			t.Errorf("values of a run under way are removed: %v, %v", ended, err)
		}
		allow(t, c, w, "r-1", 2)
		await[event.ChatReply](t, w, 1)
		for db.number("SELECT COUNT(*) FROM %replan_values") != 1 { // until the worker has looked
		}
	})
}

func TestPruneRemovesAllOfEndedRunsAndNothingOfOthers(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		open, _ := finds(t, large)
		startHost(t, address, "w1", open)
		c := openClient(t, address)
		w := submit(t, c, remote.Task{Run: "r-1", Plan: &finding, Attended: true})
		allow(t, c, w, "r-1", 1)
		await[event.ChatReply](t, w, 1)
		await[event.GateRequested](t, submit(t, c, remote.Task{Run: "r-2", Plan: &finding, Attended: true}), 1)
		d, db := openDatabase(t, address), lookInto(t, address)
		defer d.Close() //nolint:errcheck // of a test
		for _, run := range []string{"r-1", "r-2"} {
			err := errors.Join(d.SaveSnapshot(t.Context(), run, []byte("b")), d.SavePatch(t.Context(), run, "p"))
			if err != nil {
				t.Fatal(err)
			}
			send(t, c, run, "bob", session.Steer{Text: "too late"})
		}
		for done := false; !done; { // the end is recorded just before the workflow ends
			var err error
			if done, err = d.Sweep(t.Context(), "r-1"); err != nil {
				t.Fatal(err)
			}
		}
		prune := func(age time.Duration, dry bool) records.Pruned {
			t.Helper()
			pruned, err := d.Prune(t.Context(), age, dry)
			if err != nil {
				t.Fatal(err)
			}
			return pruned
		}
		if got := prune(time.Hour, false); got != (records.Pruned{}) {
			t.Errorf("of young runs prune removes %+v", got)
		}
		counted := prune(-time.Second, true)
		if counted.Runs != 1 || counted.Bytes < int64(len(large)) || counted.Bytes > int64(2*len(large)) || db.number("SELECT COUNT(*) FROM %workflow_status") != 2 {
			t.Errorf("prune would remove %+v", counted)
		}
		if got := prune(-time.Second, false); got != counted {
			t.Errorf("prune removes %+v, and %+v was counted", got, counted)
		}
		for table, run := range map[string]string{
			"workflow_status": "workflow_uuid", "workflow_input": "workflow_uuid", "workflow_output": "workflow_uuid", "operation_outputs": "workflow_uuid",
			"notifications": "destination_uuid", "replan_values": "run", "replan_checkouts": "run", "replan_patches": "run",
		} {
			if n := db.number("SELECT COUNT(*) FROM %" + table + " WHERE " + run + " = 'r-1'"); n != 0 {
				t.Errorf("the table %s has %d rows of the run that was removed", table, n)
			}
			if n := db.number("SELECT COUNT(*) FROM %" + table + " WHERE " + run + " = 'r-2'"); n == 0 && table != "workflow_output" && table != "notifications" {
				t.Errorf("the table %s has no rows of the run under way", table)
			}
		}
		db.execute("INSERT INTO %replan_values (run, sha256, value, saved_ms) VALUES ('r-gone', 'h', $1, 0)", []byte("7"))
		if got := prune(time.Hour, false); got != (records.Pruned{Values: 1, Bytes: 1}) {
			t.Errorf("of a value without a run prune removes %+v", got)
		}
	})
}

// referTo puts a run that has ended into a database, with n records of 1 KB that refer
// to a value each, and another n values that none refers to.
func referTo(t testing.TB, address string, n int) *records.Database {
	t.Helper()
	d, db := limitTool(t, address, "w:change", 1), lookInto(t, address) // it has the tables
	db.execute("INSERT INTO %workflow_status (workflow_uuid, status, name, recovery_attempts) VALUES ('r-1', 'SUCCESS', 'run', 1)")
	number := "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) SELECT 'r-1', "
	sum := "substr('" + strings.Repeat("0", 64) + "' || i, 1 + length(CAST(i AS TEXT)), 64)"
	db.execute("INSERT INTO %operation_outputs (workflow_uuid, function_id, function_name, output) "+number+"i, 'record', "+
		`CAST($2 AS TEXT) || '{"events":[{"refs":["/result"],"data":{"result":{"ref":"' || `+sum+` || '.json","sha256":"' || `+sum+` || '","bytes":1}}}]}' FROM n`,
		n, "record "+strings.Repeat(" ", 1000))
	db.execute("INSERT INTO %replan_values (run, sha256, value, saved_ms) "+number+sum+", CAST($2 AS "+db.bytes()+"), 0 FROM n", 2*n, []byte("7"))
	return d
}

func TestPruneKeepsTheValuesThatRecordsReferTo(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		const n = 30
		d := referTo(t, address, n)
		if got, err := d.Prune(t.Context(), time.Hour, false); err != nil || got != (records.Pruned{Values: n, Bytes: n}) {
			t.Errorf("prune removes %+v: %v", got, err)
		}
		if got, err := d.Prune(t.Context(), time.Hour, false); err != nil || got != (records.Pruned{}) {
			t.Errorf("and then %+v: %v", got, err)
		}
	})
}

func BenchmarkPrune(b *testing.B) {
	for name, address := range map[string]string{"sqlite": "sqlite:" + filepath.Join(b.TempDir(), "runs.db"), "postgres": server.Database(b)} {
		b.Run(name, func(b *testing.B) {
			const n = 1000
			d := referTo(b, address, n)
			for b.Loop() {
				if got, err := d.Prune(b.Context(), time.Hour, true); err != nil || got.Values != n {
					b.Fatalf("prune removes %+v: %v", got, err)
				}
			}
		})
	}
}
