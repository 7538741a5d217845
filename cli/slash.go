package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"replan/agent/policy"
	"replan/agent/runner"
	"replan/planning/plan"
)

// talk is what a command has at hand that was typed into the chat.
type talk struct {
	workshop *workshop
	then     runner.Command // what the session is to do next
}

// slashHelp is what /help says.
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

// slash carries out a line of the chat that begins with a slash, by the very
// commands of the command line. What they print becomes the answer.
func (o *options) slash(ctx context.Context, w *workshop, now runner.Moment, line string) (runner.Answer, error) {
	if answer, ok, err := o.sessionCommand(ctx, w, now, line); ok {
		return answer, err
	}
	words, err := splitWords(line)
	if err != nil {
		return runner.Answer{}, err
	}
	var said bytes.Buffer
	in := *o
	in.io.In, in.io.Out, in.io.Err, in.io.Terminal = strings.NewReader(""), &said, &said, false
	in.output, in.talk = outputText, &talk{workshop: w}
	if name := strings.TrimSpace(words[0]); name == "/help" || name == "/" || name == "/?" {
		return runner.Answer{Text: slashHelp}, nil
	}
	command := in.chatTree(strings.TrimSpace(words[0]))
	if command == nil {
		return runner.Answer{}, usage("there is no command %s: there are /plan, /runs, /undo, %s and /help", strings.TrimSpace(words[0]), strings.Join(aboutSession(), ", "))
	}
	plainly(command)
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return notInChat(err) })
	flags := command.PersistentFlags()
	flags.StringVar(&in.output, "output", outputText, "text or json")
	flags.BoolVar(&in.dryRun, "dry-run", o.dryRun, "tell what the steps would do; call no tool")
	command.PersistentPreRunE = func(*cobra.Command, []string) error { return in.checkOutput() }
	command.CompletionOptions.DisableDefaultCmd = true
	command.SilenceErrors, command.SilenceUsage = true, true
	command.SetIn(in.io.In)
	command.SetOut(&said)
	command.SetErr(&said)
	command.SetArgs(words[1:])
	err = command.ExecuteContext(ctx)
	if errors.Is(err, errSaid) {
		err = nil
	}
	if err != nil {
		return runner.Answer{}, errors.Join(remarks(said.String()), hinted(err))
	}
	return runner.Answer{Text: codeBlock(said.String()), Then: in.talk.then}, nil
}

// chatTree is the tree of commands that a word of the chat begins, nil for none.
func (o *options) chatTree(word string) *cobra.Command {
	var command *cobra.Command
	switch word {
	case "/plan", "/plans":
		command = newPlan(o)
		command.Use = "/plan"
	case "/runs", "/run":
		command = newRuns(o)
		command.Use = "/runs"
	case "/undo":
		command = newUndo(o)
		command.Use = "/undo RUN"
	}
	return command
}

// plainly names the commands in the help of a command as the chat does, and
// leaves out examples with flags that the chat does not take.
func plainly(command *cobra.Command) {
	command.Long = shellNames().Replace(command.Long)
	lines := slices.DeleteFunc(strings.Split(shellNames().Replace(command.Example), "\n"), func(line string) bool {
		return slices.ContainsFunc(strings.Fields(line), func(word string) bool {
			name, isFlag := strings.CutPrefix(word, "--")
			return isFlag && programFlag(name)
		})
	})
	command.Example = strings.Join(lines, "\n")
	for _, c := range command.Commands() {
		plainly(c)
	}
}

// shellNames turns the names of commands as a shell has them into the chat's. In
// errors those stand in quotes, where no plan can have put them.
func shellNames() *strings.Replacer {
	return strings.NewReplacer("\"replan plan ", "\"/plan ", "\"replan runs ", "\"/runs ", "  replan plan ", "  /plan ", "  replan runs ", "  /runs ", "  replan undo ", "  /undo ")
}

// notInChat says of a flag that the program takes, and the chat does not, why.
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

// programFlag reports whether a flag is one of the program that the commands of
// the chat do not have.
func programFlag(name string) bool {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(options).register(all)
	return all.Lookup(name) != nil && name != "output" && name != "dry-run"
}

// hinted names the commands in the hints of an error as the chat does.
func hinted(err error) error {
	hint := shellNames().Replace(err.Error())
	var f *failure
	if hint == err.Error() || !errors.As(err, &f) {
		return err
	}
	return &failure{exit: f.exit, code: f.code, err: errors.New(hint)}
}

// remarks are what a command said before it failed; nil where that was nothing.
func remarks(text string) error {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return errors.New(text)
}

// codeBlock shows text as it is in Markdown, whatever is in it.
func codeBlock(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("%s\n%s\n%s", fence, strings.TrimRight(text, "\n"), fence)
}

// splitWords splits a line as a shell would, in so far: words are parted by
// blanks; single and double quotes keep what is between them together where a
// word begins or after an equals sign, so that an apostrophe is one; in double
// quotes a backslash keeps a quote or a backslash.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord := false
	var quote, before rune
	runes := []rune(strings.TrimSpace(line))
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case quote == '"' && r == '\\' && i+1 < len(runes) && strings.ContainsRune(`"\`, runes[i+1]):
			i++
			word.WriteRune(runes[i])
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case (r == '"' || r == '\'') && (!inWord || before == '='):
			quote, inWord = r, true
		case unicode.IsSpace(r):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
		before = r
	}
	if quote != 0 {
		return nil, usage("a quotation mark is not closed: %c", quote)
	}
	if inWord || len(words) == 0 {
		words = append(words, word.String())
	}
	return words, nil
}

// aside runs an errand beside the conversation, in a session of its own over the
// same tools, and tells it into the answer.
func (o *options) aside(ctx context.Context, e errand) (err error) {
	w := o.talk.workshop
	if e.prepare != nil {
		if e.commands, err = e.prepare(ctx, w); err != nil {
			return err
		}
	}
	cfg := o.sessionConfig(w)
	cfg.Tools, cfg.Approve = unwatched{w.tools}, policy.ApproveNone
	session, err := runner.NewSession(ctx, cfg)
	if err != nil {
		return wrap("start", err)
	}
	side := &workshop{session: session}
	defer func() { err = errors.Join(err, wrap("end in order", side.close())) }()
	return o.tell(ctx, side, e, nil, false)
}

// unwatched is the tools of another session, which watches them and asks about
// the project's servers.
type unwatched struct{ runner.Tools }

// Watch is left to the other session.
func (unwatched) Watch(func()) {}

// Pending is left to the other session.
func (unwatched) Pending() []plan.PendingServer { return nil }
