//go:build windows

package child

import (
	"os/exec"
)

// Shell is the program that runs scripts.
const Shell = "cmd"

func shellArgs(script string) []string { return []string{"/d", "/s", "/c", script} }

// wholeLine gives cmd its line untouched: it reads quotes in a way of its own,
// which the usual quoting of arguments would spoil. Call it after Isolate.
func wholeLine(cmd *exec.Cmd, script string) {
	cmd.SysProcAttr.CmdLine = `cmd /d /s /c "` + script + `"`
}

// interrupt ends a child and its children: there is no way to ask.
func interrupt(cmd *exec.Cmd) { _ = Terminate(cmd) } // gone already: as wished
