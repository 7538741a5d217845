package client

import (
	"errors"
	"testing"
	"time"

	"replan/agent/policy"
	"replan/agent/remote"
	"replan/distributed/records"
)

func TestResumeWaitsForTheWorkerOfARunThatHasEnded(t *testing.T) {
	file := t.TempDir() + "/runs.db"
	stop := startHost(t, "sqlite:"+file, "w1")
	c := openClient(t, "sqlite:"+file)
	submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Approve: policy.ApproveUnasked})
	if err := <-follow(t, c, "r-1").err; err != nil {
		t.Fatal(err)
	}
	stop()
	execute(t, file, "UPDATE workflow_status SET status = 'PENDING'") // its worker still tidies up
	c.rhythm.tidying = 0
	if err := c.Resume(t.Context(), "r-1", remote.Terms{}); !errors.Is(err, records.ErrTidying) {
		t.Errorf("the resume ends with %v", err)
	}
	c.rhythm.tidying = time.Minute
	resumed := make(chan error, 1)
	go func() { resumed <- c.Resume(t.Context(), "r-1", remote.Terms{}) }()
	execute(t, file, "UPDATE workflow_status SET status = 'SUCCESS'")
	if err := <-resumed; err != nil {
		t.Errorf("the resume ends with %v", err)
	}
	if err := c.Resume(t.Context(), "r-1", remote.Terms{}); err == nil || err.Error() != "the run has not ended: follow it instead" {
		t.Errorf("the second resume ends with %v", err)
	}
}
