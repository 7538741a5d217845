package host_test

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/remote"
	"replan/distributed/postgrestest"
	"replan/distributed/records"
	"replan/planning/plan"
)

var (
	loadRuns    = flag.Int("load-runs", 0, "measure so many runs of 20 steps at once")
	loadWorkers = flag.Int("load-workers", 3, "with -load-runs: the number of worker processes")
	loadOn      = flag.String("load-on", "postgres", "with -load-runs: postgres or sqlite")
)

// synced is a PostgreSQL server that waits for the disk, for figures.
func synced(b testing.TB) string {
	s := &postgrestest.Server{}
	b.Cleanup(s.Stop)
	return s.Database(b)
}

// TestLoad measures many runs at once; it is for figures, and checks that all complete.
func TestLoad(t *testing.T) {
	if *loadRuns == 0 {
		t.Skip("-load-runs says how many")
	}
	address := "sqlite:" + filepath.Join(t.TempDir(), "runs.db")
	if *loadOn == "postgres" {
		address = synced(t)
	}
	dir := t.TempDir()
	for n := range *loadWorkers {
		w := startWorker(t, address, dir, fmt.Sprintf("w%d", n+1))
		defer w.kill(t)
	}
	const steps = 20
	p := plan.Plan{Title: "Load"}
	for i := range steps {
		p.Steps = append(p.Steps, plan.Step{Index: fmt.Sprint(i + 1), Title: "Look", Tool: "look", Args: map[string]any{"where": i}})
	}
	c := openClient(t, address)
	first := make([]time.Duration, *loadRuns)
	var following sync.WaitGroup
	limit := make(chan struct{}, 50) // followers at once, so that they do not measure themselves
	begun := time.Now()
	submitted := make([]time.Time, *loadRuns)
	for n := range *loadRuns {
		submitted[n] = time.Now()
		if err := c.Submit(t.Context(), remote.Task{Run: fmt.Sprint("r-", n), Plan: &p, Approve: policy.ApproveAll}, version); err != nil {
			t.Fatal(err)
		}
	}
	submitting := time.Since(begun)
	for n := range *loadRuns {
		limit <- struct{}{}
		following.Go(func() {
			defer func() { <-limit }()
			err := c.Follow(context.WithoutCancel(t.Context()), fmt.Sprint("r-", n), func(r records.Record, _ bool) error {
				for _, e := range r.Events {
					if _, ok := e.Data.(event.StepStarted); ok && first[n] == 0 {
						first[n] = e.Time.Sub(submitted[n])
					}
				}
				if r.End != nil && r.End.Status != event.StatusCompleted {
					t.Errorf("the run %d is %s", n, r.End.Status)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	following.Wait()
	took := time.Since(begun)
	size, err := openDatabase(t, address).Size(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(first)
	all := *loadRuns * steps
	t.Logf("%d runs of %d steps by %d workers on %s: %.1f s, %.0f steps a second; submitted in %.1f s; first step after %v (median), %v (p95); %d bytes a step",
		*loadRuns, steps, *loadWorkers, *loadOn, took.Seconds(), float64(all)/took.Seconds(), submitting.Seconds(),
		first[len(first)/2].Round(time.Millisecond), first[len(first)*95/100].Round(time.Millisecond), size/int64(all))
}

// BenchmarkStep measures a step of a plan whose tool does nothing, and with it two
// records: its start and its end. An iteration is a run of 100 steps.
func BenchmarkStep(b *testing.B) {
	for name, address := range map[string]func() string{
		"sqlite":   func() string { return "sqlite:" + filepath.Join(b.TempDir(), "runs.db") },
		"postgres": func() string { return synced(b) },
	} {
		b.Run(name, func(b *testing.B) {
			on := address()
			startHost(b, on, "w1", opens(b))
			c := openClient(b, on)
			const steps = 100
			p := plan.Plan{Title: "Bench"}
			for i := range steps {
				s := plan.Step{Index: fmt.Sprint(i + 1), Title: "Look", Tool: "look", Args: map[string]any{"where": i}}
				if i > 0 {
					s.DependsOn = []string{fmt.Sprint(i)}
				}
				p.Steps = append(p.Steps, s)
			}
			var stepping time.Duration // without submitting and opening the run
			runs := 0
			for b.Loop() {
				runs++
				run := fmt.Sprint("r-", runs)
				if err := c.Submit(b.Context(), remote.Task{Run: run, Plan: &p, Approve: policy.ApproveAll}, version); err != nil {
					b.Fatal(err)
				}
				var start, end time.Time
				for _, e := range events(b, c, run) {
					switch e.Data.(type) {
					case event.StepStarted:
						if start.IsZero() {
							start = e.Time
						}
					case event.StepCompleted:
						end = e.Time
					}
				}
				stepping += end.Sub(start)
			}
			b.ReportMetric(float64(stepping.Microseconds())/float64(runs*steps)/1000, "ms/step")
			b.ReportMetric(0, "ns/op") // it would count the wait for a worker
		})
	}
}
