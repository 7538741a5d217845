//go:build !windows

package lsp_test

import (
	"os"

	"golang.org/x/sys/unix"
)

func leadsSession() bool {
	session, err := unix.Getsid(0)
	return err == nil && session == os.Getpid()
}

func runs(pid int) bool { return unix.Kill(pid, 0) == nil }
