package app

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/store"
	"replan/cli/exit"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/undo"
)

// Undoing restores the files that runs changed in a folder.
type Undoing struct {
	store  *store.Store
	folder string
	out    *Output
}

// Newest returns the newest run that changed files here. It is an error if there is
// none.
func (u Undoing) Newest() (string, error) {
	id, err := u.store.LastRun(u.folder, func(id string) bool { return undo.Changed(u.store.Runs.Dir, id) })
	if err == nil && id == "" {
		return "", exit.Usage("no run changed files here that can be restored")
	}
	return id, exit.Wrap("list the runs", err)
}

// Operators opens the operators of the workspace for an undo.
func (u Undoing) Operators(log *slog.Logger) (*workspace.Operators, error) {
	return workspace.New(workspace.Config{Dir: u.folder, Backups: u.store.Runs.Dir, Logger: log})
}

// Run reverts the changes of a run and of the runs that its plan tools started. It
// requires that no process works on any of them. A dry one only says what it would do.
func (u Undoing) Run(ctx context.Context, own *workspace.Operators, id string, dry bool) (done event.Undo, err error) {
	done = event.Undo{Run: id, Files: []event.UndoneFile{}}
	changes, err := u.store.Changes(id)
	if err != nil {
		return done, u.out.Unopened(err)
	}
	done.Inner = changes.Runs[1:]
	if changes.Workspace != "" && !runner.SameFolder(changes.Workspace, u.folder) {
		return done, otherFolder(&undo.NotHereError{Run: id, Workspace: changes.Workspace})
	}
	release, err := changes.Hold()
	if _, ok := errors.AsType[*store.BusyError](err); ok {
		return done, &exit.Error{Status: exit.BadUsage, Code: "locked", Err: err}
	}
	if err != nil {
		return done, exit.Wrap("undo", err)
	}
	defer func() { err = errors.Join(err, release()) }()
	reverted, err := own.Undo(ctx, dry, changes.Runs...)
	var changed *undo.ChangedError
	var other *undo.NotHereError
	switch {
	case errors.As(err, &changed):
		done.Refused, done.Diff = changed.Error(), changed.Diff
		return done, nil
	case errors.As(err, &other):
		return done, otherFolder(other)
	case err != nil:
		return done, exit.Wrap("undo the run "+id, err)
	}
	for _, file := range reverted.Files {
		done.Files = append(done.Files, event.UndoneFile(file))
	}
	if reverted.Changed && !dry {
		if err := changes.Record(done.Files, time.Now()); err != nil {
			return done, exit.Wrap("record that the files are restored", err)
		}
	}
	done.Diff, done.Already = reverted.Diff, reverted.Already
	done.AsWas = reverted.Changed && !reverted.Already && len(done.Files) == 0
	done.Notes = slices.Concat(reverted.Notes, changes.Notes())
	return done, nil
}

// otherFolder is the error for undoing a run of another folder.
func otherFolder(err error) error {
	return &exit.Error{Status: exit.BadUsage, Code: string(event.ReasonNotOpened), Err: err}
}
