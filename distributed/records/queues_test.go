package records_test

import (
	"testing"

	"replan/agent/remote"
	"replan/distributed/records"
)

func TestModelWithoutATagIsTheLatest(t *testing.T) {
	short, long := remote.Task{Needs: remote.Needs{Model: "qwen3"}}, remote.Task{Needs: remote.Needs{Model: "qwen3:latest"}}
	worker := remote.Worker{Models: []string{"qwen3:latest"}}
	if lacks := records.Lacks(worker, short); lacks != nil {
		t.Errorf("a worker with the model lacks %q", lacks)
	}
	if records.QueueOf(short) != records.QueueOf(long) {
		t.Errorf("one model has the queues %s and %s", records.QueueOf(short), records.QueueOf(long))
	}
	if other := (remote.Task{Needs: remote.Needs{Model: "qwen3:8b"}}); records.Lacks(worker, other) == nil {
		t.Error("another tag counts as the same model")
	}
}
