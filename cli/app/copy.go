package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/store"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/internal/english"
	"replan/mcpclient/box"
	mcpconfig "replan/mcpclient/config"
	"replan/mcpclient/workcopy"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/change"
)

// isolation is where the runs of a session work, and what contains their programs.
type isolation struct {
	how     config.Isolation
	dry     bool // no tool is called
	folders config.Folders
	store   *store.Store
	logger  *slog.Logger

	box    *box.Box             // nil contains nothing
	copy   *workcopy.Copy       // that runs work in; nil if they work in the workspace itself
	target *workspace.Operators // of the workspace if runs work in a copy
}

func newIsolation(a *App, logger *slog.Logger) *isolation {
	return &isolation{how: a.Isolation(), dry: a.Execution().DryRun, folders: a.Folders(), store: a.Store(), logger: logger}
}

// contains returns the box of the children; nil contains nothing.
func (i *isolation) contains() *box.Box { return i.box }

// read reads the servers that the user has configured, with their programs in the copy if runs
// work in one.
func (i *isolation) read(servers Servers) ([]mcpconfig.Server, error) { return servers.Read(i.copy) }

// folder returns the folder that runs and their programs work in.
func (i *isolation) folder() string {
	if i.copy != nil {
		return i.copy.Dir
	}
	return i.folders.Workspace
}

// backups returns where the old content of changed files is kept: "" in a copy, which is
// simply dropped.
func (i *isolation) backups() string {
	if i.copy != nil {
		return ""
	}
	return i.store.Runs.Dir
}

// copied reports whether runs work in a copy.
func (i *isolation) copied() bool { return i.copy != nil }

// open opens the copy of the workspace if runs work in one, and the box. It returns what
// the user is to know of both.
func (i *isolation) open(ctx context.Context, how Opening) (notes []string, err error) {
	if notes, err = i.openCopy(ctx, how); err != nil {
		return notes, err
	}
	gaps, err := i.openBox()
	return append(notes, gaps...), err
}

// openCopy opens the copy of the workspace if runs work in one.
func (i *isolation) openCopy(ctx context.Context, how Opening) (notes []string, err error) {
	if !i.how.On || i.how.InPlace || !how.Runs || i.dry {
		return nil, nil
	}
	if _, err := box.Supported(); err != nil {
		return nil, nil //nolint:nilerr // the box says so
	}
	i.copy, err = workcopy.Open(ctx, workcopy.Config{Folder: i.folders.Workspace, Copies: i.folders.Dirs.Copies(), Private: i.folders.Dirs.All(), Run: how.Resume})
	switch {
	case err == nil && i.copy.Missing() > 0:
		return []string{english.Count(i.copy.Missing(), "file") + " of this folder cannot be read: the copy in which runs work lacks them"}, nil
	case err == nil && i.copy.Waits():
		return []string{"runs work in a copy of this folder, in which earlier runs worked: /changes or replan changes shows what they changed"}, nil
	case err == nil:
		return []string{"runs work in a copy of this folder; you take or drop what they changed at the end"}, nil
	default:
		return nil, &exit.Error{Status: exit.BadUsage, Code: "no_copy", Err: fmt.Errorf("%w; with --in-place runs work in the folder itself", err)}
	}
}

// openBox makes the box of the children if the user wants one. It returns what this
// kernel does not hold.
func (i *isolation) openBox() (gaps []string, err error) {
	if i.box, err = newBox(i.how, i.folders.Dirs, i.folder(), i.copied()); err != nil || i.box == nil {
		return nil, err
	}
	return i.box.Gaps(), nil
}

// newBox returns the box of children that work in a folder, or in a copy of it. They do not
// see the folders of replan.
func newBox(how config.Isolation, private store.Dirs, folder string, copied bool) (*box.Box, error) {
	if !how.On {
		return nil, nil //nolint:nilnil // a nil box contains nothing
	}
	b, err := box.New(box.Config{Dir: folder, Write: how.Write, Private: private.All(), Network: how.Network, Copy: copied})
	if err != nil {
		advice := ""
		if _, unsupported := box.Supported(); unsupported != nil {
			advice = "; to run them all the same, leave out --isolate"
		}
		return b, &exit.Error{Status: exit.BadUsage, Code: "no_box", Err: fmt.Errorf("programs cannot be isolated: %w%s", err, advice)}
	}
	return b, nil
}

// use opens the workspace for the changes that are taken from the copy, which the
// operators of a session change. Without any it opens those that Git needs, and returns
// them.
func (i *isolation) use(own *workspace.Operators) (opened *workspace.Operators, err error) {
	if !i.copied() {
		return nil, nil //nolint:nilnil // nothing had to be opened
	}
	if i.target, err = workspace.New(workspace.Config{Dir: i.folders.Workspace, Backups: i.store.Runs.Dir, Private: i.folders.Dirs.All(), Logger: i.logger}); err != nil {
		return nil, exit.Usage("%w", err)
	}
	if own == nil { // only for git
		if opened, err = workspace.New(workspace.Config{Dir: i.copy.Dir, Logger: i.logger, Box: i.box}); err != nil {
			return nil, exit.Usage("%w", err)
		}
		own = opened
	}
	i.copy.Use(own, i.target)
	return opened, nil
}

