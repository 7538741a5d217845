package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/remote"
	"replan/agent/runner/conformance"
	"replan/agent/session"
	"replan/agent/store"
	"replan/distributed/client"
	"replan/distributed/host"
	"replan/distributed/records"
	"replan/planning/plan"
)

// opens returns a function that opens runs in the world of a case, with a tool that
// counts its changes.
func opens(t testing.TB) func(context.Context, remote.Task) (host.Opened, error) {
	dir := t.TempDir()
	return func(_ context.Context, task remote.Task) (host.Opened, error) {
		cfg := conformance.Case{}.Config()
		cfg.Store = store.New(store.Dirs{Config: dir, Data: dir, State: dir})
		cfg.Tools = effects{cfg.Tools, filepath.Join(dir, "effects"), task.Run}
		return host.Opened{Config: cfg, Close: func() error { return nil }}, nil
	}
}

// watched is a run that is followed in the background.
type watched struct {
	mu     sync.Mutex
	more   *sync.Cond
	events []event.Event
	err    error
	ended  bool
}

func watch(t *testing.T, c *client.Client, run string) *watched {
	w := &watched{}
	w.more = sync.NewCond(&w.mu)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var following sync.WaitGroup
	following.Go(func() {
		err := c.Follow(ctx, run, func(r records.Record, _ bool) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, r.Events...)
			w.more.Broadcast()
			return nil
		})
		w.mu.Lock()
		defer w.mu.Unlock()
		w.err, w.ended = err, true
		w.more.Broadcast()
	})
	t.Cleanup(func() { cancel(); following.Wait() })
	return w
}

// await waits for the n-th event with data of type T of a followed run.
func await[T event.Data](t *testing.T, w *watched, n int) T {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		found := 0
		for _, e := range w.events {
			if d, ok := e.Data.(T); ok {
				if found++; found == n {
					return d
				}
			}
		}
		if w.ended {
			var none T
			t.Fatalf("the run ended without %d events like %T: %v", n, none, w.err)
		}
		w.more.Wait()
	}
}

var gated = plan.Plan{Title: "Gated", Steps: []plan.Step{
	{Index: "1", Title: "First", Tool: "change", Args: map[string]any{"where": "1"}},
	{Index: "2", Title: "Second", Tool: "change", Args: map[string]any{"where": "2"}, DependsOn: []string{"1"}},
}}

func submit(t *testing.T, c *client.Client, task remote.Task) *watched {
	t.Helper()
	if err := c.Submit(t.Context(), task, version); err != nil {
		t.Fatal(err)
	}
	return watch(t, c, task.Run)
}

func send(t *testing.T, c *client.Client, run, by string, command session.Command) {
	t.Helper()
	if err := c.Send(t.Context(), remote.Input{Command: command, By: by}, run); err != nil {
		t.Fatal(err)
	}
}

// rest waits for the end of a followed run.
func (w *watched) rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.ended {
		w.more.Wait()
	}
}

func resume(t *testing.T, c *client.Client, run string, terms remote.Terms) {
	t.Helper()
	if err := c.Resume(t.Context(), run, terms); err != nil {
		t.Fatal(err)
	}
}

func TestFirstAnswerWins(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		startHost(t, address, "w1", opens(t))
		c := openClient(t, address)
		w := submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Attended: true})
		gate := await[event.GateRequested](t, w, 1)
		send(t, c, "r-1", "ann@here", session.Resolve{Run: "r-1", Gate: gate.Gate, Call: gate.Call, Decision: event.Allow, Scope: event.ScopeOnce})
		send(t, c, "r-1", "bob@there", session.Resolve{Run: "r-1", Gate: gate.Gate, Call: gate.Call, Decision: event.Deny, Scope: event.ScopeOnce})
		if first := await[event.GateResolved](t, w, 1); first.Decision != event.Allow || first.By != "ann@here" {
			t.Errorf("the gate was answered with %s by %s", first.Decision, first.By)
		}
		second := await[event.GateRequested](t, w, 2)
		send(t, c, "r-1", "bob@there", session.Resolve{Run: "r-1", Gate: second.Gate, Call: second.Call, Decision: event.Deny, Scope: event.ScopeOnce})
		await[event.StepFailed](t, w, 1)
		send(t, c, "r-1", "bob@there", session.ResolveFailure{Run: "r-1", Step: "2", Decision: event.FailureAbort})
		if failure := await[event.FailureResolved](t, w, 1); failure.By != "bob@there" {
			t.Errorf("the failure was answered by %s", failure.By)
		}
		if end := await[event.RunCompleted](t, w, 1); end.Reason != event.ReasonDenied {
			t.Errorf("the run ended with %s", end.Reason)
		}
	})
}

