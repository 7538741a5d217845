package worker

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"replan/distributed/host"
	"replan/distributed/telemetry"
)

func TestHealthFailsWhileTheDatabaseIsSilent(t *testing.T) {
	seen, _, err := telemetry.Open(t.Context(), "test", func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	w := watch{telemetry: seen}
	got := httptest.NewRecorder()
	w.routes(func() host.Health { return host.Health{Lost: true, Silence: 7 * time.Second} }).
		ServeHTTP(got, httptest.NewRequest(http.MethodGet, "/healthz", http.NoBody))
	if got.Code != http.StatusServiceUnavailable || got.Body.String() != "the database has not answered for 7 s\n" {
		t.Errorf("the health is %d %q", got.Code, got.Body)
	}
}
