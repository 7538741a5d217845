//go:build !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd && !windows

package ask

// terminalInput is the input of a terminal on a system where nothing in it can
// be dropped. What was typed ahead in one piece is dropped with the reader.
type terminalInput uintptr

func (terminalInput) waits() bool { return false }

func (terminalInput) drop() {}
