package server

import (
	"sync"
	"time"
)

// reportInterval is the least time between two reports of what a starting server
// writes.
const reportInterval = 200 * time.Millisecond

// logReports report that the log of a server has grown.
type logReports struct {
	mu       sync.Mutex
	grown    chan struct{} // closed and replaced when the log grows, if a caller waits for that
	reported time.Time     // when a line was last reported
}

// written tells those who wait that the log has grown. It reports whether the watcher is to
// hear of a line of a server that starts.
func (l *logReports) written(starting bool) (tell bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if tell = starting && time.Since(l.reported) > reportInterval; tell {
		l.reported = time.Now()
	}
	if l.grown != nil {
		close(l.grown)
		l.grown = nil
	}
	return tell
}

// next returns a channel that is closed when the log grows.
func (l *logReports) next() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grown == nil {
		l.grown = make(chan struct{})
	}
	return l.grown
}
