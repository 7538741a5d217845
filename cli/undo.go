package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/agent/store"
	"replan/cli/ask"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/slash"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/undo"
	"replan/tui/telling"
)

// newUndo returns the command replan undo, which is /undo in the chat.
func newUndo(o *options) slash.Command {
	var yes bool
	return slash.Command{
		Name: "undo", Args: "[RUN]", Short: "Restore the files that a run changed",
		Long: "undo restores the files that a run changed, whether it completed, failed, was stopped or killed:\n" +
			"content, mode and existence, all of them or none. It refuses if a file was changed after the run,\n" +
			"and shows that change. Effects other than those of the workspace's file tools, such as\n" +
			"commands and commits, stay and are listed. With --dry-run only the diff is shown; on a terminal it comes\n" +
			"first, with a question, else with --yes. RUN is the id that the screen shows. Without it, or with last, it is\n" +
			"the newest run that changed files here.",
		Examples: []string{"undo --dry-run", "undo a61ec9", "undo --yes --output json"},
		Flags:    func(f *pflag.FlagSet) { f.BoolVar(&yes, "yes", false, "do not ask") },
		Check:    atMostOne("RUN"),
		Do: func(ctx context.Context, c slash.Call) error {
			id, err := o.runs().undoID(c, yes)
			if err != nil {
				return err
			}
			return o.runs().undo(ctx, id, yes)
		},
	}
}

// newStore returns the store for dirs, which knows of killed undos.
func newStore(dirs store.Dirs) *store.Store {
	s := store.New(dirs)
	s.Undone = func(run string) bool { return undo.AllUndone(s.Runs.Dir, run) }
	return s
}

// undoID returns the run to undo. For the word last it is the newest that changed
// files here, and so it is without a run, if the user agrees or can be asked.
func (o runs) undoID(c slash.Call, yes bool) (string, error) {
	if len(c.Args) > 0 && c.Args[0] != lastRun {
		id, err := o.store.FindChange(c.Args[0])
		if err != nil {
			return "", o.unopened(err)
		}
		return id, nil
	}
	id, err := o.newestChange()
	switch {
	case err != nil:
		return "", err
	case o.DryRun, o.asks(), yes, len(c.Args) > 0: // last names a run
		return id, nil
	default:
		return "", exit.Usage("%s would undo %s, the newest run that changed files here: add --yes", c.Path, telling.ShortID(id))
	}
}

// newestChange returns the newest run that changed files here. It is an error if
// there is none.
func (o runs) newestChange() (string, error) {
	id, err := o.store.LastRun(o.Workspace, func(id string) bool { return undo.Changed(o.store.Runs.Dir, id) })
	if err == nil && id == "" {
		return "", exit.Usage("no run changed files here that can be restored")
	}
	return id, exit.Wrap("list the runs", err)
}

// undo implements replan undo.
func (o runs) undo(ctx context.Context, id string, yes bool) (err error) {
	if o.chatContext != nil && !o.DryRun {
		o.chatContext.then = session.Undo{Run: id}
		return nil
	}
	own, err := workspace.New(workspace.Config{Dir: o.Workspace, Backups: o.store.Runs.Dir})
	if err != nil {
		return exit.Usage("%w", err)
	}
	defer func() { err = errors.Join(err, exit.Wrap("end in order", own.Close())) }()
	shown := false
	if o.asks() && !yes && !o.DryRun {
		would, err := o.undoRun(ctx, own, id, true)
		if err != nil {
			return err
		}
		if would.Refused == "" && len(would.Files) > 0 {
			if agreed, err := o.agreesToUndo(ctx, would); err != nil || !agreed {
				return err
			}
			shown = true
		}
	}
	u, err := o.undoRun(ctx, own, id, o.DryRun)
	if err != nil {
		return err
	}
	if shown && u.Refused == "" {
		u.Diff = ""
	}
	return o.printUndo(u)
}

