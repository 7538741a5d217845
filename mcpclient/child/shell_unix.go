//go:build !windows

package child

import (
	"os/exec"
	"syscall"
)

// Shell reads the scripts of calls.
const Shell = "sh"

func shellArgs(script string) []string { return []string{"-c", script} }

// wholeLine has nothing to do: arguments reach a program as they are.
func wholeLine(*exec.Cmd, string) {}

// interrupt asks a child and its children to end, as Ctrl-C would: tools that
// know it take their temporary files with them.
func interrupt(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) } // gone already: as wished
