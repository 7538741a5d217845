//go:build !linux

package child

import "os/exec"

// tie does nothing: only Linux ends a child with its parent.
func tie(*exec.Cmd) func() { return func() {} }