// agreesToUndo shows what an undo would change and asks whether to do it.
func (o runs) agreesToUndo(ctx context.Context, would event.Undo) (agreed bool, err error) {
	input, err := ask.NewInput(o.io.In, o.io.Quiet)
	if err != nil {
		return false, exit.Wrap("read the answer", err)
	}
	if err := o.print(o.diff(o.io.Out, would.Diff)); err != nil {
		return false, err
	}
	prompt := fmt.Sprintf("restore %s changed by run %s? [y]es, [N]o: ", telling.Undone(would.Files), telling.ShortID(would.Run))
	line, _, err := input.AskIn(ctx, o.coloured(o.io.Out), prompt, o.look())
	if err != nil {
		return false, err
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	if answer == "y" || answer == "yes" {
		return true, nil
	}
	return false, &exit.Error{Status: exit.Failed, Code: "canceled", Err: errors.New("nothing was changed")}
}

// printUndo prints the result of an undo.
func (o runs) printUndo(u event.Undo) error {
	if u.Refused != "" {
		if u.Diff != "" {
			_, _ = fmt.Fprint(o.coloured(o.io.Err), o.diff(o.io.Err, u.Diff))
		}
		return &exit.Error{Status: exit.Failed, Code: "changed", Err: errors.New(u.Refused)}
	}
	if o.Output == config.OutputJSON {
		return o.printJSON(u)
	}
	var b strings.Builder
	writef := lineWriter(&b)
	b.WriteString(o.diff(o.io.Out, u.Diff))
	for _, note := range u.Notes {
		writef("note: %s", note)
	}
	id, done := telling.ShortID(u.Run), "restored"
	if o.DryRun {
		done = "would restore"
	}
	switch {
	case u.Already:
		writef("run %s is already undone: nothing was changed", id)
	case u.AsWas && o.DryRun:
		writef("the files of run %s are as they were before it", id)
	case u.AsWas:
		writef("run %s is undone: its files are as they were before it", id)
	case len(u.Files) == 0:
		writef("run %s changed nothing that can be restored", id)
	default:
		writef("%s %s changed by run %s", done, telling.Undone(u.Files), id)
		for _, f := range u.Files {
			action := f.Action
			if o.DryRun {
				action = "would " + strings.TrimSuffix(action, "d")
			}
			writef("  %s %s", action, f.Path)
		}
	}
	return o.print(b.String())
}

// undoRun reverts the changes of a run and of the runs that its plan tools
// started. It requires that nobody is working on any of them.
func (o runs) undoRun(ctx context.Context, own *workspace.Operators, id string, dry bool) (u event.Undo, err error) {
	u = event.Undo{Run: id, Files: []event.UndoneFile{}}
	changes, err := o.store.Changes(id)
	if err != nil {
		return u, o.unopened(err)
	}
	u.Inner = changes.Runs[1:]
	if changes.Workspace != "" && !runner.SameFolder(changes.Workspace, o.Workspace) {
		return u, elsewhere(&undo.NotHereError{Run: id, Workspace: changes.Workspace})
	}
	release, err := changes.Hold()
	if _, ok := errors.AsType[*store.BusyError](err); ok {
		return u, &exit.Error{Status: exit.BadUsage, Code: "locked", Err: err}
	}
	if err != nil {
		return u, exit.Wrap("undo", err)
	}
	defer func() { err = errors.Join(err, release()) }()
	done, err := own.Undo(ctx, dry, changes.Runs...)
	var changed *undo.ChangedError
	var away *undo.NotHereError
	switch {
	case errors.As(err, &changed):
		u.Refused, u.Diff = changed.Error(), changed.Diff
		return u, nil
	case errors.As(err, &away):
		return u, elsewhere(away)
	case err != nil:
		return u, exit.Wrap("undo the run "+id, err)
	}
	for _, file := range done.Files {
		u.Files = append(u.Files, event.UndoneFile(file))
	}
	if done.Changed && !dry {
		if err := changes.Record(u.Files, time.Now()); err != nil {
			return u, exit.Wrap("record that the files are restored", err)
		}
	}
	u.Diff, u.Already = done.Diff, done.Already
	u.AsWas = done.Changed && !done.Already && len(u.Files) == 0
	u.Notes = slices.Concat(done.Notes, changes.Notes())
	return u, nil
}

// elsewhere is the error for undoing a run of another folder.
func elsewhere(err error) error {
	return &exit.Error{Status: exit.BadUsage, Code: string(event.ReasonNotOpened), Err: err}
}

// undoes returns the undo function of a session. It uses the session's own
// operators, so that nothing else changes files meanwhile.
func (o wiring) undoes(w *services) func(context.Context, string, bool) (event.Undo, error) {
	return func(ctx context.Context, run string, dry bool) (u event.Undo, err error) {
		own := w.own
		if w.copy != nil {
			own = w.target
		}
		if own == nil { // the session does not use them
			if own, err = workspace.New(workspace.Config{Dir: o.Workspace, Backups: o.store.Runs.Dir, Logger: w.logger}); err != nil {
				return event.Undo{Run: run}, err
			}
			defer func() { err = errors.Join(err, own.Close()) }()
		}
		if run != "" {
			return o.runs().undoRun(ctx, own, run, dry)
		}
		if run, err = o.runs().newestChange(); err != nil {
			return event.Undo{}, err
		}
		if u, err = o.runs().undoRun(ctx, own, run, dry); err == nil {
			if r, err := o.store.Runs.Fold(run); err == nil {
				u.Goal = r.Summary().Goal
			}
		}
		return u, err
	}
}

// dirtyWithin limits how long git may take to list uncommitted changes; after
// that the run starts without the count.
const dirtyWithin = 2 * time.Second

// dirty counts the files with uncommitted changes, 0 without git.
func (w *services) dirty(ctx context.Context) int {
	if w.own == nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, dirtyWithin)
	defer cancel()
	files, err := w.own.Dirty(ctx)
	if err != nil {
		w.logger.Info("the uncommitted files cannot be listed", "error", err)
		return 0
	}
	return files
}
