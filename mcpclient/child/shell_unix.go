//go:build !windows

package child

import (
	"os/exec"
	"syscall"
)

// Shell is the program that runs scripts.
const Shell = "sh"

func shellArgs(script string) []string { return []string{"-c", script} }

// wholeLine does nothing: arguments reach a program unchanged.
func wholeLine(*exec.Cmd, string) {}

// interrupt sends SIGINT to the process group, as Ctrl-C does. Tools that
// handle it remove their temporary files; those that are stopped continue to do so.
func interrupt(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) // an error means it is already gone
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT)
}
