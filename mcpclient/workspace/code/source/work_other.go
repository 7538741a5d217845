//go:build !windows

package source

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns how long the calling thread has run on a processor.
func processorTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0 // a system without this clock has no limit
	}
	return time.Duration(t.Nano())
}
