package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"

	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/chat"
	"replan/cli/complete"
	"replan/cli/config"
	"replan/cli/crash"
	"replan/cli/demo"
	"replan/cli/doctor"
	"replan/cli/exit"
	"replan/cli/fit"
	"replan/cli/help"
	"replan/cli/host"
	"replan/cli/logs"
	"replan/cli/mcp"
	"replan/cli/models"
	"replan/cli/plans"
	"replan/cli/route"
	"replan/cli/runs"
	"replan/cli/settings"
	"replan/cli/slash"
	"replan/cli/tools"
	"replan/cli/tty"
	"replan/cli/workers"
	"replan/internal/english"
	"replan/mcpclient/box"
	"replan/planning/intent"
)

// IO is the program's input and output, and whether a person is present.
type IO = app.IO

// System returns the IO of the process.
func System() IO { return app.System() }

// Reentered runs the process as a helper of another one, if that started it as such,
// and returns its exit code.
func Reentered() (status int, ok bool) {
	switch {
	case box.Inside():
		return box.Main(), true
	case crash.Watching():
		return crash.Main(os.Stdin, os.Stdout), true
	default:
		return 0, false
	}
}

// Main runs the program and returns its exit code. The first interrupt stops the
// work in order, a third one exits at once.
func Main(ctx context.Context, args []string, std IO) int {
	if status, ok := Reentered(); ok {
		return status
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := app.New(Version, std, chat.Commands)
	release := onInterrupt(cancel, func(error) { _, _ = fmt.Fprintln(std.Err, "replan: "+a.SecondInterrupt()) })
	defer release()
	defer catchBrokenPipes()()
	defer logs.Libraries(slog.New(slog.DiscardHandler))() // until a command opens the log

	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(std.In)
	root.SetOut(std.Out)
	root.SetErr(std.Err)
	if err := complete.Register(root, completionSource(a)); err != nil {
		return report(std, false, err)
	}
	complete.Hide(root, args)
	failed := holdErrors(root, std.Out)
	err := fang.Execute(ctx, root, fang.WithVersion(Version), fang.WithoutManpage(), fang.WithErrorHandler(func(io.Writer, fang.Styles, error) {}))
	if *failed != nil {
		err = *failed
	}
	return report(std, a.Out().JSON() || unparsed(err) && givenOutput(args) == config.OutputJSON, err)
}

// unparsed reports whether err is a wrong flag, after which nothing was parsed.
func unparsed(err error) bool {
	var f *exit.Error
	return errors.As(err, &f) && f.Unparsed
}

// givenOutput returns the value of --output in the arguments, parsed or not.
func givenOutput(args []string) string {
	var output string
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if value, ok := strings.CutPrefix(arg, "--output="); ok {
			output = value
		} else if arg == "--output" && i+1 < len(args) {
			output = args[i+1]
		}
	}
	return output
}

// holdErrors stores the first error of a command line in the returned pointer and
// hides it from fang. On an error, fang first asks the terminal for its colors,
// and a terminal that does not answer keeps the user waiting. For the same reason
// it answers --help.
func holdErrors(root *cobra.Command, out io.Writer) *error {
	var first error
	hold := func(do func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
		if do == nil {
			return nil
		}
		return func(cmd *cobra.Command, args []string) error {
			if first == nil {
				first = do(cmd, args)
			}
			return nil
		}
	}
	root.PersistentPreRunE = hold(root.PersistentPreRunE)
	commands := []*cobra.Command{root}
	for i := 0; i < len(commands); i++ {
		c := commands[i]
		c.Args, c.RunE = hold(c.Args), hold(c.RunE)
		commands = append(commands, c.Commands()...)
	}
	// A command without its own handler for wrong flags inherits its parent's, so
	// set the children first.
	for _, c := range slices.Backward(commands) {
		wrong := c.FlagErrorFunc()
		c.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
			if asked, all := help.Asked(err); asked && cmd.HasParent() && cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
				first = args.None(cmd, cmd.Flags().Args()) // help for a command that is not there
			} else if asked {
				first = help.Print(out, cmd, all)
			} else {
				first = wrong(cmd, err)
			}
			return nil
		})
	}
	return &first
}

// terminalClosed is the cause of a stop when the terminal goes away.
type terminalClosed struct{}

