package host

import (
	"log/slog"
	"sync"
	"time"
)

const (
	// unheard is how long the engine may listen to queues after [dbos.ListenQueues] has
	// left them out. Until then this worker would take the run that it puts back.
	unheard = 2 * time.Second
	// The pause of a worker that cannot open runs is long enough for others to take the
	// run first. The engine puts it back up to a second late.
	firstPause   = 2 * unheard
	longestPause = time.Minute
)

// openings are how the attempts of a worker to open runs went.
type openings struct {
	log *slog.Logger

	mu      sync.Mutex
	problem string        // of the last attempt; "" if it succeeded
	pause   time.Duration // after it, without taking runs
	until   time.Time     // the end of the pause
}

// paused reports whether the worker takes no runs for now.
func (o *openings) paused() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Now().Before(o.until)
}

// lastProblem returns why the last attempt failed; "" if it succeeded.
func (o *openings) lastProblem() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.problem
}

// succeeded notes that this worker can open runs.
func (o *openings) succeeded() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.problem, o.pause, o.until = "", 0, time.Time{}
}

// failed makes this worker take no runs for a while, since it may be at fault.
func (o *openings) failed(why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.problem != why.Error() {
		o.log.Error("this worker cannot open runs; it takes none for a while, and tries again", "error", why)
	}
	o.problem = why.Error()
	if now := time.Now(); !now.Before(o.until) { // else others failed at the same time
		o.pause = min(max(firstPause, 2*o.pause), longestPause)
		o.until = now.Add(o.pause)
	}
}
