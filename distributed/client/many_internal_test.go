package client

import (
	"database/sql"
	"flag"
	"fmt"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/remote"
)

var many = flag.Int("many", 300, "list this many runs")

func TestListReadsOnlyTheRunsThatItShows(t *testing.T) {
	file := t.TempDir() + "/runs.db"
	stop := startHost(t, "sqlite:"+file, "w1")
	c := openClient(t, "sqlite:"+file)
	submit(t, c, remote.Task{Run: "r-00000", Plan: &gated, Approve: policy.ApproveUnasked})
	await[event.ChatReply](t, follow(t, c, "r-00000"))
	stop()
	multiply(t, file, *many)
	began := time.Now()
	runs, err := c.Runs(t.Context(), 100)
	if err != nil || len(runs) != 100 {
		t.Fatalf("got %d runs, %v", len(runs), err)
	}
	listed := time.Since(began)
	began = time.Now()
	if all, err := c.Runs(t.Context(), 0); err != nil || len(all) != *many {
		t.Fatalf("got %d runs, %v", len(all), err)
	}
	whole := time.Since(began)
	began = time.Now()
	last := fmt.Sprintf("r-%05d", *many-1)
	if newest, err := c.Find(t.Context(), ""); err != nil || newest != last {
		t.Errorf("the newest run is %s, %v", newest, err)
	}
	newest := time.Since(began)
	began = time.Now()
	if found, err := c.Find(t.Context(), last[3:]); err != nil || found != last {
		t.Errorf("found %s, %v", found, err)
	}
	t.Logf("of %d runs: %d listed in %v, all in %v, the newest found in %v, one by its end in %v", *many, len(runs), listed, whole, newest, time.Since(began))
}

// multiply copies the only run of a database until there are n.
func multiply(t *testing.T, file string, n int) {
	t.Helper()
	db, err := sql.Open("sqlite", file+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, table := range []string{"workflow_status", "operation_outputs", "workflow_input", "workflow_output"} {
		rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table+" LIMIT 0")
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil || rows.Close() != nil {
			t.Fatal(err)
		}
		list := ""
		for i, column := range columns {
			if i > 0 {
				list += ", "
			}
			switch column {
			case "workflow_uuid":
				list += "printf('r-%05d', value)"
			case "created_at":
				list += "created_at + value"
			default:
				list += column
			}
		}
		if _, err := db.ExecContext(t.Context(), fmt.Sprintf(`INSERT INTO %[1]s WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < %[3]d)
			SELECT %[2]s FROM %[1]s, n WHERE workflow_uuid = 'r-00000'`, table, list, n-1)); err != nil {
			t.Fatal(err)
		}
	}
}