// Error says what happened.
func (terminalClosed) Error() string { return "the terminal was closed" }

// Is reports that it is a cancellation like any other.
func (terminalClosed) Is(target error) bool { return target == context.Canceled } //nolint:errorlint // compares with the one value

// onInterrupt calls stop at the first interrupt and warn at the second, since
// many users press twice. After that it restores the default handling, so that a
// third interrupt ends the process.
func onInterrupt(stop, warn func(why error)) (release func()) {
	signals := make(chan os.Signal, 2)
	done := make(chan struct{})
	ended := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		defer close(ended)
		for _, do := range []func(error){stop, warn} {
			select {
			case s := <-signals:
				var why error // the user's wish
				if s == syscall.SIGHUP {
					why = terminalClosed{}
				}
				do(why)
			case <-done:
				return
			}
		}
		signal.Stop(signals)
	}()
	return func() {
		signal.Stop(signals)
		close(done)
		<-ended
	}
}

// catchBrokenPipes turns a write to a closed pipe into an error. Otherwise the
// first such write to standard output would end the process at once and leave
// children of the run behind.
func catchBrokenPipes() (release func()) {
	// The signal itself adds nothing to the error.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGPIPE)
	return func() { signal.Stop(signals) }
}

// report prints an error as one sentence and returns the exit code.
func report(std IO, asJSON bool, err error) int {
	if err == nil {
		return 0
	}
	f := &exit.Error{Status: exit.BadUsage, Code: "usage", Err: err}
	if !errors.As(err, &f) && errors.Is(err, context.Canceled) {
		f = &exit.Error{Status: exit.Interrupted, Code: "interrupted", Err: errors.New("stopped")}
	}
	if errors.Is(f.Err, exit.ErrReported) {
		return f.Status
	}
	sentence := exit.OneLine(f.Err.Error())
	if asJSON {
		type fault struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		}
		// If standard output is closed, only the exit code remains.
		_ = app.WriteJSON(std.Out, map[string]fault{"error": {f.Code, sentence}})
	}
	_, _ = io.WriteString(std.Err, tty.Sentence(std.Err, "replan:", sentence))
	return f.Status
}

func newRoot(a *app.App) *cobra.Command {
	var o host.Opening
	root := &cobra.Command{
		Use:     "replan [GOAL]",
		Short:   "Plan a goal with a local model, run the plan live, watch it replan",
		Long:    "replan plans your goal with a local model, asks before risky steps, and replans.",
		Example: "  replan\n  replan demo\n  replan run \"find out why the tests fail\" --approve safe\n  replan run --output json \"list files\"\n  replan --continue\n  replan plan run deploy.json --dry-run",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := mistyped(cmd, args); err != nil {
				return err
			}
			o.Goal = strings.Join(args, " ")
			if len(args) > 0 && strings.TrimSpace(o.Goal) == "" {
				return exit.Usage(noGoal)
			}
			return host.Of(a).Open(cmd.Context(), o)
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &exit.Error{Status: exit.BadUsage, Code: "usage", Err: args.WrongFlag(cmd.Flags(), err, "see "+cmd.CommandPath()+" --help"), Unparsed: true}
	})
	help.Register(root.PersistentFlags())
	a.Register(root.PersistentFlags())
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if unconfigured(cmd) {
			return a.CheckOutput()
		}
		if err := a.Complete(cmd.Flags()); err != nil {
			return err
		}
		here, err := workers.Check(cmd, a.Workers())
		if here {
			a.WorkHere()
		}
		return err
	}
	root.Flags().BoolVar(&o.GoOn, "continue", false, "continue this folder's newest session; and its newest run if unfinished")
	host.RegisterInDoubt(root.Flags(), &o.InDoubt)
	help.Common(root.Flags(), "continue")
	for title, commands := range commandGroups(a) {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
		for _, c := range commands {
			c.GroupID = title
			root.AddCommand(c)
		}
	}
	root.SetVersionTemplate(versionLine() + "\n")
	root.SetHelpCommand(newHelp(a))
	root.SetHelpCommandGroupID(setUp)
	help.Name(root)
	return root
}

// setUp is the group of commands about the program itself.
const setUp = "Set up"

