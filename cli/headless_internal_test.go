package cli

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
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
			if got := wrap(writing, c.err).Error(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestErrorWithoutExitCodeIsUsageError(t *testing.T) {
	if exit := report(IO{Err: &strings.Builder{}}, false, errors.New("limits.max_steps takes a whole number")); exit != exitUsage {
		t.Errorf("got exit code %d, want %d", exit, exitUsage)
	}
}
