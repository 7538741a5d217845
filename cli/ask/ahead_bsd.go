//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package ask

import "golang.org/x/sys/unix"

// terminalInput is the input of the terminal with this file descriptor. What
// fails leaves it as it is: then a question is put as if nothing were there.
type terminalInput uintptr

const (
	fionread = 0x4004667f // from <sys/filio.h>: bytes that can be read
	fread    = 1          // from <sys/fcntl.h>: the input of a terminal
)

func (t terminalInput) waits() bool {
	bytes, err := unix.IoctlGetInt(int(t), fionread)
	return err == nil && bytes > 0
}

func (t terminalInput) drop() { _ = unix.IoctlSetPointerInt(int(t), unix.TIOCFLUSH, fread) }