// changes returns the copy that runs work in. Without one there are no changes; a quiet
// one does not offer them.
func (i *isolation) changes(quiet bool) *WorkingCopy {
	return &WorkingCopy{copy: i.copy, folders: i.folders, store: i.store, quiet: quiet}
}

// undoes returns the operators that undo a run: own, or those of the workspace if runs
// work in a copy.
func (i *isolation) undoes(own *workspace.Operators) *workspace.Operators {
	if i.copied() {
		return i.target
	}
	return own
}

// close ends what was opened. Made says what the user is to know of the box, "" for
// nothing.
func (i *isolation) close() (summary string, err error) {
	summary = i.box.Made()
	return summary, errors.Join(i.box.Close(), i.copy.Close())
}

var _ runner.WorkingCopy = (*WorkingCopy)(nil)

// WorkingCopy is where the runs of a session work: in a copy of the workspace or,
// without one, in the workspace itself.
type WorkingCopy struct {
	copy    *workcopy.Copy
	folders config.Folders
	store   *store.Store
	quiet   bool // the session does not offer the changes
}

// Exists reports whether runs work in a copy.
func (c *WorkingCopy) Exists() bool { return c.copy != nil }

// Busy reports whether another session works in the copy with the changes.
func (c *WorkingCopy) Busy() bool { return c.copy != nil && c.copy.Busy }

// Others returns the number of other copies of the folder in which changes wait.
func (c *WorkingCopy) Others() int { return c.copy.Others }

// Refresh makes the copy follow the workspace before a run.
func (c *WorkingCopy) Refresh(ctx context.Context, resume string) error {
	if c.copy != nil {
		return c.copy.Refresh(ctx, resume)
	}
	if resume == "" {
		return nil
	}
	return workcopy.Elsewhere(c.folders.Dirs.Copies(), c.folders.Workspace, resume)
}

// Begin records that a run works in the copy.
func (c *WorkingCopy) Begin(run string) (copied bool, err error) {
	if c.copy == nil {
		return false, nil
	}
	return true, c.copy.Begin(run)
}

// Changes returns what runs changed in the copy.
func (c *WorkingCopy) Changes(ctx context.Context) (event.Changes, error) {
	if c.copy == nil || c.quiet {
		return event.Changes{}, nil
	}
	offer, err := c.copy.Changes(ctx)
	return offered(offer), err
}

// Settle takes the chosen changes and drops the others, or lets them wait. Runs whose changes were all
// dropped are undone.
func (c *WorkingCopy) Settle(ctx context.Context, choice event.ChangesChoice) (event.SettledChanges, error) {
	if c.copy == nil {
		return event.SettledChanges{}, errors.New("runs work in this folder itself: there are no changes to take")
	}
	files := map[string]workcopy.FileChoice{}
	for name, f := range choice.Files {
		files[name] = workcopy.FileChoice(f)
	}
	done, err := c.copy.Settle(ctx, workcopy.Choice{Offer: choice.Offer, All: choice.All, Files: files, Keep: choice.Keep})
	settled := event.SettledChanges{Runs: done.Runs, Taken: []event.ChangedFile{}, Dropped: slices.Concat([]string{}, done.Dropped), Notes: done.Notes}
	for _, f := range done.Taken {
		settled.Taken = append(settled.Taken, changed(f))
	}
	if err != nil || len(settled.Taken) > 0 || choice.All {
		return settled, err
	}
	return settled, c.recordDropped(done.Runs)
}

// recordDropped records that all changes of the runs were dropped.
func (c *WorkingCopy) recordDropped(runs []string) error {
	var errs []error
	for _, run := range runs {
		changes, err := c.store.Changes(run)
		if err == nil {
			var release func() error
			if release, err = changes.Hold(); err == nil {
				err = errors.Join(changes.Record(event.RunUndone{Files: []event.UndoneFile{}}, time.Now()), release())
			}
		}
		errs = append(errs, err)
	}
	return exit.Wrap("record that the changes were dropped", errors.Join(errs...))
}

// offered converts an offer.
func offered(offer workcopy.Offer) event.Changes {
	out := event.Changes{Offer: offer.ID, Runs: offer.Runs, Files: []event.ChangedFile{}, Notes: offer.Notes}
	for _, f := range offer.Files {
		file := changed(f.File)
		file.Diff, file.Hunks, file.Conflict = f.Diff, f.Hunks, f.Conflict
		out.Files = append(out.Files, file)
	}
	for _, m := range offer.Moves {
		out.Moves = append(out.Moves, m.String())
	}
	return out
}

func changed(f change.File) event.ChangedFile {
	return event.ChangedFile{Path: f.Path, Action: f.Action, Folder: f.Folder, Added: f.Added, Removed: f.Removed}
}
