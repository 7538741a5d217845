package host_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/runner/conformance"
	"replan/agent/store"
	"replan/distributed/client"
	"replan/distributed/host"
	"replan/distributed/records"
)

var cases = flag.Int("cases", 40, "number of random plans")

// version is that of the core, in tests.
const version = "test"

// openDatabase opens a database, for a host or a client that closes it.
func openDatabase(t testing.TB, address string) *records.Database {
	t.Helper()
	d, err := records.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// startHost starts a host that opens runs by open.
func startHost(t testing.TB, address, id string, open func(ctx context.Context, task remote.Task) (host.Opened, error)) *host.Host {
	t.Helper()
	h, err := host.Start(t.Context(), host.Config{Database: openDatabase(t, address), Worker: remote.Worker{ID: id, Version: version}, Open: open, Rhythm: 60 * time.Millisecond, AtOnce: 100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func openClient(t testing.TB, address string) *client.Client {
	t.Helper()
	c, err := client.Open(t.Context(), openDatabase(t, address), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// events follows a run to its end, and returns its events.
func events(t testing.TB, c *client.Client, run string) []event.Event {
	t.Helper()
	var out []event.Event
	err := c.Follow(t.Context(), run, func(r records.Record, _ bool) error {
		out = append(out, r.Events...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPlansRunAsOnOneMachine(t *testing.T) { onEach(t, playCases) }

func playCases(t *testing.T, address string) {
	all := map[string]conformance.Case{}
	for _, c := range conformance.Cases(*cases) {
		all[run(c)] = c
	}
	dir := t.TempDir()
	startHost(t, address, "w1", func(_ context.Context, task remote.Task) (host.Opened, error) {
		c, ok := all[task.Run]
		if !ok {
			return host.Opened{}, errors.New("there is no such case")
		}
		cfg, dir := c.Config(), filepath.Join(dir, task.Run)
		cfg.Store = store.New(store.Dirs{Config: dir, Data: dir, State: dir})
		return host.Opened{Config: cfg, Close: func() error { return nil }}, nil
	})
	submitting := openClient(t, address)
	conformance.Check(t, *cases, conformance.Local, func(t *testing.T, c conformance.Case) ([]event.Event, string) {
		task := remote.Task{Run: run(c), Plan: &c.Plan, Approve: c.Approve, InDoubt: c.InDoubt}
		if err := submitting.Submit(t.Context(), task, version); err != nil {
			t.Fatal(err)
		}
		return events(t, submitting, task.Run), task.Run
	})
}

func run(c conformance.Case) string { return fmt.Sprintf("r-%d", c.Seed) }