// commandGroups yields the commands in the groups of --help.
func commandGroups(a *app.App) iter.Seq2[string, []*cobra.Command] {
	return func(yield func(string, []*cobra.Command) bool) {
		_ = yield("Run", []*cobra.Command{newRun(a), slash.Shell(plans.New(a), a.IO().Out), demo.New(a)}) &&
			yield("Look back", []*cobra.Command{slash.Shell(runs.New(a), a.IO().Out), runs.NewReplay(a), slash.Shell(runs.NewUndo(a), a.IO().Out), slash.Shell(runs.NewRedo(a), a.IO().Out), slash.Shell(runs.NewChanges(a), a.IO().Out), runs.NewBug(a)}) &&
			yield(setUp, []*cobra.Command{settings.New(a), models.New(a), tools.New(a), mcp.New(a), newServe(a), doctor.New(a), fit.New(a), complete.New(), newManual(a), newVersion(a)}) &&
			yield(help.Developers, []*cobra.Command{route.NewIntent(a), route.NewRoute(a), route.NewCompose(a)})
	}
}

// mistyped returns an error if words that are to be a goal begin like a mistyped command.
// It also does if they are one word that looks like a command. After -- they are a goal,
// and so are orders that need no model.
func mistyped(cmd *cobra.Command, words []string) error {
	if len(words) == 0 || words[0] == "" || cmd.ArgsLenAtDash() >= 0 || strings.ContainsAny(words[0], " \t\n") {
		return nil
	}
	hint := english.DidYouMeanAny(words[0], append(help.Names(cmd), "help"))
	if below := subcommands[words[0]]; below != "" && len(words) < 3 {
		hint = "; did you mean " + cmd.Name() + " " + below + "?"
	}
	if hint == "" && len(words) == 1 && strings.Trim(words[0], commandLetters) == "" {
		hint = "; see " + cmd.Name() + " --help."
	}
	if hint == "" || intent.Parse(strings.Join(words, " ")).Confidence >= 0.5 {
		return nil
	}
	return exit.Usage("unknown command %q%s To use it as a goal: %s -- %s", words[0], hint, cmd.Name(), strings.Join(words, " "))
}

// subcommands are those that people type without their command.
var subcommands = map[string]string{"resume": "plan resume", "check": "plan check", "prune": "runs prune", "show": "runs show"}

// commandLetters are what names of commands consist of. Goals in some languages have
// no spaces.
const commandLetters = "abcdefghijklmnopqrstuvwxyz-"

func newHelp(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Show the help of a command", Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, words []string) error {
			topic, unknown := help.Topic(cmd.Root(), words)
			if topic == nil {
				return exit.Usage("unknown help topic %q%s", unknown, english.DidYouMean(unknown, help.Names(cmd.Root())))
			}
			return help.Print(a.IO().Out, topic, false)
		},
	}
}

// completionSource returns what reads the settings for a command line that is completed.
func completionSource(a *app.App) func(*cobra.Command) (complete.Source, error) {
	return func(cmd *cobra.Command) (complete.Source, error) {
		err := a.Complete(cmd.Flags())
		return complete.Source{Folders: a.Folders(), Appearance: a.Appearance(), Settings: a.AllSettings, Profiles: a.Planning().Prompting.ProfileNames(), Host: a.Model().Host, Store: a.Store(), Now: time.Now()}, err
	}
}

// unconfigured reports whether a command describes the program itself, or reads the
// settings by itself, and must work with a broken configuration.
func unconfigured(cmd *cobra.Command) bool {
	for ; cmd.HasParent(); cmd = cmd.Parent() {
		if slices.Contains([]string{"version", "completion", "man", "help", "doctor", "config"}, cmd.Name()) && !cmd.Parent().HasParent() {
			return true
		}
	}
	return false
}

// noGoal is the error for a goal without words.
const noGoal = "name the goal: replan run GOAL"

func newRun(a *app.App) *cobra.Command {
	var inDoubt string
	command := &cobra.Command{
		Use:     "run GOAL",
		Short:   "Plan and run a goal without the full screen",
		Example: "  replan run \"fix the failing test\" --approve safe\n  replan run --output json \"what does this module do\"",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			goal := strings.Join(args, " ")
			if strings.TrimSpace(goal) == "" {
				return exit.Usage(noGoal)
			}
			return host.Of(a).Goal(cmd.Context(), goal, inDoubt)
		},
	}
	host.RegisterInDoubt(command.Flags(), &inDoubt)
	return command
}
