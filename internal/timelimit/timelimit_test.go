package timelimit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"replan/internal/timelimit"
)

func TestContextEndsWhenItsTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, limit := timelimit.New(t.Context(), time.Minute)
		defer limit.Stop()
		begun := time.Now()
		<-ctx.Done()
		if got := time.Since(begun); got != time.Minute || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Errorf("ended after %s with %v", got, ctx.Err())
		}
	})
}

func TestTimeInWhichTheProgramIsStoppedDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, limit := timelimit.New(t.Context(), time.Minute)
		defer limit.Stop()
		begun := time.Now()
		time.Sleep(20 * time.Second)
		limit.Stopped(time.Hour)
		<-ctx.Done()
		if got := time.Since(begun); got < 55*time.Second || got > time.Minute || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Errorf("ended after %s with %v", got, ctx.Err())
		}
	})
}

func TestClockReportsHowLongItRan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, limit := timelimit.New(t.Context(), time.Minute)
		defer limit.Stop()
		time.Sleep(20 * time.Second)
		release := limit.Hold()
		time.Sleep(time.Hour)
		held := limit.Ran()
		release()
		time.Sleep(5 * time.Second)
		if after := limit.Ran(); held != 20*time.Second || after != 25*time.Second {
			t.Errorf("got %s while it was held, then %s", held, after)
		}
	})
}

func TestHeldClockDoesNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, limit := timelimit.New(t.Context(), time.Minute)
		defer limit.Stop()
		begun := time.Now()
		time.Sleep(20 * time.Second)
		first, second := limit.Hold(), limit.Hold()
		time.Sleep(time.Hour)
		first()
		first() // releases once
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Fatalf("ended while held: %v", ctx.Err())
		}
		second()
		<-ctx.Done()
		if got := time.Since(begun); got != 2*time.Hour+time.Minute {
			t.Errorf("ended after %s", got)
		}
	})
}

func TestStopAndParentCancel(t *testing.T) {
	ctx, limit := timelimit.New(t.Context(), time.Hour)
	limit.Stop()
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("after Stop: %v", ctx.Err())
	}
	parent, cancel := context.WithCancel(t.Context())
	ctx, limit = timelimit.New(parent, time.Hour)
	defer limit.Stop()
	cancel()
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("after the parent: %v", ctx.Err())
	}
}

func TestContextInsideAnotherLimitReportsItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outer, limit := timelimit.New(t.Context(), time.Second)
		defer limit.Stop()
		inner, within := timelimit.New(outer, time.Hour)
		defer within.Stop()
		<-inner.Done()
		if !errors.Is(inner.Err(), context.DeadlineExceeded) {
			t.Errorf("got %v", inner.Err())
		}
	})
}
