package host

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"replan/planning/plan"
)

func TestCallThatWaitedIsNotMadeOnceItsRunIsElsewhere(t *testing.T) {
	h := idle(t)
	if err := errors.Join(h.cfg.Database.LimitTool(t.Context(), "w:change", 1), h.tools.read(t.Context())); err != nil {
		t.Fatal(err)
	}
	_, err := h.tools.admit(t.Context(), "r-1", "", plan.Tool{Server: "w", Name: "change"}) // no host holds the run
	if refused, ok := errors.AsType[*plan.ToolError](err); !ok || !refused.NotCalled || !errors.Is(err, errLeft) {
		t.Errorf("the call is answered with %v", err)
	}
	if limits, err := h.cfg.Database.ToolLimits(t.Context()); err != nil || len(limits) != 1 || limits[0].UnderWay != 0 {
		t.Errorf("the call keeps others waiting: %+v, %v", limits, err)
	}
}

func TestCallThatWaitsForALostDatabaseSaysSoOnce(t *testing.T) {
	h, log := lostHost(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond) // many looks
	defer cancel()
	_ = h.tools.await(ctx, "r-1", "", "w1/1", "w:change", make(chan struct{}, 1))
	if lines := strings.Count(log.String(), "a call waits for the database"); lines > 1 {
		t.Errorf("the log has %d lines", lines)
	}
}
