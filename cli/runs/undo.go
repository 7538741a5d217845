package runs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"replan/agent/event"
	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/exit"
	"replan/cli/host"
	"replan/cli/slash"
	"replan/tui/wording"
)

// undoOptions are the options of replan undo and replan redo.
type undoOptions struct {
	app  *app.App
	redo bool
	yes  bool // do not ask
}

// NewUndo returns the command replan undo, which is /undo in the chat.
func NewUndo(a *app.App) slash.Command {
	o := undoOptions{app: a}
	return o.complete(slash.Command{
		Name: "undo", Args: "[RUN]", Short: "Restore the files that a run changed",
		Long: "undo restores the files that a run changed, whether it completed, failed, was stopped or killed:\n" +
			"content, mode and existence, all of them or none. It refuses if a file was changed after the run,\n" +
			"and shows that change. Effects other than those of the workspace's file tools, such as\n" +
			"commands and commits, stay and are listed. With --dry-run only the diff is shown; on a terminal it comes\n" +
			"first, with a question, else with --yes. RUN is the id that the screen shows. Without it, or with last, it is\n" +
			"the newest run that changed files here.",
		Examples: []string{"undo --dry-run", "undo a61ec9", "undo --yes --output json"},
	})
}

// NewRedo returns the command replan redo, which is /redo in the chat.
func NewRedo(a *app.App) slash.Command {
	o := undoOptions{app: a, redo: true}
	return o.complete(slash.Command{
		Name: "redo", Args: "[RUN]", Short: "Take back the undo of a run",
		Long: "redo brings back the changes of a run that was undone: all its files or none. It refuses if a file was\n" +
			"changed after the undo, and shows that change. With --dry-run only the diff is shown; on a terminal it comes\n" +
			"first, with a question, else with --yes. RUN is the id that the screen shows. Without it, or with last, it is\n" +
			"the run that was undone last here.",
		Examples: []string{"redo --dry-run", "redo a61ec9", "redo --yes --output json"},
	})
}

// complete adds to a command what undo and redo have in common.
func (o *undoOptions) complete(c slash.Command) slash.Command {
	c.Flags = func(f *pflag.FlagSet) { f.BoolVar(&o.yes, "yes", false, "do not ask") }
	c.Check = args.AtMostOne("RUN")
	c.Do = func(ctx context.Context, c slash.Call) error {
		id, err := o.id(c)
		if err != nil {
			return err
		}
		return o.run(ctx, id)
	}
	return c
}

// id returns the run to undo or redo. For the word last it is the newest that changed
// files here, and so it is without a run, if the user agrees or can be asked.
func (o undoOptions) id(c slash.Call) (string, error) {
	if len(c.Args) > 0 && c.Args[0] != host.LastRun {
		id, err := o.app.Store().FindChange(c.Args[0])
		if err != nil {
			return "", o.app.Out().Unopened(err)
		}
		return id, nil
	}
	id, err := o.app.Undoing().Newest(o.redo)
	switch {
	case err != nil:
		return "", err
	case o.app.Execution().DryRun, o.app.Asks(), o.yes, len(c.Args) > 0: // last names a run
		return id, nil
	case o.redo:
		return "", exit.Usage("add --yes to redo %s, the run that was undone last here", wording.ShortID(id))
	default:
		return "", exit.Usage("add --yes to undo %s, the newest run that changed files here", wording.ShortID(id))
	}
}

