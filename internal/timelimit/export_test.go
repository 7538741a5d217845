package timelimit

import "time"

// Stopped makes the limit believe that the program was stopped for d: the clock shows that
// time, and timers that are due fire at once.
func (l *Limit) Stopped(d time.Duration) {
	l.mu.Lock()
	l.since = l.since.Add(-d)
	l.mu.Unlock()
	l.expire()
}