func TestGateStaysOpenWhenItsWorkerStops(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		open := opens(t)
		first, err := host.Start(t.Context(), host.Config{Database: openDatabase(t, address), Worker: remote.Worker{ID: "w1", Version: version}, Open: open})
		if err != nil {
			t.Fatal(err)
		}
		c := openClient(t, address)
		w := submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Attended: true})
		gate := await[event.GateRequested](t, w, 1)
		send(t, c, "r-1", "ann", session.Resolve{Run: "r-1", Gate: gate.Gate, Call: gate.Call, Decision: event.Allow})
		await[event.GateRequested](t, w, 2)
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		if paused := await[event.RunPaused](t, w, 1); paused.Reason != "stopped: the worker is stopping; another worker will continue the run" {
			t.Errorf("those who follow the run read that it %s", paused.Reason)
		}
		startHost(t, address, "w2", open)
		await[event.RunResumed](t, w, 1)
		again := await[event.GateRequested](t, w, 3)
		if again.Step != "2" {
			t.Errorf("the gate of step %s opens again", again.Step)
		}
		send(t, c, "r-1", "ann", session.Resolve{Run: "r-1", Gate: again.Gate, Call: again.Call, Decision: event.Allow})
		await[event.ChatReply](t, w, 1)
		var started []string
		for _, e := range w.events {
			if b, err := json.Marshal(e); err == nil && strings.Contains(string(b), "stopped by the user") {
				t.Errorf("those who follow the run read %s", b)
			}
			if d, ok := e.Data.(event.StepStarted); ok {
				started = append(started, d.Index)
			}
		}
		if fmt.Sprint(started) != "[1 2]" {
			t.Errorf("the steps %v were started", started)
		}
	})
}

func TestAnswerReachesTheGateThoughItsWorkerIsGone(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		open := opens(t)
		first, err := host.Start(t.Context(), host.Config{Database: openDatabase(t, address), Worker: remote.Worker{ID: "w1", Version: version}, Open: open})
		if err != nil {
			t.Fatal(err)
		}
		c := openClient(t, address)
		w := submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Attended: true, Approve: policy.ApproveAsk})
		gate := await[event.GateRequested](t, w, 1)
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		send(t, c, "r-1", "ann", session.Resolve{Run: "r-1", Gate: gate.Gate, Call: gate.Call, Decision: event.Deny})
		startHost(t, address, "w2", open)
		if answer := await[event.GateResolved](t, w, 1); answer.By != "ann" || answer.Decision != event.Deny {
			t.Errorf("the gate was answered with %s by %s", answer.Decision, answer.By)
		}
		send(t, c, "r-1", "ann", session.Stop{})
		await[event.ChatReply](t, w, 1)
	})
}

