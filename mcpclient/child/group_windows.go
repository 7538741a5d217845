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

// createNoWindow gives a process its own invisible console.
const createNoWindow = 0x08000000

// Isolate makes cmd the leader of its own process group with its own console
// when it starts. So it can neither draw on the screen nor type into it, which
// could open gates. Call it before cmd starts.
func Isolate(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.CreationFlags |= syscall.CREATE_NEW_PROCESS_GROUP | createNoWindow
}

// Terminate kills cmd and the processes it started, because Windows cannot ask
// them to end.
func Terminate(cmd *exec.Cmd) error { return Kill(cmd) }

// Kill kills cmd and the processes it started.
func Kill(cmd *exec.Cmd) error {
	if cmd.Process == nil {
		return nil
	}
	// The process tree can be found only while cmd itself is alive.
	//nolint:gosec // the argument is a number
	if err := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run(); err == nil {
		return nil
	}
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ending process %d: %w", cmd.Process.Pid, err)
	}
	return nil
}

// Kill kills the group's leader and the processes it started.
func (g Group) Kill() error {
	//nolint:gosec // the argument is a number
	if err := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(g.PID)).Run(); err != nil {
		return fmt.Errorf("ending process %d: %w", g.PID, err)
	}
	return nil
}
