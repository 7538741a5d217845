//go:build unix

package crash

import (
	"os/signal"
	"syscall"
)

// watches reports whether a watcher can give the terminal back on this system.
const watches = true

// ignoreSignals keeps the watcher alive where the program's whole group is
// signalled, and lets it change a terminal that the shell has taken back.
func ignoreSignals() {
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGTTOU, syscall.SIGTSTP)
}
