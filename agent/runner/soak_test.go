package runner_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/store/journal"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Runs of the soak, and how many of them are under way at once. REPLAN_TEST_LONG makes
// them many.
const (
	soakRuns     = 24
	soakLongRuns = 2000
	soakAtOnce   = 8
)

// soakFault is what goes wrong in a call.
type soakFault int

const (
	soakNothing soakFault = iota
	soakRefused           // the tool says no
	soakLost              // the server is gone, and what it did is unknown
	soakLate              // the call ends only with its time limit
	soakStopped           // the user stops the run
	soakFull              // the disk is full from here
	soakFaults
)

// fullJournal is a journal whose disk fills up.
type fullJournal struct {
	runner.Journal
	full atomic.Bool
}

func (j *fullJournal) Append(events ...event.Event) error {
	if j.full.Load() {
		return errors.New("no space left on device")
	}
	return j.Journal.Append(events...)
}

var soakTools = plan.Catalog{
	{Server: "t", Name: "look", ReadOnly: true, Annotated: true},
	{Server: "t", Name: "mark", Annotated: true},
}

func soakPlan(random *rand.Rand) plan.Plan {
	p := plan.Plan{Title: "Soak"}
	for i := range 6 {
		s := plan.Step{Index: fmt.Sprint(i + 1), Title: untrusted.Text(fmt.Sprint("Step ", i+1)), Tool: soakTools[random.IntN(2)].Name, Args: map[string]any{"step": i}}
		if i > 0 && random.IntN(2) == 0 {
			s.DependsOn = []string{fmt.Sprint(random.IntN(i) + 1)}
		}
		switch random.IntN(3) {
		case 0:
			s.OnFailure = plan.OnFailureSkip
		case 1:
			s.ForEach = &plan.ForEach{Items: []any{"a", "b", "c"}, As: plan.DefaultAs, Max: plan.DefaultMax}
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

// soakRun carries out one run with a random fault, and resumes it once.
func soakRun(dir string, n int) error {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	runs, id := journal.Folder{Dir: dir}, fmt.Sprintf("r-%d", n)
	j, err := runs.Create(id)
	if err != nil {
		return err
	}
	kept := &fullJournal{Journal: j}
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	fault, at := soakFault(random.IntN(int(soakFaults))), random.Int64N(8)
	var calls atomic.Int64
	p := soakPlan(random)
	job := runner.Job{
		ID: id, Plan: &p, Journal: kept, Catalog: soakTools, Limits: event.Limits{MaxConcurrency: 4}, InDoubt: event.DoubtRerun,
		Call: func(ctx context.Context, c plan.ToolCall) (any, error) {
			if calls.Add(1) != at+1 {
				return map[string]any{"text": string(make([]byte, 1000))}, nil
			}
			switch fault {
			case soakRefused:
				return nil, &plan.ToolError{Tool: c.Tool.Name, Message: "not yet"}
			case soakLost:
				return nil, errors.New("the server is gone")
			case soakLate:
				return nil, context.DeadlineExceeded
			case soakStopped:
				stop(errors.New("enough"))
				<-ctx.Done()
				return nil, ctx.Err()
			case soakFull:
				kept.full.Store(true)
			}
			return "seen", nil
		},
	}
	_, ran := runner.Run(ctx, job)
	if err := j.Close(); err != nil {
		return err
	}
	if ran != nil && fault != soakFull {
		return fmt.Errorf("run %d with fault %d: %w", n, fault, ran)
	}
	j, past, err := runs.Open(id)
	if err != nil {
		return fmt.Errorf("run %d with fault %d cannot be resumed: %w", n, fault, err)
	}
	job.Journal, job.Past = j, past
	job.Call = func(context.Context, plan.ToolCall) (any, error) { return "seen", nil }
	if _, err := runner.Run(context.Background(), job); err != nil {
		return errors.Join(fmt.Errorf("resume of run %d with fault %d: %w", n, fault, err), j.Close())
	}
	if err := j.Close(); err != nil {
		return err
	}
	_, err = runs.Delete(id)
	return err
}

// held is what a process holds.
type held struct {
	heap        uint64
	goroutines  int
	descriptors int
}

// holdings measures memory, goroutines and descriptors of the process, without garbage.
func holdings() held {
	runtime.GC()
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	open, _ := filepath.Glob("/proc/self/fd/*") // none on other systems
	return held{memory.HeapAlloc, runtime.NumGoroutine(), len(open)}
}

// TestRunsLeaveNothingBehindInTheProcess carries out many runs at once with random
// faults in one process, and compares what it holds after a tenth of them and at the end.
func TestRunsLeaveNothingBehindInTheProcess(t *testing.T) {
	total := soakRuns
	if os.Getenv("REPLAN_TEST_LONG") != "" {
		total = soakLongRuns
	}
	dir := t.TempDir()
	soak := func(from, to int) {
		var group sync.WaitGroup
		next := make(chan int)
		for range soakAtOnce {
			group.Go(func() {
				for n := range next {
					if err := soakRun(dir, n); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for n := from; n < to; n++ {
			next <- n
		}
		close(next)
		group.Wait()
	}
	begun := time.Now()
	soak(0, total/10)
	early := holdings()
	soak(total/10, total)
	late := holdings()
	t.Logf("%d runs in %s: %+v after a tenth, %+v at the end", total, time.Since(begun).Round(time.Millisecond), early, late)
	if late.heap > early.heap+4<<20 {
		t.Errorf("the heap grew from %d to %d bytes", early.heap, late.heap)
	}
	if late.goroutines > early.goroutines+soakAtOnce { // those of the soak may be about to end
		t.Errorf("%d goroutines became %d", early.goroutines, late.goroutines)
	}
	if late.descriptors > early.descriptors {
		t.Errorf("%d descriptors became %d", early.descriptors, late.descriptors)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 1 { // the key of the journals
		t.Errorf("%v are left, %v", left, err)
	}
}
