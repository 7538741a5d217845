package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"replan/agent/store"
	"replan/cli/config"

	"github.com/spf13/pflag"
)

// options is what a command works with: what is in force, and where to.
type options struct {
	config.Options

	io      IO
	store   *store.Store
	goOn    bool   // --continue
	inDoubt string // what a resume does about steps in doubt
	talk    *talk  // the chat in which the command was typed; nil on the command line
}

// complete reads the environment and the configuration.
func (o *options) complete(flags *pflag.FlagSet) error {
	workspace, err := o.io.Getwd()
	if err != nil {
		return usage("the current folder cannot be read: %w", err)
	}
	if err := o.Complete(flags, config.Environment{Workspace: workspace, Getenv: o.io.Getenv, Terminal: o.io.Terminal}); err != nil {
		return err
	}
	o.store = store.New(o.Dirs)
	return nil
}

// screen reports whether the full screen can be opened.
func (o *options) screen() bool {
	return o.io.Terminal && !o.Plain && o.Output == config.OutputText && o.io.Getenv("TERM") != "dumb"
}

// asks reports whether somebody sits there to be asked, line by line.
func (o *options) asks() bool { return o.io.Terminal && o.Output == config.OutputText }

// writing is what is being done when something is told.
const writing = "write to standard output"

// wrap says what was being done when err came up.
func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	var path *fs.PathError
	switch {
	case errors.Is(err, syscall.EPIPE):
		err = errors.New("nobody reads it any more")
	case errors.As(err, &path) && doing == writing:
		err = path.Err // the name of a device says nothing
	}
	return &failure{exit: 1, code: "failed", err: fmt.Errorf("%s: %w", doing, err)}
}
