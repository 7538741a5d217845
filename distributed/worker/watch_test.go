package worker_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"replan/agent/policy"
	"replan/agent/remote"
	"replan/cli"
	"replan/distributed/client"
	"replan/distributed/records"
	"replan/distributed/worker"
	"replan/planning/plan"
)

// collected is what an endpoint for traces has received.
type collected struct {
	mu    sync.Mutex
	spans []*traces.Span
	raw   strings.Builder
}

func (c *collected) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	var request collector.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &request) != nil {
		to.WriteHeader(http.StatusBadRequest)
		return
	}
	c.raw.Write(body)
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

func get(t *testing.T, at string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func TestWorkerTellsHealthMetricsAndTraces(t *testing.T) {
	var got collected
	endpoint := httptest.NewServer(&got)
	t.Cleanup(endpoint.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.URL)
	address := "sqlite:" + filepath.Join(t.TempDir(), "runs.db")
	said, says := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan int, 1)
	go func() {
		ended <- worker.Main(ctx, []string{"work", "--on", address, "--listen", "0"}, cli.IO{
			In: strings.NewReader(""), Out: io.Discard, Err: says, Getenv: os.Getenv, Getwd: os.Getwd,
		})
		_ = says.Close()
	}()
	at := ""
	for lines := bufio.NewScanner(said); at == "" && lines.Scan(); {
		_, at, _ = strings.Cut(lines.Text(), "health and metrics are at ")
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
	if !strings.HasPrefix(at, "http://127.0.0.1:") {
		t.Fatalf("health and metrics are at %q", at)
	}
	if status, text := get(t, at+"/healthz"); status != http.StatusOK || text != "the database answers; 0 runs under way\n" {
		t.Errorf("the health is %d %q", status, text)
	}
	listFiles(t, address)
	_, text := get(t, at+"/metrics")
	for _, line := range []string{
		`replan_runs_ended_total{status="failed"} 1`, `replan_steps_total{status="completed"} 1`, `replan_steps_total{status="failed"} 1`,
		"replan_gates_waiting 0", "replan_runs_taken_up_total 0", "replan_model_calls_total 0", "replan_record_seconds_count ",
	} {
		if !strings.Contains(text, "\n"+line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
	stop()
	if exit := <-ended; exit != 0 {
		t.Errorf("the worker exits with %d", exit)
	}
	got.mu.Lock()
	defer got.mu.Unlock()
	var names []string
	for _, s := range got.spans {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	if strings.Join(names, ", ") != "execute_tool fs.list, execute_tool fs.read, invoke_agent replan" {
		t.Errorf("the spans are %q", names)
	}
	if strings.Contains(got.raw.String(), "secret") {
		t.Error("the traces hold arguments or titles")
	}
}

// listFiles has a worker carry out a run with two calls, the second of which fails.
func listFiles(t *testing.T, address string) {
	t.Helper()
	d, err := records.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.Open(t.Context(), d, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	p := plan.Plan{Title: "A secret title", Steps: []plan.Step{
		{Index: "1", Title: "List the secret", Tool: "fs.list", Args: map[string]any{}},
		{Index: "2", Title: "Read the secret", Tool: "fs.read", Args: map[string]any{"path": "secret.txt"}, DependsOn: []string{"1"}},
	}}
	if err := c.Submit(t.Context(), remote.Task{Run: "r-1", Plan: &p, Approve: policy.ApproveAll}, cli.Version); err != nil {
		t.Fatal(err)
	}
	if err := c.Follow(t.Context(), "r-1", func(records.Record, bool) error { return nil }); err != nil {
		t.Fatal(err)
	}
}
