//go:build !windows

package child

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
)

// Isolate makes cmd the leader of its own session and process group when it
// starts. Without a controlling terminal it can neither draw on the screen nor
// type into it, which could open gates. Call it before cmd starts.
func Isolate(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
}

// Terminate sends SIGTERM to every process of cmd's group, and lets those that are
// stopped continue. It returns no error if none is left.
func Terminate(cmd *exec.Cmd) error {
	return errors.Join(signal(cmd, syscall.SIGTERM), signal(cmd, syscall.SIGCONT))
}

// Kill kills every process of cmd's group, even if cmd itself has already
// ended. It returns no error if none is left. It does not reach processes that
// left the group.
func Kill(cmd *exec.Cmd) error { return signal(cmd, syscall.SIGKILL) }

// Kill kills every process of the group, and those with its mark. It returns no
// error if none is left.
func (g Group) Kill() error {
	return errors.Join(signalGroup(g.PID, syscall.SIGKILL), killMarked(g.Mark))
}

func signal(cmd *exec.Cmd, sig syscall.Signal) error {
	if cmd.Process == nil {
		return nil
	}
	return signalGroup(cmd.Process.Pid, sig)
}

func signalGroup(pid int, sig syscall.Signal) error {
	err := syscall.Kill(-pid, sig)
	// Darwin returns EPERM for a group whose members have all ended.
	if err == nil || errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) {
		return nil
	}
	return fmt.Errorf("sending %s to the process group %d: %w", sig, pid, err)
}
