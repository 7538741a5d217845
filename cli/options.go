package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"replan/agent/event"
	"replan/agent/store/journal"
	planfiles "replan/agent/store/plans"
	"replan/internal/untrusted"
	"replan/planning/plan"

	"replan/agent/store"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/tty"
	"replan/mcpclient/child"
	planfit "replan/planning/fit"
	"replan/themes"
	"replan/tui/draw"
	"replan/tui/plain"

	"github.com/spf13/pflag"
)

// options is the environment of a command: settings, input and output.
type options struct {
	config.Options

	io          IO
	store       *store.Store
	goOn        bool         // --continue
	inDoubt     string       // the decision about steps in doubt, on resume or of a run of workers
	chatContext *chatContext // the chat that the command was typed into; nil on the command line
	opened      func() *tty.Terminal
	again       string            // the command that runs a deleted run again; "" if runs are kept
	follows     *atomic.Bool      // a run that workers carry out
	settings    *planfit.Settings // that drive all models; nil follows what is known of them
	pathLeft    []string          // folders of PATH from which no program is taken by its name
}

// Commands, grouped by subject. Each group has access to the options.
type (
	plans   struct{ *options } // replan plan
	runs    struct{ *options } // replan runs, undo and replay
	router  struct{ *options } // replan intent, route and compose
	chat    struct{ *options } // chat commands that begin with a slash
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
		return exit.Usage("the current folder cannot be read: %w", err)
	}
	if err := o.Complete(flags, config.Environment{Workspace: workspace, Getenv: o.io.Getenv, Terminal: o.io.Terminal}); err != nil {
		return err
	}
	o.store = newStore(o.Dirs)
	environ, left := child.OutsidePath(os.Environ(), workspace)
	if left == nil {
		return nil
	}
	o.pathLeft = left
	// For every program that is started by its name, here and in children.
	return exit.Wrap("leave folders of the workspace out of PATH", os.Setenv("PATH", child.Variable(environ, "PATH")))
}

// tty returns the terminal that text is printed on; nil is none.
func (o *options) tty() *tty.Terminal {
	if o.opened == nil {
		o.opened = sync.OnceValue(func() *tty.Terminal {
			if o.chatContext != nil || o.Output != config.OutputText {
				return nil
			}
			return tty.Open(o.io.Out, tty.Options{
				Themes: o.ThemeSet(), Theme: o.ThemeName, Getenv: o.io.Getenv,
				Mode: themes.Mode{ASCII: o.ASCII, NoColor: o.NoColor, Still: o.ReducedMotion},
			})
		})
	}
	return o.opened()
}

// coloured returns a writer of styled text to out, standard output or standard
// error.
func (o *options) coloured(out io.Writer) io.Writer {
	if t := o.tty(); t != nil {
		return t.Writer(out)
	}
	return out
}

// look returns how to draw text; nil is without colours.
func (o *options) look() *draw.Look {
	if t := o.tty(); t != nil {
		return t.Look
	}
	return nil
}

// log returns the line log of a session.
func (o *options) log(out io.Writer, session string) *plain.Log {
	return plain.New(out, session, o.lines())
}

// lines says how to print lines.
func (o *options) lines() plain.Options {
	how := plain.Options{ASCII: o.ASCII, Again: o.again}
	if t := o.tty(); t != nil {
		how.Look, how.Width = t.Look, t.Width
	}
	return how
}

// printed writes lines to standard output.
func (o *options) printed(write func(*plain.Printer)) error {
	var b strings.Builder
	write(plain.NewPrinter(&b, o.lines()))
	return o.print(b.String())
}

// screen reports whether the full screen can be opened.
func (o *options) screen() bool {
	return o.io.Terminal && !o.Plain && o.Output == config.OutputText && o.io.Getenv("TERM") != "dumb"
}

// asks reports whether somebody is present to answer questions, line by line.
func (o *options) asks() bool { return o.io.Terminal && o.Output == config.OutputText }

// print writes text to standard output.
func (o *options) print(text string) error {
	_, err := io.WriteString(o.coloured(o.io.Out), text)
	return exit.Wrap(exit.Writing, err)
}

// printJSON writes a value to standard output as one line of JSON.
func (o *options) printJSON(v any) error { return writeJSON(o.io.Out, v) }

// writeJSON writes a value as one line of JSON without HTML escapes, whose characters
// are safe on a terminal.
func writeJSON(to io.Writer, v any) error {
	line, err := plan.EncodeJSON(v)
	if err == nil {
		_, err = to.Write(append(untrusted.JSON(line), '\n'))
	}
	return exit.Wrap(exit.Writing, err)
}

// lineWriter returns a function that writes a line to b. It makes control characters
// in external text visible, so that such text cannot add lines.
func lineWriter(b *strings.Builder) func(format string, args ...any) {
	return func(format string, args ...any) {
		text := untrusted.Visible(fmt.Sprintf(format, args...))
		b.WriteString(strings.ReplaceAll(text, "\n", " ") + "\n")
	}
}

// named returns a command as the user can type it here: in the chat, commands
// begin with a slash. Every text that mentions a command must use it.
func (o *options) named(command string) string {
	if o.chatContext != nil {
		return "/" + command
	}
	return "replan " + command
}

// outsideChat returns a text, or "" in the chat, for text about flags that the
// chat does not take.
func (o *options) outsideChat(text string) string {
	if o.chatContext != nil {
		return ""
	}
	return text
}

// unopened returns the error for a plan, run or session that cannot be opened.
func (o *options) unopened(err error) error {
	code := "unreadable"
	if unknown, ok := errors.AsType[*store.NotFoundError](err); ok {
		err = fmt.Errorf("%w; see %q", err, o.named(map[string]string{"run": "runs", "plan": "plan list"}[unknown.Kind]))
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
	case errors.As(err, &damaged), errors.Is(err, event.ErrNoEvents):
		code = "damaged"
	}
	return &exit.Error{Status: exit.BadUsage, Code: code, Err: err}
}

// diff returns a diff as text to print on out. Only a terminal gets styles.
func (o *options) diff(out io.Writer, text string) string {
	if t := o.tty(); t != nil && text != "" && tty.Is(out) {
		return t.Diff(text)
	}
	return untrusted.VisibleTabs(text)
}
