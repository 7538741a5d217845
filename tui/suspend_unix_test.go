//go:build unix

package tui_test

import (
	"syscall"
	"testing"

	"replan/tui"
)

func TestNoChildStartsWhileTheProgramIsSuspended(t *testing.T) {
	err := tui.RunSuspension(func() error {
		if syscall.ForkLock.TryLock() {
			syscall.ForkLock.Unlock()
			t.Error("a child can start while the program is suspended")
		}
		return syscall.Kill(syscall.Getpid(), syscall.SIGCONT) // as the shell's fg
	})
	if err != nil {
		t.Error(err)
	}
}
