package chat

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"replan/agent/runner"
	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/plans"
	"replan/cli/runs"
	"replan/cli/slash"
	"replan/internal/english"
	"replan/tui/keymap"
)

// chat runs the commands of the chat, which begin with a slash.
type chat struct{ app *app.App }

// Commands returns the commands of the chat for the sessions of an app.
func Commands(a *app.App) app.SlashCommands { return chat{a} }

// help returns the text of /help: every command with its arguments.
func (o chat) help() string {
	var b strings.Builder
	b.WriteString("Besides goals and questions, the chat accepts these commands:\n\n")
	for _, c := range o.List() {
		if c.Detail != "" { // otherwise it is a command with one of its arguments
			fmt.Fprintf(&b, "- `%s`: %s\n", strings.TrimSpace(c.Text+" "+c.Usage), c.Detail.Line())
		}
	}
	b.WriteString("\nAdd `--help` to a command for more about it.\n")
	return b.String()
}

// Answer runs a line of the chat that begins with a slash, with the same commands as the
// command line. Their output becomes the answer.
func (o chat) Answer(ctx context.Context, w *app.Services, now runner.SlashState, line string) (runner.Answer, error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	if c, err := slash.Find(o.sessionCommands(w), name); err == nil {
		if rest == "--help" || rest == "-h" {
			return runner.Answer{Text: o.help()}, nil
		}
		return c.Answer(ctx, now, rest)
	}
	if strings.Contains(name, ":") {
		message, err := w.CallPrompt(ctx, name, rest)
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
	in := o.app.InChat(w, &output)
	command, err := slash.Find(journalCommands(in), cmp.Or(map[string]string{"/plans": "/plan", "/run": "/runs"}[name], name))
	if err != nil {
		var known []string
		for _, c := range o.List() {
			if !strings.Contains(c.Text, " ") { // else it is one with its arguments
				known = append(known, c.Text)
			}
		}
		if key := o.keyFor(name); key != "" {
			return runner.Answer{}, exit.Usage("there is no command %s: press %s", name, key)
		}
		if hint := english.DidYouMean(name, known); hint != "" {
			return runner.Answer{}, exit.Usage("there is no command %s%s", name, hint)
		}
		return runner.Answer{}, exit.Usage("there is no command %s: there are %s", name, english.List(known, "and"))
	}
	syntax := slash.Syntax{
		WrongFlag: notInChat, Foreign: programFlag, Before: in.CheckOutput, Flags: in.RegisterChat,
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
	return runner.Answer{Text: slash.CodeBlock(output.String()) + about, Then: in.Chat().Next()}, nil
}

// keyFor returns the key that does what users of other programs type as a command,
// or "" if there is none. On the screen the line itself does it.
func (o chat) keyFor(command string) string {
	if action := keymap.Typed(command); action != "" {
		return o.app.Appearance().KeyName(action)
	}
	return ""
}

// journalCommands returns the commands that the shell has too.
func journalCommands(a *app.App) []slash.Command {
	table := []slash.Command{plans.New(a), runs.New(a), runs.NewUndo(a), runs.NewRedo(a), runs.NewChanges(a)}
	for i := range table {
		table[i].Name = "/" + table[i].Name
	}
	return table
}

// List returns all chat commands with their arguments.
func (o chat) List() []session.Completion {
	out := slash.Completions(append(journalCommands(o.app), o.sessionCommands(nil)...))
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
	return exit.Usage("%w", args.WrongFlag(flags, err, ""))
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
