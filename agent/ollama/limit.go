package ollama

import (
	"cmp"
	"context"
	"time"

	"replan/planning/pace"
	"replan/planning/prompt"
)

// limit applies the time limit that the caller set for a request. Callers call extend
// for each piece received and end when the request is over.
func limit(ctx context.Context, req prompt.Request) (limited context.Context, extend, end func()) {
	if req.Timeout <= 0 {
		return ctx, func() {}, func() {}
	}
	cause := &TimeoutError{After: req.Timeout, Silent: readAsItComes(req), Err: context.DeadlineExceeded}
	if !cause.Silent {
		limited, cancel := context.WithTimeoutCause(ctx, req.Timeout, cause)
		return limited, func() {}, cancel
	}
	limited, cancel := context.WithCancelCause(ctx)
	silence := time.AfterFunc(req.Timeout, func() { cancel(cause) })
	extend = func() { silence.Reset(req.Timeout) }
	end = func() {
		silence.Stop()
		cancel(nil)
	}
	return limited, extend, end
}

// limitByMachine applies the time limits of a request without a limit of its caller.
// One is how long nothing may come. The other, unless the reply is read as it comes,
// is how long it may take in all.
func limitByMachine(ctx context.Context, req prompt.Request, f pace.Forecast) (limited context.Context, extend, end func()) {
	silence, whole := f.Limits(cmp.Or(req.MaxTokens, prompt.DefaultMaxTokens), len(req.Tools) > 0) // a server holds a call back until it is whole
	limited, cancel := context.WithCancelCause(ctx)
	after := func(d time.Duration, silent bool) *time.Timer {
		return time.AfterFunc(d, func() {
			cancel(&TimeoutError{After: d.Round(time.Second), Silent: silent, Speed: f.Speed, Err: context.DeadlineExceeded})
		})
	}
	timers := []*time.Timer{after(silence, true)}
	if !readAsItComes(req) {
		timers = append(timers, after(whole, false))
	}
	extend = func() { timers[0].Reset(silence) }
	end = func() {
		for _, t := range timers {
			t.Stop()
		}
		cancel(nil)
	}
	return limited, extend, end
}

// readAsItComes reports whether the reply is read as it streams. Such a
// reply may take as long as it keeps coming: what was already read must not be
// lost. A partial plan or partial arguments are useless.
func readAsItComes(req prompt.Request) bool {
	switch req.Purpose {
	case prompt.PurposeChat, prompt.PurposeSynthesis:
		return true
	case prompt.PurposeStep:
		return len(req.Format) == 0 // text, not the arguments of a call
	default:
		return false
	}
}
