package agent_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"replan/agent"
	"replan/planning"
)

// noop is a tool that needs nothing and says nothing.
var noop = planning.Catalogue{{Name: "noop", Server: "w", ReadOnly: true, Annotated: true}}

// wide is a plan of n steps, each of which needs one far before it, so that
// there is always more ready than may run.
func wide(n int) planning.Plan {
	steps := make([]planning.Step, n)
	for i := range steps {
		steps[i] = planning.Step{Index: strconv.Itoa(i + 1), Title: "Step", Executor: planning.ExecutorTool, Tool: "noop", Args: map[string]any{}}
		if i >= 8 {
			steps[i].DependsOn = []string{strconv.Itoa(i/2 + 1)}
		}
	}
	return planning.Plan{Title: "Wide", Steps: steps}
}

// BenchmarkRun plays a plan of n no-op steps through the core alone, planning,
// graph and queues included; ns/step is the engine's overhead.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			plan := wide(n)
			for b.Loop() {
				if run := playNoop(b, plan); run.Result.Reason != agent.ReasonGoalMet {
					b.Fatalf("%s: %s", run.Result.Reason, run.Result.Error)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/step")
		})
	}
}

// playNoop carries a plan out whose calls come back at once.
func playNoop(b *testing.B, plan planning.Plan) *agent.Run {
	var run agent.Run
	now, seq := time.Unix(0, 0).UTC(), uint64(0)
	apply := func(data agent.Data) {
		seq++
		if err := run.Apply(agent.Event{Seq: seq, Time: now, Run: "r", Data: data}); err != nil {
			b.Fatal(err)
		}
	}
	apply(agent.RunStarted{
		Plan: &plan, Limits: agent.Limits{MaxConcurrency: 8}, Catalogue: noop, SkipSynthesis: true,
		Rules: []agent.Rule{{Tool: "*", When: agent.WhenReadOnly, Verdict: agent.VerdictRun}},
	})
	for run.Active() {
		actions := run.Next()
		for _, a := range actions {
			if a.Record != nil {
				apply(a.Record)
			}
		}
		for _, a := range actions {
			if call, ok := a.Effect.(agent.CallTool); ok {
				apply(agent.StepCompleted{Index: call.Index, Attempt: call.Attempt})
			}
		}
	}
	return &run
}
