//go:build unix

package crash

import (
	"os/signal"
	"syscall"
)

// watches reports whether a watcher can restore the terminal on this system.
const watches = true

// ignoreSignals keeps the watcher alive when the program's whole process group is
// signaled. It also lets the watcher change a terminal that the shell has taken
// back.
func ignoreSignals() {
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGTTOU, syscall.SIGTSTP)
}
