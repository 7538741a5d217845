package git

import (
	"strings"
	"testing"
)

// A shell names the missing program, git only the end of its connection.
func TestMissingLFSIsNamedByItsInstallation(t *testing.T) {
	t.Parallel()
	for _, stderr := range []string{
		"git-lfs filter-process: 1: git-lfs: not found\nfatal: the remote end hung up unexpectedly\n",             // dash
		"git-lfs clean -- 'a.bin': git-lfs: command not found\nfatal: a.bin: clean filter 'lfs' failed\n",         // bash
		"sh: git-lfs: not found\nerror: external filter 'git-lfs clean -- %f' failed 127\nfatal: a.bin: failed\n", // busybox
	} {
		err := gitOutput{exit: 128, stderr: stderr}.failure("say what is changed")
		if !strings.HasSuffix(err.Error(), "git-lfs, which is not installed; install it, then try again") {
			t.Errorf("got %v", err)
		}
	}
}
