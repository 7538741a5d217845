//go:build unix

package ask

import (
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// singleKeys makes a terminal deliver each key at once, without showing it. Keys
// such as ctrl+c still send their signals, and output is as before. restore undoes
// that; ok is false if the terminal cannot do it.
func singleKeys(fd uintptr) (restore func(), ok bool) {
	before, err := term.GetState(fd)
	if err != nil {
		return nil, false
	}
	now := *before
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	if err := term.SetState(fd, &now); err != nil {
		return nil, false
	}
	return func() { _ = term.SetState(fd, before) }, true
}
