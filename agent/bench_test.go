package agent_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
)

// noop is a catalog of one tool that does nothing.
var noop = plan.Catalog{{Name: "noop", Server: "w", ReadOnly: true, Annotated: true}}

// wide returns a plan of n steps. Each depends on a step far before it, so more
// steps are always ready than may run.
func wide(n int) plan.Plan {
	steps := make([]plan.Step, n)
	for i := range steps {
		steps[i] = plan.Step{Index: strconv.Itoa(i + 1), Title: "Step", Executor: plan.ExecutorTool, Tool: "noop", Args: map[string]any{}}
		if i >= 8 {
			steps[i].DependsOn = []string{strconv.Itoa(i/2 + 1)}
		}
	}
	return plan.Plan{Title: "Wide", Steps: steps}
}

// BenchmarkRun plays a plan of n no-op steps through the core alone. run-ns/step
// is the engine's overhead per step; layout-ns/step is the cost of the plan's
// graph, queues and states, once per plan.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			plan := wide(n)
			var laidOut, ran time.Duration
			for b.Loop() {
				begun := time.Now()
				run := startNoop(b, plan)
				between := time.Now()
				if playNoop(b, run); run.Result.Reason != event.ReasonGoalMet {
					b.Fatalf("%s: %s", run.Result.Reason, run.Result.Error)
				}
				laidOut, ran = laidOut+between.Sub(begun), ran+time.Since(between)
			}
			per := float64(b.N * n)
			b.ReportMetric(float64(laidOut.Nanoseconds())/per, "layout-ns/step")
			b.ReportMetric(float64(ran.Nanoseconds())/per, "run-ns/step")
		})
	}
}

// noopRun is a run and the number of its last event.
type noopRun struct {
	agent.Run
	seq uint64
}

func (r *noopRun) apply(b *testing.B, data event.Data) {
	r.seq++
	if err := r.Apply(event.Event{Seq: r.seq, Time: time.Unix(0, 0).UTC(), Run: "r", Data: data}); err != nil {
		b.Fatal(err)
	}
}

// startNoop starts a run of the plan, up to its event plan.created.
func startNoop(b *testing.B, plan plan.Plan) *noopRun {
	r := &noopRun{}
	r.apply(b, event.RunStarted{
		Plan: &plan, Limits: event.Limits{MaxConcurrency: 8}, Catalog: noop, SkipSynthesis: true,
		Rules: []rule.Rule{{Tool: "*", When: rule.WhenReadOnly, Verdict: rule.VerdictRun}},
	})
	for _, a := range r.Next() {
		r.apply(b, a.Record)
	}
	return r
}

// playNoop runs it with calls that return at once.
func playNoop(b *testing.B, r *noopRun) {
	for r.Active() {
		actions := r.Next()
		for _, a := range actions {
			if a.Record != nil {
				r.apply(b, a.Record)
			}
		}
		for _, a := range actions {
			if call, ok := a.Effect.(agent.CallTool); ok {
				r.apply(b, event.StepCompleted{Index: call.Index, Attempt: call.Attempt})
			}
		}
	}
}

// BenchmarkApprovedCalls has the user allow all calls of a plan while the slots are taken.
// Then it returns them, and the calls that wait are approved ones. gate-ns/step is the time until all
// are allowed, and run-ns/step that of the calls.
func BenchmarkApprovedCalls(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("calls=%d", n), func(b *testing.B) {
			steps := make([]plan.Step, n)
			for i := range steps {
				steps[i] = plan.Step{Index: strconv.Itoa(i + 1), Title: "Step", Executor: plan.ExecutorTool, Tool: "noop", Args: map[string]any{"n": i}, Gate: true}
			}
			gated := plan.Plan{Title: "Gated", Steps: steps}
			var asked, ran time.Duration
			for b.Loop() {
				run := startNoop(b, gated)
				begun := time.Now()
				calls := allowNoop(b, run)
				between := time.Now()
				for _, call := range calls {
					run.apply(b, event.StepCompleted{Index: call.Index, Attempt: call.Attempt})
				}
				if playNoop(b, run); run.Result.Reason != event.ReasonGoalMet {
					b.Fatalf("%s: %s", run.Result.Reason, run.Result.Error)
				}
				asked, ran = asked+between.Sub(begun), ran+time.Since(between)
			}
			per := float64(b.N * n)
			b.ReportMetric(float64(asked.Nanoseconds())/per, "gate-ns/step")
			b.ReportMetric(float64(ran.Nanoseconds())/per, "run-ns/step")
		})
	}
}

// allowNoop allows the call at each gate that opens, and returns the calls that were started
// meanwhile.
func allowNoop(b *testing.B, r *noopRun) (calls []agent.CallTool) {
	for actions := r.Next(); len(actions) > 0; actions = r.Next() {
		for _, a := range actions {
			if a.Record != nil {
				r.apply(b, a.Record)
			}
			switch effect := a.Effect.(type) {
			case agent.OpenGate:
				r.apply(b, effect.Gate)
				r.apply(b, event.GateResolved{Gate: effect.Gate.Gate, Decision: event.Allow, Scope: event.ScopeOnce, By: "user"})
			case agent.CallTool:
				calls = append(calls, effect)
			}
		}
	}
	return calls
}
