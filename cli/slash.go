package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spf13/pflag"

	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/help"
	"replan/cli/slash"
	"replan/internal/english"
	"replan/planning/plan"
	"replan/tui/keymap"
)

// chatContext is the environment of a command typed into the chat.
type chatContext struct {
	services *services
	then     session.Command // next command for the session
}

// help returns the text of /help: every command with its arguments.
func (o chat) help() string {
	var b strings.Builder
	b.WriteString("Besides goals and questions, the chat accepts these commands:\n\n")
	for _, c := range o.chatCommands() {
		if c.Detail != "" { // otherwise it is a command with one of its arguments
			fmt.Fprintf(&b, "- `%s`: %s\n", strings.TrimSpace(c.Text+" "+c.Usage), c.Detail.Line())
		}
	}
	b.WriteString("\nAdd `--help` to a command for more about it.\n")
	return b.String()
}

// slash runs a chat line that begins with a slash, with the same commands as the
// command line. Their output becomes the answer.
func (o chat) slash(ctx context.Context, w *services, now runner.SlashState, line string) (runner.Answer, error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	if c, err := slash.Find(o.sessionCommands(w), name); err == nil {
		if rest == "--help" || rest == "-h" {
			return runner.Answer{Text: o.help()}, nil
		}
		return c.Answer(ctx, now, rest)
	}
	if strings.Contains(name, ":") {
		message, err := callPrompt(ctx, w.tools, name, rest)
		if err != nil {
			return runner.Answer{}, err
		}
		return runner.Answer{Then: session.Submit{Text: message}}, nil
	}
	words, err := slash.Split(line)
	if err != nil {
		return runner.Answer{}, exit.Usage("%w", err)
	}
	name = strings.TrimSpace(words[0])
	if name == "/help" || name == "/" || name == "/?" {
		return runner.Answer{Text: o.help()}, nil
	}
	var output bytes.Buffer
	in := *o.options
	in.io.In, in.io.Out, in.io.Err, in.io.Terminal = strings.NewReader(""), &output, &output, false
	in.Output, in.chatContext = config.OutputText, &chatContext{services: w}
	in.opened = nil // the answer is no terminal, even if the run is printed on one
	command, err := slash.Find(in.chat().journalCommands(), cmp.Or(map[string]string{"/plans": "/plan", "/run": "/runs"}[name], name))
	if err != nil {
		known := append([]string{"/plan", "/runs", "/undo"}, append(o.aboutSession(), "/help")...)
		if key := o.keyFor(name); key != "" {
			return runner.Answer{}, exit.Usage("there is no command %s: press %s", name, key)
		}
		if meant := english.DidYouMean(name, known); meant != "" {
			return runner.Answer{}, exit.Usage("there is no command %s%s", name, meant)
		}
		return runner.Answer{}, exit.Usage("there is no command %s: there are %s", name, english.List(known, "and"))
	}
	syntax := slash.Syntax{
		WrongFlag: notInChat, Foreign: programFlag, Before: in.CheckOutput,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&in.Output, "output", config.OutputText, "`FORM` of the output: text or json")
			f.BoolVar(&in.DryRun, "dry-run", o.DryRun, "show what it would do; change nothing")
		},
	}
	about, err := syntax.Run(ctx, command, words[1:])
	if errors.Is(err, exit.ErrReported) {
		err = nil
	}
	if err != nil {
		return runner.Answer{}, errors.Join(remarks(output.String()), err)
	}
	if about == "" && len(words) == 1 && command.Do == nil {
		about = "\n`" + command.Name + " --help` lists what else it does.\n"
	}
	return runner.Answer{Text: slash.CodeBlock(output.String()) + about, Then: in.chatContext.then}, nil
}

// keyFor returns the key that does what users of other programs type as a command,
// or "" if there is none. On the screen the line itself does it.
func (o chat) keyFor(command string) string {
	if action := keymap.Typed(command); action != "" {
		return o.Keys.Name(action)
	}
	return ""
}

// journalCommands returns the commands that the shell has too.
func (o chat) journalCommands() []slash.Command {
	table := []slash.Command{newPlan(o.options), newRuns(o.options), newUndo(o.options), newChanges(o.options)}
	for i := range table {
		table[i].Name = "/" + table[i].Name
	}
	return table
}

// chatCommands returns all chat commands with their arguments.
func (o chat) chatCommands() []session.Completion {
	out := slash.Completions(append(o.journalCommands(), o.sessionCommands(nil)...))
	return append(out, session.Completion{Text: "/help", Detail: "List the commands of the chat"})
}

// notInChat explains that a flag of the program is not available in the chat.
func notInChat(flags *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && programFlag(unknown.GetSpecifiedName()) {
		name := unknown.GetSpecifiedName()
		if name == "review" {
			return exit.Usage("omit --review: /review on applies from the next run on")
		}
		if slices.Contains([]string{"model", "think", "profile"}, name) {
			return exit.Usage("omit --%s: /%s applies from the next run on", name, name)
		}
		return exit.Usage("limits and approvals are set when replan starts: omit --%s, or restart replan with it", name)
	}
	return exit.Usage("%w", wrongFlag(flags, err, ""))
}

// programFlag reports whether a flag belongs to the program but not to chat
// commands.
func programFlag(name string) bool {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(config.Options).Register(all)
	return all.Lookup(name) != nil && name != "output" && name != "dry-run"
}

// remarks returns the output of a failed command as an error, nil if there was
// none.
func remarks(text string) error {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return errors.New(text)
}

// aside runs a headless job in a separate session over the same tools, and prints it
// into the answer.
func (o chat) aside(ctx context.Context, e headlessJob) (err error) {
	w := o.chatContext.services
	if e.prepare != nil {
		if e.commands, err = e.prepare(ctx, w); err != nil {
			return err
		}
	}
	cfg := o.wiring().sessionConfig(w)
	cfg.Tools, cfg.Approve = unwatched{w.tools}, policy.ApproveNone
	session, err := runner.NewSession(ctx, cfg)
	if err != nil {
		return exit.Wrap("start", err)
	}
	side := &services{session: session}
	defer func() { err = errors.Join(err, exit.Wrap("end in order", side.close())) }()
	return o.carryOut(ctx, side.session, e, nil, false)
}

// unwatched wraps the tools of another session, which keeps watching them and
// asking about the project's servers.
type unwatched struct{ runner.Tools }

// Watch does nothing; the other session watches.
func (unwatched) Watch(func()) {}

// Pending returns nil; the other session asks.
func (unwatched) Pending() []plan.PendingServer { return nil }

// shellCommand returns the shell's version of a chat command.
func (o *options) shellCommand(c slash.Command) *cobra.Command {
	command := &cobra.Command{
		Use: strings.TrimSpace(c.Name + " " + c.Args), Short: c.Short, Long: c.Long, Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.Do == nil {
				return o.showHelp(cmd, false)
			}
			return c.Do(cmd.Context(), slash.Call{Path: cmd.CommandPath(), Args: args, Flags: cmd.Flags()})
		},
	}
	if c.Do == nil {
		help.Menu(command)
	}
	if len(c.Examples) > 0 {
		command.Example = "  replan " + strings.Join(c.Examples, "\n  replan ")
	}
	if c.Check != nil {
		command.Args = positional(c.Check)
	}
	if c.Flags != nil {
		c.Flags(command.Flags())
	}
	for _, below := range c.Below {
		command.AddCommand(o.shellCommand(below))
	}
	return command
}

// positional converts an argument check of the chat to one of the shell.
func positional(check func(path string, args []string) error) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error { return check(cmd.CommandPath(), args) }
}
