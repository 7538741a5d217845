//go:build unix

package tty

import "golang.org/x/sys/unix"

// inForeground reports whether this process may change the modes of its terminal.
// A job in the background would be stopped for it.
func inForeground(fd uintptr) bool {
	group, err := unix.IoctlGetInt(int(fd), unix.TIOCGPGRP) //nolint:gosec // a file descriptor
	return err == nil && group == unix.Getpgrp()
}
