package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"replan/agent/store/journal"
	planfiles "replan/agent/store/plans"
	"replan/internal/untrusted"
	"replan/planning/plan"

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

// The commands, by what they are about. Each has the options at hand.
type (
	plans   struct{ *options } // replan plan
	runs    struct{ *options } // replan runs, undo and replay
	router  struct{ *options } // replan intent, route and compose
	chat    struct{ *options } // what is typed into the chat with a slash
	screens struct{ *options } // the full screen
	wiring  struct{ *options } // opens what a session works with
)

func (o *options) plans() plans     { return plans{o} }
func (o *options) runs() runs       { return runs{o} }
func (o *options) router() router   { return router{o} }
func (o *options) chat() chat       { return chat{o} }
func (o *options) screens() screens { return screens{o} }
func (o *options) wiring() wiring   { return wiring{o} }

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

// print writes text to standard output.
func (o *options) print(text string) error {
	_, err := io.WriteString(o.io.Out, text)
	return wrap(writing, err)
}

// printJSON writes a value to standard output as one line of JSON.
func (o *options) printJSON(v any) error {
	enc := json.NewEncoder(o.io.Out)
	enc.SetEscapeHTML(false)
	return wrap(writing, enc.Encode(v))
}

// sayTo returns what writes a line to b, whatever came from outside made visible
// and kept from making lines of its own.
func sayTo(b *strings.Builder) func(format string, args ...any) {
	return func(format string, args ...any) {
		text := untrusted.Visible(fmt.Sprintf(format, args...))
		b.WriteString(strings.ReplaceAll(text, "\n", " ") + "\n")
	}
}

// named is the name of a command as the user can type it here: in the chat they
// begin with a slash. Every text that names a command goes through it.
func (o *options) named(command string) string {
	if o.talk != nil {
		return "/" + command
	}
	return "replan " + command
}

// unlessTalking returns what is to be said of flags that the chat does not take.
func (o *options) unlessTalking(text string) string {
	if o.talk != nil {
		return ""
	}
	return text
}

// unopened is the failure of a plan, a run or a session that cannot be opened.
func (o *options) unopened(err error) error {
	code := "unreadable"
	var unknown *store.NotFoundError
	if errors.As(err, &unknown) {
		err = fmt.Errorf("%w; %q shows those there are", err, o.named(map[string]string{"run": "runs list", "plan": "plan list"}[unknown.Kind]))
	}
	var ambiguous *plan.AmbiguousIDError
	var damaged *journal.DamageError
	switch {
	case errors.As(err, &ambiguous):
		code = "ambiguous"
	case errors.Is(err, plan.ErrUnknownID), errors.Is(err, fs.ErrNotExist):
		code = "unknown"
	case errors.Is(err, journal.ErrLocked):
		code = "locked"
	case errors.Is(err, planfiles.ErrExists):
		code = "exists"
	case errors.As(err, &damaged), errors.Is(err, journal.ErrEmpty):
		code = "damaged"
	}
	return &failure{exit: exitUsage, code: code, err: err}
}
