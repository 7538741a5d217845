//go:build !windows

package child

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
)

// Isolate makes cmd, when it starts, the leader of a session and a process group
// of its own. It has no controlling terminal then: it can neither draw on the
// screen nor type into it, which would open gates. Call it before cmd is started.
func Isolate(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
}

// Terminate asks every process of cmd's group to end. That nobody is left is
// not an error.
func Terminate(cmd *exec.Cmd) error { return signal(cmd, syscall.SIGTERM) }

// Kill ends every process of cmd's group, whether or not cmd itself has ended
// already. That nobody is left is not an error. A process that left the group
// by itself is not reached.
func Kill(cmd *exec.Cmd) error { return signal(cmd, syscall.SIGKILL) }

// Kill ends every process of the group. That nobody is left is not an error.
func (g Group) Kill() error { return signalGroup(g.PID, syscall.SIGKILL) }

func signal(cmd *exec.Cmd, sig syscall.Signal) error {
	if cmd.Process == nil {
		return nil
	}
	return signalGroup(cmd.Process.Pid, sig)
}

func signalGroup(pid int, sig syscall.Signal) error {
	err := syscall.Kill(-pid, sig)
	// Darwin says EPERM of a group whose members have all ended.
	if err == nil || errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) {
		return nil
	}
	return fmt.Errorf("sending %s to the process group %d: %w", sig, pid, err)
}
