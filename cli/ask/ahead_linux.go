package ask

import "golang.org/x/sys/unix"

// terminalInput is the input of the terminal with this file descriptor. Its
// methods ignore errors; the question then appears as if no input were pending.
type terminalInput uintptr

func (t terminalInput) waits() bool {
	bytes, err := unix.IoctlGetInt(int(t), unix.TIOCINQ)
	return err == nil && bytes > 0
}

func (t terminalInput) drop() { _ = unix.IoctlSetInt(int(t), unix.TCFLSH, unix.TCIFLUSH) }
