package host_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/remote"
	"replan/agent/runner"
	"replan/agent/runner/conformance"
	"replan/agent/session"
	"replan/agent/store"
	"replan/distributed/host"
	"replan/distributed/records"
	"replan/planning/plan"
)

// measured are tools that measure how many of their calls are under way at once. A call
// gives a third one a little time to come.
type measured struct {
	mu         sync.Mutex
	calls, now int
	third      chan struct{} // closed when three are under way
}

// measuring are the tools of one run.
type measuring struct {
	runner.Tools
	*measured
}

// Call carries out a call.
func (m measuring) Call(context.Context, plan.ToolCall) (any, error) {
	m.count(1)
	defer m.count(-1)
	select {
	case <-m.third:
	case <-time.After(20 * time.Millisecond):
	}
	return map[string]any{"n": 1}, nil
}

func (m *measured) count(more int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls += max(more, 0)
	if m.now += more; m.now == 3 && more > 0 {
		select {
		case <-m.third:
		default:
			close(m.third)
		}
	}
}

// opens returns a function that opens runs with these tools.
func (m *measured) opens(dir string) func(context.Context, remote.Task) (host.Opened, error) {
	return func(context.Context, remote.Task) (host.Opened, error) {
		cfg := conformance.Case{}.Config()
		cfg.Limits.MaxConcurrency = 4
		cfg.Store = store.New(store.Dirs{Config: dir, Data: dir, State: dir})
		cfg.Tools = measuring{cfg.Tools, m}
		return host.Opened{Config: cfg, Close: func() error { return nil }}, nil
	}
}

// twoChanges is a plan of two steps at once that call the tool w:change.
func twoChanges() *plan.Plan {
	return &plan.Plan{Title: "Change", Steps: []plan.Step{
		{Index: "1", Title: "One", Tool: "change", Args: map[string]any{"where": 1}},
		{Index: "2", Title: "Two", Tool: "change", Args: map[string]any{"where": 2}},
	}}
}

// limitTool sets a limit in a database that it prepares, and returns that.
func limitTool(t testing.TB, address, tool string, atOnce int) *records.Database {
	t.Helper()
	h, err := host.Start(t.Context(), host.Config{Database: openDatabase(t, address), Worker: remote.Worker{ID: "w0", Version: version}})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	d := openDatabase(t, address)
	t.Cleanup(func() { _ = d.Close() })
	if err := d.LimitTool(t.Context(), tool, atOnce); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCallsOfALimitedToolAreAsManyAtOnceOnAllWorkers(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		const runs = 8
		d := limitTool(t, address, "w:*", 2)
		if err := d.LimitTool(t.Context(), "w:change", 3); err != nil {
			t.Fatal(err)
		}
		tools := &measured{third: make(chan struct{})}
		for _, id := range []string{"w1", "w2"} {
			startHost(t, address, id, tools.opens(filepath.Join(t.TempDir(), id)))
		}
		c := openClient(t, address)
		for n := range runs {
			if err := c.Submit(t.Context(), remote.Task{Run: fmt.Sprint("r-", n), Plan: twoChanges(), Approve: policy.ApproveAll}, version); err != nil {
				t.Fatal(err)
			}
		}
		for n := range runs {
			all := events(t, c, fmt.Sprint("r-", n))
			if end, ok := all[len(all)-1].Data.(event.ChatReply); !ok || end.Status != event.StatusCompleted {
				t.Errorf("the run %d ended with %+v", n, all[len(all)-1].Data)
			}
		}
		select {
		case <-tools.third:
			t.Error("three calls were under way at once")
		default:
		}
		if tools.calls != 2*runs {
			t.Errorf("got %d calls", tools.calls)
		}
		limits, err := d.ToolLimits(t.Context())
		if err != nil || len(limits) != 2 || limits[0].UnderWay != 0 || limits[1].UnderWay != 0 {
			t.Errorf("got %+v, %v", limits, err)
		}
	})
}

func TestCallOfADeadWorkerKeepsNoOneWaiting(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		d := limitTool(t, address, "w:change", 1)
		_, err := d.Beat(t.Context(), remote.Worker{ID: "dies"}, time.Minute)
		if err = errors.Join(err, d.Enqueue(t.Context(), "dies/1", "w:change", "dies"), d.Enqueue(t.Context(), "w1/next", "w:change", "w1")); err != nil {
			t.Fatal(err)
		}
		if may, queued, err := d.MayBegin(t.Context(), "w1/next", "w:change", 60_000); may || !queued || err != nil {
			t.Fatalf("while the worker lives: got %v, %v, %v", may, queued, err)
		}
		if err := d.Dequeue(t.Context(), "w1/next"); err != nil {
			t.Fatal(err)
		}
		if may, queued, err := d.MayBegin(t.Context(), "w1/next", "w:change", 60_000); may || queued || err != nil {
			t.Fatalf("a call that is not queued: got %v, %v, %v", may, queued, err)
		}
		startHost(t, address, "w1", opens(t))
		c := openClient(t, address)
		w := submit(t, c, remote.Task{Run: "r-1", Plan: twoChanges(), Approve: policy.ApproveAll})
		if end := await[event.RunCompleted](t, w, 1); end.Status != event.StatusCompleted {
			t.Errorf("the run is %s: %s", end.Status, end.Error)
		}
	})
}

func TestCancelEndsTheWaitOfACall(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		d := limitTool(t, address, "w:change", 1)
		if err := d.Enqueue(t.Context(), "w1/other", "w:change", "w1"); err != nil {
			t.Fatal(err)
		}
		startHost(t, address, "w1", opens(t)) // it lives, so the other call is under way
		c := openClient(t, address)
		p := twoChanges()
		p.Steps = p.Steps[:1]
		w := submit(t, c, remote.Task{Run: "r-1", Plan: p, Approve: policy.ApproveAll})
		await[event.StepStarted](t, w, 1)
		send(t, c, "r-1", "ann", session.Cancel{Run: "r-1", Step: "1"})
		if failed := await[event.StepFailed](t, w, 1); failed.Failure != event.FailureInterrupted || !strings.Contains(string(failed.Error), "canceled by ann") {
			t.Errorf("got %+v", failed)
		}
		if end := await[event.RunCompleted](t, w, 1); !strings.Contains(string(end.Error), "canceled by ann") {
			t.Errorf("the run ended with %s", end.Error)
		}
		if limits, err := d.ToolLimits(t.Context()); err != nil || len(limits) != 1 || limits[0].UnderWay != 1 {
			t.Errorf("got %+v, %v", limits, err)
		}
	})
}