func TestAnswerReachesTheGateThatAKilledWorkerLeftOpen(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		dir := t.TempDir()
		first := startWorker(t, address, dir, "w1")
		c := openClient(t, address)
		w := submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Attended: true, Approve: policy.ApproveAsk})
		gate := await[event.GateRequested](t, w, 1)
		first.kill(t)
		second := startWorker(t, address, dir, "w2")
		defer second.kill(t)
		await[event.RunResumed](t, w, 1)
		send(t, c, "r-1", "ann", session.Resolve{Run: "r-1", Gate: gate.Gate, Call: gate.Call, Decision: event.Allow})
		if answer := await[event.GateResolved](t, w, 1); answer.By != "ann" || answer.Decision != event.Allow {
			t.Errorf("the gate was answered with %s by %s", answer.Decision, answer.By)
		}
		next := await[event.GateRequested](t, w, 2)
		send(t, c, "r-1", "ann", session.Resolve{Run: "r-1", Gate: next.Gate, Call: next.Call, Decision: event.Allow})
		if end := await[event.ChatReply](t, w, 1); end.Status != event.StatusCompleted {
			t.Errorf("the run ended with %s: %s", end.Reason, end.Text)
		}
	})
}

func TestStoppedRunIsResumedOnRequest(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		startHost(t, address, "w1", opens(t))
		c := openClient(t, address)
		w := submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Attended: true})
		await[event.GateRequested](t, w, 1)
		send(t, c, "r-1", "ann", session.Stop{})
		if end := await[event.ChatReply](t, w, 1); end.Text != "stopped by ann" {
			t.Errorf("the run ended with %s", end.Text)
		}
		w.rest()
		resume(t, c, "r-1", remote.Terms{Attended: true})
		w = watch(t, c, "r-1")
		await[event.RunResumed](t, w, 1)
		for n := range 2 {
			gate := await[event.GateRequested](t, w, 2+n)
			send(t, c, "r-1", "ann", session.Resolve{Run: "r-1", Gate: gate.Gate, Call: gate.Call, Decision: event.Allow})
		}
		if end := await[event.ChatReply](t, w, 2); end.Status != event.StatusCompleted {
			t.Errorf("the run ended with %s: %s", end.Reason, end.Text)
		}
	})
}

func TestWorkersStartAtOnceOnANewDatabase(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		const workers = 4
		hosts, errs := make([]*host.Host, workers), make([]error, workers)
		var starting sync.WaitGroup
		for n := range workers {
			d := openDatabase(t, address)
			starting.Go(func() {
				hosts[n], errs[n] = host.Start(t.Context(), host.Config{Database: d, Worker: remote.Worker{ID: fmt.Sprint("w", n), Version: version}, Open: opens(t)})
			})
		}
		starting.Wait()
		for n, h := range hosts {
			if errs[n] != nil {
				t.Error(errs[n])
			} else if err := h.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestRunGoesOnThoughTheClockOfItsWorkerIsOff(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		open := opens(t)
		off := func(by time.Duration) func(context.Context, remote.Task) (host.Opened, error) {
			return func(ctx context.Context, task remote.Task) (host.Opened, error) {
				opened, err := open(ctx, task)
				opened.Config.Now = func() time.Time { return time.Now().Add(by) }
				return opened, err
			}
		}
		ahead, err := host.Start(t.Context(), host.Config{Database: openDatabase(t, address), Worker: remote.Worker{ID: "w1", Version: version}, Open: off(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		c := openClient(t, address)
		w := submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Attended: true})
		await[event.GateRequested](t, w, 1)
		if err := ahead.Close(); err != nil {
			t.Fatal(err)
		}
		startHost(t, address, "w2", off(-time.Hour))
		for n := 2; n <= 3; n++ { // the first gate opens again
			gate := await[event.GateRequested](t, w, n)
			send(t, c, "r-1", "ann@here", session.Resolve{Run: "r-1", Gate: gate.Gate, Call: gate.Call, Decision: event.Allow, Scope: event.ScopeOnce})
		}
		if end := await[event.ChatReply](t, w, 1); end.Status != event.StatusCompleted {
			t.Errorf("the run ended with %s: %s", end.Reason, end.Text)
		}
		last := time.Time{}
		for _, e := range events(t, c, "r-1") {
			if e.Run == "r-1" && e.Time.Before(last) {
				t.Errorf("%s is of %s, and what came before of %s", e.Data.Kind(), e.Time, last)
			}
			if e.Run == "r-1" {
				last = e.Time
			}
		}
	})
}
