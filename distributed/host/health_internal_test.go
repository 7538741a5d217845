package host

import (
	"context"
	"testing"
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
