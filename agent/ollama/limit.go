package ollama

import (
	"context"
	"time"

	"replan/planning/prompt"
)

// limit bounds a request in time. heard is to be called with each piece that
// comes in, end when all is over.
func limit(ctx context.Context, req prompt.Request) (limited context.Context, heard, end func()) {
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
	heard = func() { silence.Reset(req.Timeout) }
	end = func() {
		silence.Stop()
		cancel(nil)
	}
	return limited, heard, end
}

// readAsItComes says whether somebody reads the reply while it comes in. Such a
// one may take as long as it goes on: what has been read already is not to be
// lost for its length. Whoever waits for a plan or for arguments has nothing of
// the half of them.
func readAsItComes(req prompt.Request) bool {
	switch req.Purpose {
	case prompt.PurposeChat, prompt.PurposeSynthesis:
		return true
	case prompt.PurposeStep:
		return len(req.Format) == 0 // its own words, not the arguments of a call
	default:
		return false
	}
}
