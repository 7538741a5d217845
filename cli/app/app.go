package app

import (
	"context"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"github.com/spf13/pflag"

	"replan/agent/runner"
	"replan/agent/session"
	"replan/agent/store"
	"replan/cli/ask"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/mcpclient/child"
	"replan/mcpclient/workspace/undo"
)

// App opens what a command needs. The settings are in force once [App.Complete] has
// read them.
type App struct {
	version  string
	io       IO
	settings *config.Options
	store    *store.Store
	out      *Output
	slash    func(*App) SlashCommands
	chat     *Chat        // that the command was typed into; nil on the command line
	follows  *atomic.Bool // a run that workers carry out
	pathLeft []string     // folders of PATH from which no program is taken by its name
}

// SlashCommands are the commands of the chat, which begin with a slash.
type SlashCommands interface {
	// Answer runs a line of the chat of a session.
	Answer(ctx context.Context, of *Services, now runner.SlashState, line string) (runner.Answer, error)
	// List returns all commands with their arguments.
	List() []session.Completion
}

// New returns the app of a version of the program. Slash returns the commands of the
// chat for an app.
func New(version string, std IO, slash func(*App) SlashCommands) *App {
	a := &App{version: version, io: std, settings: &config.Options{}, slash: slash, follows: new(atomic.Bool)}
	a.out = newOutput(a)
	return a
}

// Complete reads the environment and the configuration.
func (a *App) Complete(flags *pflag.FlagSet) error {
	workspace, err := a.io.Getwd()
	if err != nil {
		return exit.Usage("the current folder cannot be read: %w", err)
	}
	if err := a.settings.Complete(flags, config.Environment{Workspace: workspace, Getenv: a.io.Getenv, Terminal: a.io.Terminal}); err != nil {
		return err
	}
	a.store = newStore(a.Folders().Dirs)
	environ, left := child.OutsidePath(os.Environ(), workspace)
	if left == nil {
		return nil
	}
	a.pathLeft = left
	// For every program that is started by its name, here and in children.
	return exit.Wrap("leave folders of the workspace out of PATH", os.Setenv("PATH", child.Variable(environ, "PATH")))
}

// newStore returns the store for dirs, which knows of killed undos.
func newStore(dirs store.Dirs) *store.Store {
	s := store.New(dirs)
	s.UseUndoRecords(func(run string) bool { return undo.AllUndone(s.Runs.Dir, run) })
	return s
}

// With returns an app with other settings.
func (a *App) With(change func(*config.Options)) *App {
	other, settings := *a, *a.settings
	change(&settings)
	other.settings = &settings
	if dirs := settings.Folders().Dirs; dirs != a.Folders().Dirs {
		other.store = newStore(dirs)
	}
	other.out = newOutput(&other)
	return &other
}

// IO returns the program's input and output.
func (a *App) IO() IO { return a.io }

// Store returns what lies on disk.
func (a *App) Store() *store.Store { return a.store }

// Out returns what prints the output of the command.
func (a *App) Out() *Output { return a.out }

// Version returns the version of the program.
func (a *App) Version() string { return a.version }

// PathLeft returns the folders of PATH from which no program is taken by its name.
func (a *App) PathLeft() []string { return a.pathLeft }

// Screen reports whether the full screen can be opened.
func (a *App) Screen() bool {
	return a.Asks() && !a.Form().Plain && a.io.Getenv("TERM") != "dumb"
}

// Asks reports whether a user is present to answer questions, line by line.
func (a *App) Asks() bool { return a.io.Terminal && a.Form().Format == config.OutputText }

// Chat is the chat that a command was typed into.
type Chat struct {
	services *Services
	then     session.Command
}

// InChat returns an app for a command that was typed into the chat of a session. The command
// asks no questions, and what it writes to out becomes the answer.
func (a *App) InChat(services *Services, out io.Writer) *App {
	in := a.With((*config.Options).PrintText)
	in.io.In, in.io.Out, in.io.Err, in.io.Terminal = strings.NewReader(""), out, out, false
	in.chat = &Chat{services: services}
	in.out = newOutput(in) // the answer is no terminal, even if the run is printed on one
	return in
}

// Chat returns the chat that the command was typed into; nil on the command line.
func (a *App) Chat() *Chat { return a.chat }

// Services returns what the session of the chat works with.
func (c *Chat) Services() *Services { return c.services }

// HandOver has the session carry out a command next.
func (c *Chat) HandOver(next session.Command) { c.then = next }

// Next returns the command that the session carries out next; nil is none.
func (c *Chat) Next() session.Command { return c.then }

// Commands returns the commands of the chat.
func (a *App) Commands() SlashCommands { return a.slash(a) }

// FollowWorkers notes that workers carry out the run of this command.
func (a *App) FollowWorkers() { a.follows.Store(true) }

// SecondInterrupt says what happens while the program does not end yet.
func (a *App) SecondInterrupt() string {
	if a.follows.Load() {
		return "leaving the run to the workers; a third interrupt exits at once"
	}
	return "stopping; a third interrupt exits at once and may leave processes running"
}

// Input returns the answers of the user. Reading describes the operation in the error.
func (a *App) Input(reading string) (*Input, error) {
	answers, err := ask.NewInput(a.io.In, a.io.Quiet)
	if err != nil {
		return nil, exit.Wrap(reading, err)
	}
	return &Input{answers, a.out, a.io.Out}, nil
}
