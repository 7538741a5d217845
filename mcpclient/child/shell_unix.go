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

// interrupt asks the process group to end, as Ctrl-C would. Tools that handle it
// remove their temporary files.
func interrupt(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) } // gone already: as wished
