package app

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
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

// Newest returns the newest run that changed files here, or for a redo the one that was
// undone last. It is an error if there is none.
func (u Undoing) Newest(redo bool) (string, error) {
	if redo {
		return u.lastUndone()
	}
	id, err := u.store.LastRun(u.folder, func(id string) bool { return undo.Changed(u.store.Runs.Dir, id) })
	if err == nil && id == "" {
		return "", exit.Usage("no run changed files here that can be restored")
	}
	return id, exit.Wrap("list the runs", err)
}

// lastUndone returns the run of this folder whose undo is the last that can be taken back.
func (u Undoing) lastUndone() (string, error) {
	last, when := "", time.Time{}
	_, err := u.store.LastRun(u.folder, func(id string) bool {
		if at := undo.UndoneAt(u.store.Runs.Dir, id); at.After(when) {
			last, when = id, at
		}
		return false // look at all
	})
	if err == nil && last == "" {
		return "", exit.Usage("no run is undone here that can be redone")
	}
	return last, exit.Wrap("list the runs", err)
}

// Operators opens the operators of the workspace for an undo.
func (u Undoing) Operators(log *slog.Logger) (*workspace.Operators, error) {
	return workspace.New(workspace.Config{Dir: u.folder, Backups: u.store.Runs.Dir, Logger: log})
}

// Run reverts the changes of a run and of the runs that its plan tools started, or takes
// that back. It requires that no process works on any of them. A dry one only says what
// it would do.
func (u Undoing) Run(ctx context.Context, own *workspace.Operators, c session.Undo, dry bool) (done event.Undo, err error) {
	id, revert, verb := c.Run, own.Undo, "undo"
	if c.Redo {
		revert, verb = own.Redo, "redo"
	}
	done = event.Undo{Run: id, Redo: c.Redo, Files: []event.UndoneFile{}}
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
		return done, exit.Wrap(verb, err)
	}
	defer func() { err = errors.Join(err, release()) }()
	reverted, err := revert(ctx, dry, changes.Runs...)
	var changed *undo.ChangedError
	var other *undo.NotHereError
	switch {
	case errors.As(err, new(*undo.NotUndoneError)):
		return done, exit.Usage("%w", err)
	case errors.As(err, &changed):
		done.Refused, done.Diff = changed.Error(), changed.Diff
		return done, nil
	case errors.As(err, &other):
		return done, otherFolder(other)
	case err != nil:
		return done, exit.Wrap(verb+" the run "+id, err)
	}
	for _, file := range reverted.Files {
		done.Files = append(done.Files, event.UndoneFile(file))
	}
	if reverted.Changed && !dry {
		if err := changes.Record(event.RunUndone{Files: done.Files, Redo: c.Redo}, time.Now()); err != nil {
			return done, exit.Wrap("record that the files are restored", err)
		}
	}
	done.Diff, done.Already = reverted.Diff, reverted.Already
	done.AsWas = reverted.Changed && !reverted.Already && len(done.Files) == 0
	done.Notes = slices.Concat(reverted.Notes, changes.Notes(c.Redo))
	return done, nil
}

// otherFolder is the error for undoing a run of another folder.
func otherFolder(err error) error {
	return &exit.Error{Status: exit.BadUsage, Code: string(event.ReasonNotOpened), Err: err}
}
