package host_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/remote"
	"replan/distributed/host"
	"replan/distributed/records"
)

func TestRunThatAWorkerCannotOpenGoesToAnother(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		tried := make(chan struct{}, 100)
		broken := startHost(t, address, "w1", func(context.Context, remote.Task) (host.Opened, error) {
			tried <- struct{}{}
			return host.Opened{}, errors.New("the disk is full")
		})
		c := openClient(t, address)
		w := submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Approve: policy.ApproveAll})
		<-tried
		startHost(t, address, "w2", opens(t))
		if end := await[event.ChatReply](t, w, 1); end.Status != event.StatusCompleted {
			t.Errorf("the run ended with %s: %s", end.Reason, end.Text)
		}
		if health := broken.Health(); health.Problem != "the disk is full" {
			t.Errorf("the health of the worker is %+v", health)
		}
	})
}

func TestWorkerThatIsStoppedWhileItOpensARunRecordsThat(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		opening := make(chan struct{})
		d := openDatabase(t, address)
		first, err := host.Start(t.Context(), host.Config{Database: d, Worker: remote.Worker{ID: "w1", Version: version}, Open: func(ctx context.Context, _ remote.Task) (host.Opened, error) {
			close(opening)
			<-ctx.Done() // as a long clone
			return host.Opened{}, ctx.Err()
		}})
		if err != nil {
			t.Fatal(err)
		}
		c := openClient(t, address)
		w := submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Approve: policy.ApproveAll})
		<-opening
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		d = openDatabase(t, address)
		found, _, err := d.ReadAll(t.Context(), "r-1")
		if err = errors.Join(err, d.Close()); err != nil || len(found) != 2 || found[0].TakenUp != "w1" || !found[1].Stopped {
			t.Errorf("the records are %+v: %v", found, err)
		}
		startHost(t, address, "w2", opens(t))
		if end := await[event.ChatReply](t, w, 1); end.Status != event.StatusCompleted {
			t.Errorf("the run ended with %s: %s", end.Reason, end.Text)
		}
	})
}

func TestRunThatNoWorkerCanOpenFailsAndIsResumed(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		failures := make(chan error, 1)
		failures <- &remote.Problem{Code: remote.CodeUsage, Text: "there is no such revision"}
		open := opens(t)
		startHost(t, address, "w1", func(ctx context.Context, task remote.Task) (host.Opened, error) {
			select {
			case err := <-failures:
				return host.Opened{}, err
			default:
				return open(ctx, task)
			}
		})
		c := openClient(t, address)
		w := submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Approve: policy.ApproveAll})
		if end := await[event.ChatReply](t, w, 1); end.Reason != event.ReasonNotOpened || end.Text != "there is no such revision" {
			t.Errorf("the run ended with %s: %s", end.Reason, end.Text)
		}
		w.rest()
		resume(t, c, "r-1", remote.Terms{Approve: policy.ApproveAll})
		w = watch(t, c, "r-1")
		if end := await[event.ChatReply](t, w, 2); end.Status != event.StatusCompleted {
			t.Errorf("the run ended with %s: %s", end.Reason, end.Text)
		}
		w.rest()
		if !slices.ContainsFunc(w.events, func(e event.Event) bool { return e.Run == "r-1" && e.Data.Kind() == event.KindRunStarted }) {
			t.Errorf("the run is recorded as %+v", w.events)
		}
	})
}

func TestRunWhoseWorkerDiedAfterItsAnswerEndsWithIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	open := opens(t)
	handsBack := func(by string) func(context.Context, remote.Task) (host.Opened, error) {
		return func(ctx context.Context, task remote.Task) (host.Opened, error) {
			opened, err := open(ctx, task)
			opened.HandBack = func(context.Context, records.Outcome) (string, error) { return by + " hands back", nil }
			return opened, err
		}
	}
	first, err := host.Start(t.Context(), host.Config{Database: openDatabase(t, "sqlite:"+file), Worker: remote.Worker{ID: "w1", Version: version}, Open: handsBack("w1")})
	if err != nil {
		t.Fatal(err)
	}
	c := openClient(t, "sqlite:"+file)
	submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Approve: policy.ApproveAll}).rest()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", file+"?_pragma=busy_timeout(10000)") // as if w1 had died before it recorded the end
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{
		"DELETE FROM operation_outputs WHERE output LIKE '%\"end\":%'",
		"DELETE FROM workflow_output",
		"UPDATE workflow_status SET status = 'PENDING', completed_at = NULL",
	} {
		if _, err := db.ExecContext(t.Context(), change); err != nil {
			t.Error(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	startHost(t, "sqlite:"+file, "w2", handsBack("w2"))
	replies, end := 0, records.Outcome{}
	err = c.Follow(t.Context(), "r-1", func(r records.Record, _ bool) error {
		for _, e := range r.Events {
			if e.Data.Kind() == event.KindChatReply {
				replies++
			}
		}
		if r.End != nil {
			end = *r.End
		}
		return nil
	})
	if want := (records.Outcome{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Note: "w2 hands back"}); err != nil || replies != 1 || end != want {
		t.Errorf("after %d answers the run ends with %+v: %v", replies, end, err)
	}
}

func TestSnapshotIsDroppedOnceTheEndIsRecorded(t *testing.T) {
	address := "sqlite:" + filepath.Join(t.TempDir(), "runs.db")
	d, open := openDatabase(t, address), opens(t)
	startHost(t, address, "w1", func(ctx context.Context, task remote.Task) (host.Opened, error) {
		opened, err := open(ctx, task)
		opened.HandBack = func(ctx context.Context, end records.Outcome) (string, error) {
			err := d.SaveSnapshot(ctx, task.Run, []byte("changes"))
			if task.Goal == "refused" {
				err = errors.Join(err, errors.New("the disk is full"))
			}
			return "", err
		}
		return opened, err
	})
	c := openClient(t, address)
	for run, task := range map[string]remote.Task{
		"r-1": {Plan: &gated, Approve: policy.ApproveAll},
		"r-2": {Plan: &gated, Approve: policy.ApproveAll, Goal: "refused"},
		"r-3": {Plan: &gated, Approve: policy.ApproveUnasked}, // it fails, and can be resumed
	} {
		task.Run = run
		submit(t, c, task).rest()
	}
	db := lookInto(t, address)
	for ended := 0; ended < 3; { // the records of the ends come before
		ended = db.number("SELECT COUNT(*) FROM %workflow_status WHERE status = 'SUCCESS'")
	}
	if n := db.number("SELECT COUNT(*) FROM %replan_checkouts WHERE run <> 'r-1'"); n != 2 {
		t.Errorf("%d snapshots of 2 runs are left that may need them", n)
	}
	if n := db.number("SELECT COUNT(*) FROM %replan_checkouts WHERE run = 'r-1'"); n != 0 {
		t.Error("the snapshot of the run that has handed back is left")
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
