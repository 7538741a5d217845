package exit_test

import (
	"io/fs"
	"syscall"
	"testing"

	"replan/cli/exit"
)

func TestFailedOutputIsReported(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"closed pipe": {&fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}, "write to standard output: the reader closed it"},
		"full disk":   {&fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}, "write to standard output: no space left on device"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := exit.Wrap(exit.Writing, c.err).Error(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
