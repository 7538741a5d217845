//go:build windows

package child

import (
	"os/exec"
)

// Shell is the program that runs scripts.
const Shell = "cmd"

func shellArgs(script string) []string { return []string{"/d", "/s", "/c", script} }

// wholeLine passes the line to cmd unchanged. cmd has its own quoting rules,
// which the usual quoting of arguments would break. Call it after Isolate.
func wholeLine(cmd *exec.Cmd, script string) {
	cmd.SysProcAttr.CmdLine = `cmd /d /s /c "` + script + `"`
}

// interrupt kills a child and its children, because Windows cannot ask them to
// end.
func interrupt(cmd *exec.Cmd) { _ = Terminate(cmd) } // an error means it is already gone
