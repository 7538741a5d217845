package exit

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"replan/internal/untrusted"
)

// Exit codes other than those of runs.
const (
	Failed      = 1
	BadUsage    = 2 // also an invalid plan, and what cannot be opened
	Crashed     = 2 // as for any Go program
	Interrupted = 130
)

// Error is an error with its exit code.
type Error struct {
	Status int
	Code   string // for --output json
	Err    error  // ErrReported prints nothing

	Unparsed bool // parsing stopped at a wrong flag
}

// Error returns the sentence that is printed.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrReported is the cause of an error that has been reported already.
var ErrReported = errors.New("reported")

// Usage returns the error for an invalid command line.
func Usage(format string, args ...any) error {
	return &Error{Status: BadUsage, Code: "usage", Err: fmt.Errorf(format, args...)}
}

// Writing describes the operation in errors about output.
const Writing = "write to standard output"

// Wrap prefixes err with the operation that failed; nil stays nil.
func Wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	var path *fs.PathError
	switch {
	case errors.Is(err, syscall.EPIPE):
		err = errors.New("the reader closed it")
	case errors.As(err, &path) && doing == Writing:
		err = path.Err // the name of a device is not helpful
	}
	return &Error{Status: Failed, Code: "failed", Err: fmt.Errorf("%s: %w", doing, err)}
}

// OneLine puts an error's text on one line; it may quote a server.
func OneLine(s string) string { return untrusted.Line(strings.Join(strings.Fields(s), " ")) }
