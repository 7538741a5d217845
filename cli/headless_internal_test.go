package cli

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

func TestWhatCannotBeToldIsSaidInWords(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"a pipe that nobody reads": {&fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}, "write to standard output: nobody reads it any more"},
		"a disk that is full":      {&fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}, "write to standard output: no space left on device"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := wrap(writing, c.err).Error(); got != c.want {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
}

func TestErrorsWithoutAnExitCodeAreWrongUsage(t *testing.T) {
	if exit := report(IO{Err: &strings.Builder{}}, false, errors.New("limits.max_steps takes a whole number")); exit != exitUsage {
		t.Errorf("exit %d", exit)
	}
}
