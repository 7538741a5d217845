package host_test

import (
	"context"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/remote"
	"replan/distributed/host"
	"replan/distributed/records"
)

// startOffering starts a host that offers something, and carries out a number of runs at once.
func startOffering(t *testing.T, address string, offer remote.Worker, atOnce int, open func(context.Context, remote.Task) (host.Opened, error)) {
	t.Helper()
	offer.Version = version
	h, err := host.Start(t.Context(), host.Config{Database: openDatabase(t, address), Worker: offer, Open: open, Rhythm: 20 * time.Millisecond, AtOnce: atOnce})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestRunGoesToAWorkerThatHasWhatItNeeds(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		open := opens(t)
		startOffering(t, address, remote.Worker{ID: "w1", Servers: []string{"github"}, Models: []string{"m"}}, 1, open)
		startOffering(t, address, remote.Worker{ID: "w2", Servers: []string{"github", "jira"}, Models: []string{"m"}, Sources: []string{"https://git.example.org/*"}}, 1, open)
		startOffering(t, address, remote.Worker{ID: "w3", Servers: []string{"github"}, Sources: []string{"https://git.example.org/*"}}, 1, open)
		c := openClient(t, address)
		submit(t, c, remote.Task{
			Run: "r-1", Plan: &gated, Approve: policy.ApproveAll, Needs: remote.Needs{Servers: []string{"github"}, Model: "m"},
			Source: remote.Source{Repository: "https://git.example.org/a"},
		}).rest()
		d := openDatabase(t, address)
		defer d.Close() //nolint:errcheck // of a test
		if found, _, err := d.ReadAll(t.Context(), "r-1"); err != nil || found[0].TakenUp != "w2" {
			t.Errorf("the run was taken up by %s: %v", found[0].TakenUp, err)
		}
	})
}

// TestRunsThatAWorkerHasNoRoomForGoToAnother lets a worker take two runs, though it
// carries out one at once, and the first waits for an answer.
func TestRunsThatAWorkerHasNoRoomForGoToAnother(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		limitTool(t, address, "w:change", 2) // it has the tables
		c, open := openClient(t, address), opens(t)
		first, second := submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Attended: true}), submit(t, c, remote.Task{Run: "r-2", Plan: &gated, Attended: true})
		startOffering(t, address, remote.Worker{ID: "w1"}, 1, open)
		for db := lookInto(t, address); db.number("SELECT COUNT(*) FROM %workflow_status WHERE recovery_attempts > 0") < 2; {
			continue // until it has taken both
		}
		startOffering(t, address, remote.Worker{ID: "w2"}, 10, open)
		await[event.GateRequested](t, first, 1)
		await[event.GateRequested](t, second, 1)
	})
}

// runLimited lets a worker carry out runs with priorities under limits of their queue.
func runLimited(t *testing.T, address string, limits records.Limits, priorities map[string]uint) tables {
	t.Helper()
	limitTool(t, address, "w:change", 2) // it has the tables
	c, open := openClient(t, address), opens(t)
	var all []*watched
	for run, priority := range priorities {
		all = append(all, submit(t, c, remote.Task{Run: run, Plan: &gated, Approve: policy.ApproveAll, Priority: priority}))
	}
	if err := c.SetLimits(t.Context(), remote.Task{}, limits); err != nil {
		t.Fatal(err)
	}
	startOffering(t, address, remote.Worker{ID: "w1"}, 10, open)
	for _, w := range all {
		w.rest()
	}
	return lookInto(t, address)
}

func TestRunsWithAPriorityGoFirst(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		one := 1
		db := runLimited(t, address, records.Limits{AtOnce: &one}, map[string]uint{"r-1": 0, "r-2": 5, "r-3": 1})
		if n := db.number("SELECT COUNT(*) FROM %workflow_status a JOIN %workflow_status b ON a.priority < b.priority WHERE a.completed_at > b.completed_at"); n > 0 {
			t.Errorf("%d pairs of runs ended in the wrong order", n)
		}
	})
}

func TestNoMoreRunsStartThanTheRateOfTheirQueue(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		one := 1
		db := runLimited(t, address, records.Limits{Rate: &one, Period: time.Second}, map[string]uint{"r-1": 0, "r-2": 0, "r-3": 0})
		if n := db.number("SELECT COUNT(*) FROM %workflow_status a JOIN %workflow_status b ON a.workflow_uuid <> b.workflow_uuid WHERE b.started_at_epoch_ms - a.started_at_epoch_ms BETWEEN 0 AND 999"); n > 0 {
			t.Errorf("%d pairs of runs started within a second", n)
		}
	})
}
