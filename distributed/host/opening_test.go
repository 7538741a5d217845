package host_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/remote"
	"replan/distributed/host"
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
