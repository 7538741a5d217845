package host

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"replan/agent/remote"
	"replan/distributed/records"
)

func TestHostIsLostWhenItsDatabaseTakesNoSignOfLife(t *testing.T) {
	d, err := records.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := Start(t.Context(), Config{Database: d, Worker: remote.Worker{ID: "w1", Version: "test"}, Rhythm: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}()
	if health := h.Health(); health.Lost {
		t.Errorf("the host is lost at its start: %+v", health)
	}
	h.mu.Lock()
	h.answered = h.answered.Add(-silence * h.cfg.Rhythm)
	h.mu.Unlock()
	ended, end := context.WithCancel(t.Context())
	end()
	if err := h.beat(ended); err == nil || !h.Health().Lost {
		t.Errorf("a sign of life that the database does not take counts: %v", err)
	}
	if err := h.beat(t.Context()); err != nil || h.Health().Lost {
		t.Errorf("the host is lost after a sign of life: %v", err)
	}
}
