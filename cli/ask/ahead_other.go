//go:build !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd && !windows

package ask

// terminalInput is the input of a terminal on a system without a way to drop
// pending input. The reader still drops what was typed ahead in one piece.
type terminalInput uintptr

func (terminalInput) waits() bool { return false }

func (terminalInput) drop() {}
