//go:build !windows

package workspace

import (
	"os/exec"
	"syscall"
)

// interrupt asks a child and its children to end, as Ctrl-C would: tools that
// know it take their temporary files with them.
func interrupt(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) } // gone already: as wished
