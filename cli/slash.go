package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"replan/agent/policy"
	"replan/agent/runner"
	"replan/planning"
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
	"- `/help`, and `--help` behind any of them\n"

// slash carries out a line of the chat that begins with a slash, by the very
// commands of the command line. What they print becomes the answer.
func (o *options) slash(ctx context.Context, w *workshop, line string) (runner.Answer, error) {
	words, err := splitWords(line)
	if err != nil {
		return runner.Answer{}, err
	}
	var said bytes.Buffer
	in := *o
	in.io.In, in.io.Out, in.io.Err, in.io.Terminal = strings.NewReader(""), &said, &said, false
	in.output, in.talk = outputText, &talk{workshop: w}
	var command *cobra.Command
	switch name := strings.TrimSpace(words[0]); name {
	case "/plan", "/plans":
		command = newPlan(&in)
		command.Use = "/plan"
	case "/runs", "/run":
		command = newRuns(&in)
		command.Use = "/runs"
	case "/help", "/", "/?":
		return runner.Answer{Text: slashHelp}, nil
	default:
		return runner.Answer{}, usage("there is no command %s: there are /plan, /runs and /help", name)
	}
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
		return runner.Answer{}, errors.Join(remarks(said.String()), err)
	}
	return runner.Answer{Text: codeBlock(said.String()), Then: in.talk.then}, nil
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
	return o.tell(ctx, side, e, false)
}

// unwatched is the tools of another session, which watches them and asks about
// the project's servers.
type unwatched struct{ runner.Tools }

// Watch is left to the other session.
func (unwatched) Watch(func()) {}

// Pending is left to the other session.
func (unwatched) Pending() []planning.PendingServer { return nil }
