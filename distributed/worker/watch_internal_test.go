package worker

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"replan/distributed/host"
	"replan/distributed/telemetry"
)

func TestHealthFailsWhileTheWorkerCannotWork(t *testing.T) {
	seen, _, err := telemetry.Open(t.Context(), "test", func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	w := watch{telemetry: seen}
	var health host.Health
	routes := w.routes(func() host.Health { return health })
	for want, now := range map[string]host.Health{
		"the database has not answered for 7 s\n":              {Lost: true, Silence: 7 * time.Second},
		"the last run could not be opened: the disk is full\n": {Problem: "the disk is full"},
	} {
		health = now
		got := httptest.NewRecorder()
		routes.ServeHTTP(got, httptest.NewRequest(http.MethodGet, "/healthz", http.NoBody))
		if got.Code != http.StatusServiceUnavailable || got.Body.String() != want {
			t.Errorf("the health is %d %q", got.Code, got.Body)
		}
	}
}
