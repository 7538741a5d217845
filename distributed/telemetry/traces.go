package telemetry

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	"go.opentelemetry.io/otel/trace"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/reply"
)

// Service is the name of the service in traces, unless OTEL_SERVICE_NAME gives another.
const Service = "replan-worker"

// Open opens the telemetry of a worker. It exports traces if the environment names an
// endpoint for them, as the libraries of OpenTelemetry expect it. close sends what
// waits.
func Open(ctx context.Context, version string, getenv func(string) string) (t *Telemetry, closing func(context.Context) error, err error) {
	if getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		return newMetrics(nil), func(context.Context) error { return nil }, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("open the export of traces: %w", err)
	}
	attributes, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName(Service), semconv.ServiceVersion(version)), resource.WithFromEnv())
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("describe the worker for traces: %w", err), exporter.Shutdown(ctx))
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(attributes), sdk.WithIDGenerator(ids{}), sdk.WithSampler(sdk.AlwaysSample()))
	return newMetrics(&tracer{provider.Tracer("replan")}), provider.Shutdown, nil
}

// tracer makes spans of events. Their ids follow from those of runs, steps and
// attempts, so that the spans of a run are one trace on whatever workers it was.
type tracer struct{ spans trace.Tracer }

// span is a step under way.
type span struct {
	start     time.Time
	operation attribute.KeyValue
	tool      string
	used      reply.Reply // by models in the step
}

// trace makes the spans that an event ends. of is the outermost run of the event's.
func (t *tracer) trace(of string, r *run, e event.Event) {
	switch d := e.Data.(type) {
	case event.RunStarted:
		r.model[e.Run], r.begun[e.Run] = d.Model, e.Time
	case event.RunResumed:
		r.model[e.Run] = d.Model
	case event.RunSpawned:
		r.inner[d.Run] = key{e.Run, d.Index, d.Attempt}
	case event.StepStarted:
		s := &span{start: e.Time, operation: semconv.GenAIOperationNameExecuteTool, tool: d.Tool}
		switch d.Executor {
		case plan.ExecutorAgent:
			s.operation = semconv.GenAIOperationNameInvokeAgent
		case plan.ExecutorSelf:
			s.operation = semconv.GenAIOperationNameChat
		}
		r.steps[key{e.Run, d.Index, d.Attempt}] = s
	case event.ModelReplied:
		if s := r.steps[key{e.Run, d.Step, d.Attempt}]; s != nil {
			s.used.PromptTokens += d.Reply.PromptTokens
			s.used.CompletionTokens += d.Reply.CompletionTokens
		}
	case event.StepCompleted:
		t.step(of, r, e, key{e.Run, d.Index, d.Attempt}, d.Reply, d.MS, "")
	case event.StepFailed:
		t.step(of, r, e, key{e.Run, d.Index, d.Attempt}, d.Reply, d.MS, d.Failure)
	case event.StepInDoubt:
		t.step(of, r, e, key{e.Run, d.Index, d.Attempt}, nil, d.MS, event.FailureInDoubt)
	case event.RunCompleted:
		t.run(of, r, e, d.Result)
	}
}

// step makes the span of an attempt. If another worker began it, its tool is not known.
func (t *tracer) step(of string, r *run, e event.Event, k key, said *reply.Reply, ms int64, failure event.FailureKind) {
	s := r.steps[k]
	if s == nil {
		s = &span{start: e.Time.Add(-time.Duration(ms) * time.Millisecond), operation: semconv.GenAIOperationNameExecuteTool}
	}
	delete(r.steps, k)
	if said != nil {
		s.used.PromptTokens += said.PromptTokens
		s.used.CompletionTokens += said.CompletionTokens
	}
	attributes := []attribute.KeyValue{s.operation, attribute.String("replan.run", k.run), attribute.String("replan.step", k.name), attribute.Int("replan.attempt", k.attempt)}
	name := s.operation.Value.AsString()
	switch {
	case s.tool != "":
		name += " " + s.tool
		attributes = append(attributes, semconv.GenAIToolName(s.tool))
	case s.operation != semconv.GenAIOperationNameExecuteTool:
		attributes = append(attributes, semconv.GenAIRequestModel(r.model[k.run]))
	}
	if s.used.PromptTokens+s.used.CompletionTokens > 0 {
		attributes = append(attributes, usage(s.used.PromptTokens, s.used.CompletionTokens)...)
	}
	t.end(identity{of, k.id()}, key{run: k.run}.id(), name, s.start, e.Time, string(failure), attributes)
}

// run makes the span of a run. An inner run is below the step that started it.
func (t *tracer) run(of string, r *run, e event.Event, result event.Result) {
	start, ok := r.begun[e.Run]
	if !ok { // on another worker
		start = e.Time.Add(-time.Duration(result.DurationMS) * time.Millisecond)
	}
	var parent trace.SpanID // none
	if e.Run != of {
		parent = key{run: of}.id()
		if step, ok := r.inner[e.Run]; ok {
			parent = step.id()
		}
	}
	failure := ""
	if result.Status != event.StatusCompleted {
		failure = string(result.Reason)
	}
	attributes := append([]attribute.KeyValue{
		semconv.GenAIOperationNameInvokeAgent, attribute.String("replan.run", e.Run), attribute.String("replan.reason", string(result.Reason)),
	}, usage(result.Usage.PromptTokens, result.Usage.CompletionTokens)...)
	if model := r.model[e.Run]; model != "" {
		attributes = append(attributes, semconv.GenAIRequestModel(model))
	}
	t.end(identity{of, key{run: e.Run}.id()}, parent, "invoke_agent replan", start, e.Time, failure, attributes)
}

// end makes a span. A failure is its status and its error.type.
func (t *tracer) end(id identity, parent trace.SpanID, name string, from, to time.Time, failure string, attributes []attribute.KeyValue) {
	ctx := context.WithValue(context.Background(), identity{}, id)
	if parent.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{TraceID: id.trace(), SpanID: parent, TraceFlags: trace.FlagsSampled}))
	}
	_, s := t.spans.Start(ctx, name, trace.WithTimestamp(from), trace.WithAttributes(attributes...))
	if failure != "" {
		s.SetStatus(codes.Error, failure)
		s.SetAttributes(semconv.ErrorTypeKey.String(failure))
	}
	s.End(trace.WithTimestamp(to))
}

func usage(in, out int) []attribute.KeyValue {
	return []attribute.KeyValue{semconv.GenAIUsageInputTokens(in), semconv.GenAIUsageOutputTokens(out)}
}

// id is that of the span of an attempt, or of a run if there is no name.
func (k key) id() (id trace.SpanID) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d", k.run, k.name, k.attempt))
	copy(id[:], sum[:])
	return id
}

// identity is the identity of a span, in a context as a value of its type.
type identity struct {
	run  string // the outermost one, which is the trace
	span trace.SpanID
}

func (i identity) trace() (id trace.TraceID) {
	sum := sha256.Sum256([]byte(i.run))
	copy(id[:], sum[:])
	return id
}

// ids takes the ids of spans from their contexts.
type ids struct{}

// NewIDs returns those of a root.
func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	id, _ := ctx.Value(identity{}).(identity)
	return id.trace(), id.span
}

// NewSpanID returns that of another span.
func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	id, _ := ctx.Value(identity{}).(identity)
	return id.span
}
