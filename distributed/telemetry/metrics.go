package telemetry

import (
	"cmp"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"replan/agent/event"
	"replan/planning/reply"
)

// Telemetry takes in events. Its methods can be called at once.
type Telemetry struct {
	registry *prometheus.Registry
	runs     *prometheus.CounterVec // ended, by status
	steps    *prometheus.CounterVec // ended attempts, by status
	calls    prometheus.Counter     // of models
	tokens   *prometheus.CounterVec // by direction
	gates    prometheus.Gauge
	delay    prometheus.Histogram // of a record

	tracer *tracer // nil without traces

	mu   sync.Mutex
	open map[string]*run
}

// run is a run that this worker carries out.
type run struct {
	gates map[key]bool         // waiting; the attempt is 0
	steps map[key]*span        // under way
	model map[string]string    // by run
	inner map[string]key       // the steps that started inner runs
	begun map[string]time.Time // runs, by when they did
}

// key is an attempt of a step, or a gate, in a run or one of its inner runs.
type key struct {
	run, name string
	attempt   int
}

// newMetrics returns a telemetry; traces is nil for one without traces.
func newMetrics(traces *tracer) *Telemetry {
	t := &Telemetry{
		registry: prometheus.NewRegistry(), open: map[string]*run{}, tracer: traces,
		runs:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "replan_runs_ended_total", Help: "Runs that ended on this worker, by status."}, []string{"status"}),
		steps:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "replan_steps_total", Help: "Attempts of steps, by status; in_doubt are those whose worker died."}, []string{"status"}),
		calls:  prometheus.NewCounter(prometheus.CounterOpts{Name: "replan_model_calls_total", Help: "Replies of models."}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "replan_model_tokens_total", Help: "Tokens of models, by direction: input or output."}, []string{"direction"}),
		gates:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "replan_gates_waiting", Help: "Gates that wait for an answer."}),
		delay: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "replan_record_seconds", Help: "From an event to its record in the database.", Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14), // to 4 s
		}),
	}
	t.registry.MustRegister(t.runs, t.steps, t.calls, t.tokens, t.gates, t.delay)
	return t
}

// Handler serves the metrics. runs is the number of runs under way, and takenUp that of
// the runs of dead workers that this one put back into their queues.
func (t *Telemetry) Handler(runs, takenUp func() float64) http.Handler {
	t.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "replan_runs", Help: "Runs under way on this worker."}, runs),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "replan_runs_taken_up_total", Help: "Runs of dead workers that this one put back into their queues."}, takenUp),
	)
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{})
}

// Record takes in events of a run that have just been recorded.
func (t *Telemetry) Record(id string, events []event.Event) {
	if len(events) > 0 {
		t.delay.Observe(time.Since(events[len(events)-1].Time).Seconds())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.open[id]
	if r == nil {
		r = &run{gates: map[key]bool{}, steps: map[key]*span{}, model: map[string]string{}, inner: map[string]key{}, begun: map[string]time.Time{}}
		t.open[id] = r
	}
	for _, e := range events {
		t.count(r, e)
		if t.tracer != nil {
			t.tracer.trace(id, r, e)
		}
	}
}

// Leave forgets a run that has ended here, or continues elsewhere.
func (t *Telemetry) Leave(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.open[id]; r != nil {
		t.gates.Sub(float64(len(r.gates)))
		delete(t.open, id)
	}
}

func (t *Telemetry) count(r *run, e event.Event) {
	switch d := e.Data.(type) {
	case event.ChatReply: // it ends the run, also one that could not begin
		t.runs.WithLabelValues(string(cmp.Or(d.Status, event.StatusCompleted))).Inc()
	case event.StepCompleted:
		t.steps.WithLabelValues("completed").Inc()
	case event.StepFailed:
		t.steps.WithLabelValues("failed").Inc()
	case event.StepSkipped:
		t.steps.WithLabelValues("skipped").Inc()
	case event.StepInDoubt:
		t.steps.WithLabelValues("in_doubt").Inc()
	case event.GateRequested:
		t.gate(r, key{run: e.Run, name: d.Gate}, true)
	case event.GateResolved:
		t.gate(r, key{run: e.Run, name: d.Gate}, false)
	}
	if said := replyOf(e.Data); said != nil {
		t.calls.Inc()
		t.tokens.WithLabelValues("input").Add(float64(said.PromptTokens))
		t.tokens.WithLabelValues("output").Add(float64(said.CompletionTokens))
	}
}

// gate notes that a gate waits, or no longer does.
func (t *Telemetry) gate(r *run, k key, waits bool) {
	switch {
	case waits && !r.gates[k]:
		r.gates[k] = true
		t.gates.Inc()
	case !waits && r.gates[k]:
		delete(r.gates, k)
		t.gates.Dec()
	}
}

// replyOf returns the reply of a model in an event; nil if it has none.
func replyOf(data event.Data) *reply.Reply {
	switch d := data.(type) {
	case event.PhaseCompleted:
		return &d.Reply
	case event.PhaseFailed:
		return &d.Reply
	case event.ModelReplied:
		return &d.Reply
	case event.SynthesisCompleted:
		return &d.Reply
	case event.StepCompleted:
		return d.Reply
	case event.StepFailed:
		return d.Reply
	default:
		return nil
	}
}
