package telemetry

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/reply"
)

// traced returns a worker's telemetry whose spans an exporter keeps.
func traced(t *testing.T, kept *tracetest.InMemoryExporter) *Telemetry {
	t.Helper()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(kept), sdk.WithIDGenerator(ids{}))
	seen := newMetrics(nil)
	seen.tracer = &tracer{provider.Tracer("replan")}
	return seen
}

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// at returns an event of a run, some seconds after its beginning.
func at(seconds int, run string, data event.Data) event.Event {
	return event.Event{Time: began.Add(time.Duration(seconds) * time.Second), Run: run, Data: data}
}

func TestRunThatMovesIsOneTrace(t *testing.T) {
	kept := tracetest.NewInMemoryExporter()
	first, second := traced(t, kept), traced(t, kept)
	first.Record("r-1", []event.Event{
		at(0, "r-1", event.RunStarted{Model: "small"}),
		at(1, "r-1", event.StepStarted{Index: "1", Attempt: 1, Executor: plan.ExecutorAgent}),
		at(2, "r-1", event.ModelReplied{Step: "1", Attempt: 1, Reply: reply.Reply{PromptTokens: 10, CompletionTokens: 4}}),
		at(3, "r-1", event.RunSpawned{Index: "1", Attempt: 1, Run: "r-2"}),
		at(3, "r-2", event.RunStarted{Model: "small"}),
		at(4, "r-2", event.RunCompleted{Result: event.Result{Status: event.StatusCompleted}}),
		at(5, "r-1", event.StepCompleted{Index: "1", Attempt: 1}),
		at(6, "r-1", event.StepStarted{Index: "2", Attempt: 1, Tool: "change"}),
	})
	first.Leave("r-1")
	second.Record("r-1", []event.Event{
		at(8, "r-1", event.RunResumed{Model: "small"}),
		at(8, "r-1", event.StepInDoubt{Index: "2", Attempt: 1, MS: 2000}),
		at(9, "r-1", event.StepStarted{Index: "2", Attempt: 2, Tool: "change"}),
		at(10, "r-1", event.StepFailed{Index: "2", Attempt: 2, Failure: event.FailureTimeout, Error: "secret"}),
		at(11, "r-1", event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonStepFailed, Error: "secret", DurationMS: 11_000}}),
	})
	spans := kept.GetSpans()
	names := map[trace.SpanID]string{}
	for _, s := range spans {
		names[s.SpanContext.SpanID()] = fmt.Sprintf("%s %s", s.Name, s.StartTime.Sub(began))
	}
	var got strings.Builder
	for _, s := range spans {
		if s.SpanContext.TraceID() != spans[0].SpanContext.TraceID() {
			t.Errorf("%s is of another trace", s.Name)
		}
		fmt.Fprintf(&got, "%s < %s: %s to %s", s.Name, names[s.Parent.SpanID()], s.StartTime.Sub(began), s.EndTime.Sub(began))
		for _, a := range s.Attributes {
			if key := string(a.Key); strings.HasPrefix(key, "gen_ai.") || key == "error.type" {
				fmt.Fprintf(&got, " %s=%s", strings.TrimPrefix(key, "gen_ai."), a.Value.String())
			}
		}
		got.WriteString(strings.TrimSpace(" "+s.Status.Description) + "\n")
	}
	const want = `invoke_agent replan < invoke_agent 1s: 3s to 4s operation.name=invoke_agent usage.input_tokens=0 usage.output_tokens=0 request.model=small
invoke_agent < invoke_agent replan 0s: 1s to 5s operation.name=invoke_agent request.model=small usage.input_tokens=10 usage.output_tokens=4
execute_tool < invoke_agent replan 0s: 6s to 8s operation.name=execute_tool error.type=in_doubtin_doubt
execute_tool change < invoke_agent replan 0s: 9s to 10s operation.name=execute_tool tool.name=change error.type=timeouttimeout
invoke_agent replan < : 0s to 11s operation.name=invoke_agent usage.input_tokens=0 usage.output_tokens=0 request.model=small error.type=step_failedstep_failed
`
	if got.String() != want {
		t.Errorf("the spans are\n%s", got.String())
	}
}

func TestGatesWaitUntilTheyAreAnsweredOrTheRunIsElsewhere(t *testing.T) {
	seen := newMetrics(nil)
	seen.Record("r-1", []event.Event{at(1, "r-1", event.GateRequested{Gate: "g1"}), at(1, "r-2", event.GateRequested{Gate: "g1"})})
	seen.Record("r-3", []event.Event{at(1, "r-3", event.GateRequested{Gate: "g1"})})
	seen.Record("r-1", []event.Event{at(2, "r-2", event.GateResolved{Gate: "g1"})})
	if got := testutil.ToFloat64(seen.gates); got != 2 {
		t.Errorf("%v gates wait", got)
	}
	seen.Leave("r-1")
	seen.Leave("r-3")
	if got := testutil.ToFloat64(seen.gates); got != 0 {
		t.Errorf("%v gates wait after the runs", got)
	}
}
