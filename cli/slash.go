package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spf13/pflag"

	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/cli/config"
	"replan/cli/slash"
	"replan/planning/plan"
)

// talk is the environment of a command typed into the chat.
type talk struct {
	workshop *workshop
	then     runner.Command // next command for the session
}

// slashHelp is the text of /help.
const slashHelp = "Beside goals and questions the chat takes these commands:\n\n" +
	"- `/plan create GOAL` has a goal planned and the plan kept\n" +
	"- `/plan list`, `/plan show ID`, `/plan check FILE`\n" +
	"- `/plan run ID|FILE` with `--var NAME=VALUE`, `--on-failure`, `--synthesize`, `--dry-run`\n" +
	"- `/plan resume RUN`, `/plan diff RUN`\n" +
	"- `/plan delete ID`, `/plan import FILE`, `/plan export ID`\n" +
	"- `/runs`, `/runs show RUN`, `/runs prune`\n" +
	"- `/undo RUN` puts back what a run changed; with `--dry-run` it shows the diff\n" +
	"- `/model [NAME]`, `/models`, `/think auto|off|on|low|medium|high`, `/profile [NAME|none]`, `/profiles`: what answers, from the next run on\n" +
	"- `/steer TEXT` speaks to the run that goes on\n" +
	"- `/review on|off`: plans are held until you have looked them over, from the next run on\n" +
	"- `/compact` sums up the oldest part of the conversation, `/compact undo` brings it back\n" +
	"- `/export [FILE]` writes the conversation as Markdown\n" +
	"- `/help`, and `--help` behind any of them\n"

// slash runs a chat line that begins with a slash, with the same commands as the
// command line. Their output becomes the answer.
func (o chat) slash(ctx context.Context, w *workshop, now runner.Moment, line string) (runner.Answer, error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	if c, err := slash.Find(o.sessionCommands(w), name); err == nil {
		if rest == "--help" || rest == "-h" {
			return runner.Answer{Text: slashHelp}, nil
		}
		return c.Answer(ctx, now, rest)
	}
	words, err := slash.Split(line)
	if err != nil {
		return runner.Answer{}, usage("%w", err)
	}
	name = strings.TrimSpace(words[0])
	if name == "/help" || name == "/" || name == "/?" {
		return runner.Answer{Text: slashHelp}, nil
	}
	var said bytes.Buffer
	in := *o.options
	in.io.In, in.io.Out, in.io.Err, in.io.Terminal = strings.NewReader(""), &said, &said, false
	in.Output, in.talk = config.OutputText, &talk{workshop: w}
	command, err := slash.Find(in.chat().journalCommands(), cmp.Or(map[string]string{"/plans": "/plan", "/run": "/runs"}[name], name))
	if err != nil {
		return runner.Answer{}, usage("there is no command %s: there are /plan, /runs, /undo, %s and /help", name, strings.Join(o.aboutSession(), ", "))
	}
	syntax := slash.Syntax{
		WrongFlag: notInChat, Foreign: programFlag, Before: in.CheckOutput,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&in.Output, "output", config.OutputText, "text or json")
			f.BoolVar(&in.DryRun, "dry-run", o.DryRun, "tell what the steps would do; call no tool")
		},
	}
	err = syntax.Run(ctx, command, words[1:], &said)
	if errors.Is(err, errSaid) {
		err = nil
	}
	if err != nil {
		return runner.Answer{}, errors.Join(remarks(said.String()), err)
	}
	return runner.Answer{Text: slash.CodeBlock(said.String()), Then: in.talk.then}, nil
}

// journalCommands returns the commands that the shell has too.
func (o chat) journalCommands() []slash.Command {
	table := []slash.Command{newPlan(o.options), newRuns(o.options), newUndo(o.options)}
	for i := range table {
		table[i].Name = "/" + table[i].Name
	}
	return table
}

// chatCommands returns all chat commands with their arguments.
func (o chat) chatCommands() []session.Completion {
	out := slash.Completions(append(o.journalCommands(), o.sessionCommands(nil)...))
	return append(out, session.Completion{Text: "/help", Detail: "What the chat takes beside goals and questions"})
}

// notInChat explains that a flag of the program is not available in the chat.
func notInChat(err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && programFlag(unknown.GetSpecifiedName()) {
		name := unknown.GetSpecifiedName()
		if name == "review" {
			return usage("leave --review out: /review on says it for all that comes next")
		}
		if slices.Contains([]string{"model", "think", "profile"}, name) {
			return usage("leave --%s out: /%s says it for all that comes next", name, name)
		}
		return usage("limits and approvals are those that replan was started with: leave --%s out, or start replan with it", name)
	}
	return usage("%w", wrongFlag(err))
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

// aside runs an errand in a separate session over the same tools, and prints it
// into the answer.
func (o chat) aside(ctx context.Context, e errand) (err error) {
	w := o.talk.workshop
	if e.prepare != nil {
		if e.commands, err = e.prepare(ctx, w); err != nil {
			return err
		}
	}
	cfg := o.wiring().sessionConfig(w)
	cfg.Tools, cfg.Approve = unwatched{w.tools}, policy.ApproveNone
	session, err := runner.NewSession(ctx, cfg)
	if err != nil {
		return wrap("start", err)
	}
	side := &workshop{session: session}
	defer func() { err = errors.Join(err, wrap("end in order", side.close())) }()
	return o.tell(ctx, side, e, nil, false)
}

// unwatched wraps the tools of another session, which keeps watching them and
// asking about the project's servers.
type unwatched struct{ runner.Tools }

// Watch does nothing; the other session watches.
func (unwatched) Watch(func()) {}

// Pending returns nil; the other session asks.
func (unwatched) Pending() []plan.PendingServer { return nil }

// shellCommand returns the shell's version of a chat command.
func shellCommand(c slash.Command) *cobra.Command {
	command := &cobra.Command{
		Use: strings.TrimSpace(c.Name + " " + c.Args), Short: c.Short, Long: c.Long, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.Do == nil {
				return cmd.Help()
			}
			return c.Do(cmd.Context(), slash.Call{Path: cmd.CommandPath(), Args: args, Flags: cmd.Flags()})
		},
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
		command.AddCommand(shellCommand(below))
	}
	return command
}

// positional converts an argument check of the chat to one of the shell.
func positional(check func(path string, args []string) error) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error { return check(cmd.CommandPath(), args) }
}
