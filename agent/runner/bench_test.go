package runner_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/store/journal"
	"replan/planning/plan"
)

// noops returns a plan of n steps that do nothing. Each step depends on the one
// width places before it, so at most width steps run at once.
func noops(n, width int) plan.Plan {
	steps := make([]plan.Step, n)
	for i := range steps {
		steps[i] = plan.Step{Index: strconv.Itoa(i + 1), Title: "Step", Tool: "noop", Args: map[string]any{}}
		if i >= width {
			steps[i].DependsOn = []string{strconv.Itoa(i + 1 - width)}
		}
	}
	return plan.Plan{Title: "Nothing", Steps: steps}
}

func noop(context.Context, plan.ToolCall) (any, error) { return nil, nil }

// carryOut runs a job and fails the benchmark unless the job completes.
func carryOut(b *testing.B, job runner.Job) {
	b.Helper()
	result, err := runner.Run(b.Context(), job)
	if err != nil || result.Reason != event.ReasonGoalMet {
		b.Fatalf("%s %s: %v", result.Reason, result.Error, err)
	}
}

// BenchmarkSteps measures the engine's overhead for a step that does nothing,
// with one worker per call and no journal: layout is the time for checking the
// plan and building its graph, up to the first call; run is the rest.
func BenchmarkSteps(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			p := noops(n, 8)
			var layout time.Duration
			for b.Loop() {
				start := time.Now()
				var first sync.Once
				call := func(context.Context, plan.ToolCall) (any, error) {
					first.Do(func() { layout += time.Since(start) })
					return nil, nil
				}
				carryOut(b, runner.Job{Plan: &p, Call: call, Limits: event.Limits{MaxConcurrency: 8}})
			}
			steps := float64(b.N * n)
			b.ReportMetric(float64(layout.Nanoseconds())/steps, "layout-ns/step")
			b.ReportMetric(float64((b.Elapsed()-layout).Nanoseconds())/steps, "run-ns/step")
		})
	}
}

// BenchmarkJournaled measures a step whose start and end reach the disk before
// anything acts on them.
func BenchmarkJournaled(b *testing.B) {
	const n = 200
	for _, width := range []int{1, 8} {
		b.Run(fmt.Sprintf("at_once=%d", width), func(b *testing.B) {
			plan := noops(n, width)
			for b.Loop() {
				j, err := journal.Create(filepath.Join(b.TempDir(), "run.jsonl"))
				if err != nil {
					b.Fatal(err)
				}
				carryOut(b, runner.Job{Plan: &plan, Call: noop, Limits: event.Limits{MaxConcurrency: width}, Journal: j})
				if err := j.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n)/1000, "ms/step")
		})
	}
}

// BenchmarkDiamond runs four tools of 200 ms each, two of which can run at once,
// with the journal on disk: 600 ms at best.
func BenchmarkDiamond(b *testing.B) {
	slow := func(ctx context.Context, _ plan.ToolCall) (any, error) {
		select {
		case <-time.After(200 * time.Millisecond):
			return "done", nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	step := func(index string, after ...string) plan.Step {
		return plan.Step{Index: index, Title: "Step", Tool: "slow", Args: map[string]any{}, DependsOn: after}
	}
	plan := plan.Plan{Title: "Diamond", Steps: []plan.Step{step("1"), step("2", "1"), step("3", "1"), step("4", "2", "3")}}
	b.Run("journal=none", func(b *testing.B) {
		for b.Loop() {
			carryOut(b, runner.Job{Plan: &plan, Call: slow})
		}
		b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/run")
	})
	b.Run("journal=disk", func(b *testing.B) {
		for b.Loop() {
			j, err := journal.Create(filepath.Join(b.TempDir(), "run.jsonl"))
			if err != nil {
				b.Fatal(err)
			}
			carryOut(b, runner.Job{Plan: &plan, Call: slow, Journal: j})
			if err := j.Close(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/run")
	})
}
