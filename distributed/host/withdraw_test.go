package host_test

import (
	"slices"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/remote"
	"replan/agent/session"
	"replan/distributed/client"
)

// submitUnclaimed submits a run to a database without workers.
func submitUnclaimed(t *testing.T, address string) (*client.Client, *watched, tables) {
	t.Helper()
	limitTool(t, address, "w:change", 1) // it has the tables
	c := openClient(t, address)
	return c, submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Attended: true}), lookInto(t, address)
}

// endsStopped checks that the followed run ended before it began, and resumes it.
func endsStopped(t *testing.T, c *client.Client, w *watched, replies int) {
	t.Helper()
	end := await[event.ChatReply](t, w, replies)
	if end.Status != event.StatusCanceled || end.Reason != event.ReasonInterrupted || end.Text != "stopped by ann before it began" {
		t.Errorf("the run ended with %s: %s", end.Reason, end.Text)
	}
	w.rest()
	if w.err != nil {
		t.Errorf("the run is not followed to its end: %v", w.err)
	}
	if slices.ContainsFunc(w.events, func(e event.Event) bool { return e.Run == "r-1" }) {
		t.Errorf("the run began: %v", w.events)
	}
	resume(t, c, "r-1", remote.Terms{Approve: policy.ApproveAll})
}

func TestStopEndsARunThatNoWorkerHasBegun(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		c, w, db := submitUnclaimed(t, address)
		send(t, c, "r-1", "ann", session.Stop{})
		endsStopped(t, c, w, 1)
		send(t, c, "r-1", "ann", session.Stop{})
		if s, _, err := c.Run(t.Context(), "r-1"); err != nil || s.Status != event.StatusCanceled || s.Why != "stopped by ann before it began" || !s.Resumable {
			t.Errorf("the run is listed as %+v, %v", s, err)
		}
		endsStopped(t, c, watch(t, c, "r-1"), 2)
		db.execute("INSERT INTO %operation_outputs (workflow_uuid, function_id, function_name, output, serialization) VALUES ('r-1', 2, 'events', $1, 'replan_json')", `record {"not_opened":{"worker":"w0","why":"the disk is full"}}`)
		send(t, c, "r-1", "ann", session.Stop{})
		endsStopped(t, c, watch(t, c, "r-1"), 3)
		startHost(t, address, "w1", opens(t))
		if end := await[event.ChatReply](t, watch(t, c, "r-1"), 4); end.Status != event.StatusCompleted {
			t.Errorf("the resumed run ended with %s: %s", end.Reason, end.Text)
		}
	})
}

func TestStopOfARunThatAWorkerHasIsLeftToTheWorker(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		c, w, db := submitUnclaimed(t, address)
		db.execute("UPDATE %workflow_status SET status = 'PENDING'")
		send(t, c, "r-1", "ann", session.Stop{})
		if n := db.number("SELECT COUNT(*) FROM %notifications"); n != 1 {
			t.Errorf("the worker gets %d commands", n)
		}
		db.execute("UPDATE %workflow_status SET status = 'ENQUEUED'") // before it received the stop
		startHost(t, address, "w1", opens(t))
		endsStopped(t, c, w, 1)
		if end := await[event.ChatReply](t, watch(t, c, "r-1"), 2); end.Status != event.StatusCompleted {
			t.Errorf("the resumed run ended with %s: %s", end.Reason, end.Text)
		}
	})
}

func TestStopOfARunThatHasBegunIsLeftToTheNextWorker(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		c, _, db := submitUnclaimed(t, address)
		for _, record := range []string{`record {"mail":true}`, `record {"events":[{"v":1,"seq":1,"time":"2026-01-01T00:00:00Z","run":"r-1","kind":"note","data":{"level":"info","text":"x"}}]}`} {
			db.execute("INSERT INTO %operation_outputs (workflow_uuid, function_id, function_name, output) VALUES ('r-1', 0, 'events', $1)", record)
			send(t, c, "r-1", "ann", session.Stop{})
			if n := db.number("SELECT COUNT(*) FROM %workflow_status WHERE status = 'ENQUEUED'"); n != 1 {
				t.Errorf("the run does not wait after %s", record)
			}
			db.execute("DELETE FROM %operation_outputs")
		}
	})
}
