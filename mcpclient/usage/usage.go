package usage

import (
	"slices"
	"sync"
	"time"
)

// kept is how many durations the median covers.
const kept = 100

// Record holds the calls of one server since the program started. The zero value is
// empty and ready for use. It is safe for concurrent use.
type Record struct {
	mu        sync.Mutex
	calls     int
	failures  int
	durations []time.Duration // of the newest calls, in a ring
	next      int             // where the next duration goes
	last      time.Duration
}

// Summary is the content of a record.
type Summary struct {
	Calls    int           // that have ended
	Failures int           // of these
	Last     time.Duration // of the newest call
	Median   time.Duration // of the newest hundred calls
}

// Add records a call that has ended.
func (r *Record) Add(took time.Duration, failed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	if failed {
		r.failures++
	}
	r.last = took
	if len(r.durations) < kept {
		r.durations = append(r.durations, took)
		return
	}
	r.durations[r.next] = took
	r.next = (r.next + 1) % kept
}

// Summary returns the content.
func (r *Record) Summary() Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Summary{Calls: r.calls, Failures: r.failures, Last: r.last}
	if n := len(r.durations); n > 0 {
		sorted := slices.Sorted(slices.Values(r.durations))
		s.Median = (sorted[(n-1)/2] + sorted[n/2]) / 2
	}
	return s
}
