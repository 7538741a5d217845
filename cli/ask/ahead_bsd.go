//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package ask

import "golang.org/x/sys/unix"

// terminalInput is the input of the terminal with this file descriptor. Its
// methods ignore errors; the question then appears as if no input were pending.
type terminalInput uintptr

const (
	fionread = 0x4004667f // from <sys/filio.h>: number of readable bytes
	fread    = 1          // from <sys/fcntl.h>: input queue of a terminal
)

func (t terminalInput) waits() bool {
	bytes, err := unix.IoctlGetInt(int(t), fionread)
	return err == nil && bytes > 0
}

func (t terminalInput) drop() { _ = unix.IoctlSetPointerInt(int(t), unix.TIOCFLUSH, fread) }
