//go:build unix

package postgrestest

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// runUnprivileged has the command run in a session of its own, so that Ctrl-C does not
// end it before its files are removed. PostgreSQL refuses root, who gives the files to
// another user.
func runUnprivileged(cmd *exec.Cmd, files []string) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if os.Geteuid() != 0 {
		return nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return err
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return err
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	for _, file := range files {
		if err := os.Chown(file, int(uid), int(gid)); err != nil {
			return err
		}
	}
	return nil
}