// run restores files.
func (o undoOptions) run(ctx context.Context, id string) (err error) {
	dry, what := o.app.Execution().DryRun, session.Undo{Run: id, Redo: o.redo}
	if c := o.app.Chat(); c != nil && !dry {
		c.HandOver(what)
		return nil
	}
	undoing := o.app.Undoing()
	own, err := undoing.Operators(nil)
	if err != nil {
		return exit.Usage("%w", err)
	}
	defer func() { err = errors.Join(err, exit.Wrap("end in order", own.Close())) }()
	shown := false
	if o.app.Asks() && !o.yes && !dry {
		would, err := undoing.Run(ctx, own, what, true)
		if err != nil {
			return err
		}
		if would.Refused == "" && len(would.Files) > 0 {
			if agreed, err := o.agrees(ctx, would); err != nil || !agreed {
				return err
			}
			shown = true
		}
	}
	u, err := undoing.Run(ctx, own, what, dry)
	if err != nil {
		return err
	}
	if shown && u.Refused == "" {
		u.Diff = ""
	}
	return o.print(u)
}

// agrees shows what an undo would change and asks whether to do it.
func (o undoOptions) agrees(ctx context.Context, would event.Undo) (agreed bool, err error) {
	input, err := o.app.Input("read the answer")
	if err != nil {
		return false, err
	}
	if err := o.app.Out().Print(o.app.Out().Diff(o.app.IO().Out, would.Diff)); err != nil {
		return false, err
	}
	prompt := fmt.Sprintf("restore %s changed by run %s? [y]es, [N]o: ", wording.Undone(would.Files), wording.ShortID(would.Run))
	if o.redo {
		prompt = fmt.Sprintf("bring back %s changed by run %s? [y]es, [N]o: ", wording.Undone(would.Files), wording.ShortID(would.Run))
	}
	answer, err := input.Ask(ctx, prompt)
	if err != nil {
		return false, err
	}
	if answer == "y" || answer == "yes" {
		return true, nil
	}
	return false, &exit.Error{Status: exit.Failed, Code: "canceled", Err: errors.New("nothing was changed")}
}

// print prints the result of an undo.
func (o undoOptions) print(u event.Undo) error {
	dry, out := o.app.Execution().DryRun, o.app.Out()
	if u.Refused != "" {
		if u.Diff != "" {
			_, _ = fmt.Fprint(out.Colored(o.app.IO().Err), out.Diff(o.app.IO().Err, u.Diff))
		}
		return &exit.Error{Status: exit.Failed, Code: "changed", Err: errors.New(u.Refused)}
	}
	if out.JSON() {
		return out.PrintJSON(u)
	}
	var b strings.Builder
	writef := app.LineWriter(&b)
	b.WriteString(out.Diff(o.app.IO().Out, u.Diff))
	for _, note := range u.Notes {
		writef("note: %s", note)
	}
	id, done := wording.ShortID(u.Run), "restored"
	if dry {
		done = "would restore"
	}
	switch {
	case u.Redo && u.Already:
		writef("run %s is already redone: nothing was changed", id)
	case u.Redo && len(u.Files) == 0:
		writef("run %s is redone: its files are as it left them", id)
	case u.Redo && dry:
		o.list(writef, fmt.Sprintf("would bring back %s changed by run %s", wording.Undone(u.Files), id), u)
	case u.Redo:
		o.list(writef, fmt.Sprintf("redid run %s: %s brought back", id, wording.Undone(u.Files)), u)
	case u.Already:
		writef("run %s is already undone: nothing was changed", id)
	case u.AsWas && dry:
		writef("the files of run %s are as they were before it", id)
	case u.AsWas:
		writef("run %s is undone: its files are as they were before it", id)
	case len(u.Files) == 0:
		writef("run %s changed nothing that can be restored", id)
	default:
		o.list(writef, fmt.Sprintf("%s %s changed by run %s", done, wording.Undone(u.Files), id), u)
	}
	return out.Print(b.String())
}

// list writes a line, and below it what becomes of each file.
func (o undoOptions) list(writef func(format string, values ...any), line string, u event.Undo) {
	writef("%s", line)
	for _, f := range u.Files {
		action := f.Done(u.Redo)
		switch dry := o.app.Execution().DryRun; {
		case dry && u.Redo:
			action = "would be " + action
		case dry:
			action = "would " + strings.TrimSuffix(action, "d")
		}
		writef("  %s %s", action, f.Path)
	}
}
