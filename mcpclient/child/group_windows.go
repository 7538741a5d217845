//go:build windows

package child

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// createNoWindow gives a process a console of its own, which nobody sees.
const createNoWindow = 0x08000000

// Isolate makes cmd, when it starts, the leader of a process group of its own,
// with a console of its own: it can neither draw on the screen nor type into
// it, which would open gates. Call it before cmd is started.
func Isolate(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.CreationFlags |= syscall.CREATE_NEW_PROCESS_GROUP | createNoWindow
}

// Terminate ends the processes that cmd has started, and cmd: Windows has no
// way to ask.
func Terminate(cmd *exec.Cmd) error { return Kill(cmd) }

// Kill ends the processes that cmd has started, and cmd.
func Kill(cmd *exec.Cmd) error {
	if cmd.Process == nil {
		return nil
	}
	// The tree can only be found while cmd itself is alive.
	//nolint:gosec // the argument is a number
	if err := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run(); err == nil {
		return nil
	}
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ending process %d: %w", cmd.Process.Pid, err)
	}
	return nil
}

// Kill ends the process that leads the group and those that it has started.
func (g Group) Kill() error {
	//nolint:gosec // the argument is a number
	if err := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(g.PID)).Run(); err != nil {
		return fmt.Errorf("ending process %d: %w", g.PID, err)
	}
	return nil
}
