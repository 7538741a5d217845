package host_test

import (
	"context"
	"testing"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/distributed/host"
)

// TestRunThatWaitsAtAGateIsGivenUpOnceItIsElsewhere takes a run from its worker, as if that
// had stalled for long.
func TestRunThatWaitsAtAGateIsGivenUpOnceItIsElsewhere(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		open, closed := opens(t), make(chan struct{}, 2)
		startHost(t, address, "w1", func(ctx context.Context, task remote.Task) (host.Opened, error) {
			opened, err := open(ctx, task)
			opened.Close = func() error { closed <- struct{}{}; return nil }
			return opened, err
		})
		c := openClient(t, address)
		w := submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Attended: true})
		await[event.GateRequested](t, w, 1)
		db := lookInto(t, address)
		db.execute("INSERT INTO %replan_workers (id, seen_ms, offer) VALUES ('w2', 9000000000000, '{}')") // it lives
		db.execute("UPDATE %workflow_status SET executor_id = 'w2', owner_xid = 'of w2'")
		recorded := db.number("SELECT COUNT(*) FROM %operation_outputs")
		<-closed
		if n := db.number("SELECT COUNT(*) FROM %operation_outputs"); n != recorded {
			t.Errorf("the worker that has lost the run adds %d records", n-recorded)
		}
		db.execute("UPDATE %workflow_status SET status = 'ENQUEUED', owner_xid = NULL WHERE status = 'PENDING'") // as if w2 had died
		await[event.RunResumed](t, w, 1)
		for n := range 2 {
			allow(t, c, w, "r-1", 1+n) // the first is still open
		}
		if end := await[event.ChatReply](t, w, 1); end.Status != event.StatusCompleted {
			t.Errorf("the run ended with %s: %s", end.Reason, end.Text)
		}
	})
}
