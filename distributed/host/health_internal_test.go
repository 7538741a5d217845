package host

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"replan/distributed/records"
)

func TestHostIsLostWhenItsDatabaseTakesNoSignOfLife(t *testing.T) {
	h := idle(t)
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

func TestNoWorkerIsDeadUntilTheDatabaseHasAnsweredForAWhile(t *testing.T) {
	h := idle(t)
	if age := h.deadAfter(); age != never {
		t.Errorf("at its start workers are dead after %v", age)
	}
	h.mu.Lock()
	h.steady = h.steady.Add(-silence * h.cfg.Rhythm)
	h.mu.Unlock()
	if age := h.deadAfter(); age != silence*h.cfg.Rhythm {
		t.Errorf("workers are dead after %v", age)
	}
	h.mu.Lock()
	h.answered = h.answered.Add(-silence * h.cfg.Rhythm) // the database was lost
	h.mu.Unlock()
	if err := h.beat(t.Context()); err != nil {
		t.Fatal(err)
	}
	if age := h.deadAfter(); age != never {
		t.Errorf("after a loss workers are dead after %v", age)
	}
}

// lostHost returns a host whose database never answers, and its log.
func lostHost(t *testing.T) (*Host, *bytes.Buffer) {
	t.Helper()
	d, err := records.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "runs.db")) // without its tables
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	log := &bytes.Buffer{}
	return newHost(Config{Database: d, Rhythm: time.Millisecond, Logger: slog.New(slog.NewTextHandler(log, nil))}), log
}

func TestHostThatWaitsForALostDatabaseSaysSoOnce(t *testing.T) {
	h, log := lostHost(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond) // many looks
	defer cancel()
	h.look(ctx)
	if lines := strings.Count(log.String(), "look at the database"); lines > 1 {
		t.Errorf("the log has %d lines", lines)
	}
}
