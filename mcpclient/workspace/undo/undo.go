package undo

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/tree"
)

// Undone describes the effects of an undo, done or planned.
type Undone struct {
	Files   []File
	Diff    string   // unified, from the current files to the restored ones
	Notes   []string // further sentences for the user
	Changed bool     // the runs changed files
	Already bool     // and that is undone
}

// File is a file or a folder that is restored.
type File struct {
	Path   string
	Action string // restored, recreated or removed
	Folder bool   // it is a folder
}

// ChangedError says which files have changed since the runs. Nothing was restored.
type ChangedError struct {
	Files []ChangedFile
	Diff  string // unified, from the files of the runs to the current ones
}

// ChangedFile is one file of a ChangedError.
type ChangedFile struct {
	Path string
	Run  string // that has changed it since, "" where that is not known
	How  string // it changed: a clause
}

func (e *ChangedError) Error() string {
	const shown = 3
	var names []string
	for _, f := range e.Files[:min(len(e.Files), shown)] {
		name := f.Path + " " + f.How
		if f.Run != "" {
			name += " by the run " + f.Run
		}
		names = append(names, name)
	}
	what := strings.Join(names, ", ")
	if more := len(e.Files) - shown; more > 0 {
		what += fmt.Sprintf(", and %d more changed", more)
	}
	newer := ""
	for _, f := range e.Files {
		if f.Run != "" {
			newer = "; undo the run " + f.Run + " first"
		}
	}
	return what + ": nothing was put back" + newer
}

// NotHereError says that a run changed the files of another folder.
type NotHereError struct{ Run, Workspace string }

func (e *NotHereError) Error() string {
	return fmt.Sprintf("the run %s worked in %s; go there and undo it", e.Run, e.Workspace)
}

// Undo restores all that the runs changed together: content, mode and existence of every
// file and folder, all or nothing. With dry it only says what it would do. It fails
// with a *ChangedError if a file has changed since the runs, and with a
// *NotHereError. The runs must have ended.
//
// After a crash some files are restored. The next Undo does the rest, since it
// skips files that are as they were before the runs.
func (l *Log) Undo(ctx context.Context, w *change.Writer, dry bool, runs ...string) (Undone, error) {
	release, err := w.Turn(ctx)
	if err != nil {
		return Undone{}, err
	}
	defer release()
	var changes []manifestChange
	var touched []string // runs with something to undo
	out := Undone{}
	for _, run := range runs {
		r, err := l.read(run)
		switch {
		case err != nil:
			return Undone{}, err
		case r.workspace != "" && !l.isHere(r.workspace):
			return Undone{}, &NotHereError{Run: run, Workspace: r.workspace}
		}
		out.Changed = out.Changed || r.undone || len(r.changes) > 0
		if len(r.changes) > 0 {
			touched = append(touched, run)
			changes = append(changes, r.changes...)
		}
	}
	out.Already = out.Changed && len(changes) == 0
	u := undoPass{log: l, writer: w, runs: runs}
	defer u.close()
	if err := u.compare(chains(changes)); err != nil {
		return Undone{}, err
	}
	steps := u.steps(&out)
	if dry || ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	if err := u.keep(); err != nil {
		return Undone{}, fmt.Errorf("undoing: %w", err)
	}
	if err := w.Perform(steps); err != nil {
		return Undone{}, fmt.Errorf("undoing: %w", err)
	}
	if len(u.back) > 0 && !slices.Contains(touched, runs[0]) {
		touched = append(touched, runs[0])
	}
	for _, run := range touched {
		if err := l.note(run, manifestLine{Undone: true, With: runs[0]}); err != nil {
			// It is undone anyway: another undo finds nothing to do.
			l.log.Warn("the undo of a run could not be recorded", "run", run, "error", err)
		}
	}
	l.log.Info("undone", "runs", runs, "files", len(out.Files))
	return out, nil
}

// NotUndoneError says that there is no undo of a run that could be taken back.
type NotUndoneError struct {
	Run  string
	With string // the run with which it was undone; "" if it is not undone
}

func (e *NotUndoneError) Error() string {
	switch e.With {
	case "":
		return "the run " + e.Run + " is not undone, so there is nothing to redo"
	case e.Run:
		return "what the undo of the run " + e.Run + " replaced is not kept: give its goal again"
	default:
		return "the run " + e.Run + " was undone with the run " + e.With + ": redo that run"
	}
}

// Redo takes back the last undo of the first of the runs: every file and folder becomes what
// the undo replaced, all or nothing. With dry it only says what it would do. It fails
// as [Log.Undo] does if a file has changed since the undo, and with a *NotUndoneError.
func (l *Log) Redo(ctx context.Context, w *change.Writer, dry bool, runs ...string) (Undone, error) {
	release, err := w.Turn(ctx)
	if err != nil {
		return Undone{}, err
	}
	defer release()
	out := Undone{Changed: true}
	first, err := l.read(runs[0])
	switch {
	case err != nil:
		return Undone{}, err
	case first.workspace != "" && !l.isHere(first.workspace):
		return Undone{}, &NotHereError{Run: runs[0], Workspace: first.workspace}
	case first.redone:
		out.Already = true
		return out, nil
	case !first.undone:
		return Undone{}, &NotUndoneError{Run: runs[0]}
	case first.with != runs[0] || len(first.reverted) == 0:
		return Undone{}, &NotUndoneError{Run: runs[0], With: cmp.Or(first.with, runs[0])}
	}
	u := undoPass{log: l, writer: w, runs: runs}
	defer u.close()
	if err := u.compare(chains(first.reverted)); err != nil {
		return Undone{}, err
	}
	steps := u.steps(&out)
	if dry || ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	if err := w.Perform(steps); err != nil {
		return Undone{}, fmt.Errorf("redoing: %w", err)
	}
	for _, run := range runs {
		if r, err := l.read(run); err != nil || !r.undone || r.with != runs[0] {
			continue
		}
		if err := l.note(run, manifestLine{Redone: true}); err != nil {
			l.log.Warn("the redo of a run could not be recorded", "run", run, "error", err)
		}
	}
	l.log.Info("redone", "runs", runs, "files", len(out.Files))
	return out, nil
}

// keep stores what the undo is about to replace, so that it can be taken back.
func (u *undoPass) keep() error {
	if len(u.back) == 0 {
		return nil
	}
	s, err := u.log.store(u.runs[0])
	if err != nil {
		return err
	}
	k := savedState{store: s, id: rand.Text(), reverts: true}
	return errors.Join(k.write(u.log.tree.Dir, u.back), k.Unsure())
}

// isHere reports whether a folder is the workspace.
func (l *Log) isHere(dir string) bool {
	if dir == l.tree.Dir {
		return true
	}
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && real == l.tree.Real
}

// note records what became of all changes of a run.
func (l *Log) note(run string, line manifestLine) error {
	s, err := l.store(run)
	if err != nil {
		return err
	}
	line.Time = time.Now().UTC()
	return errors.Join(s.note(true, line), s.root.Close())
}

// undoPass is one undo under way.
type undoPass struct {
	log    *Log
	writer *change.Writer
	runs   []string
	stores map[string]*store
	back   []change.Change // the paths to restore
	litter []change.Change // what a crash has left of files that were being written
	notes  []string
}

func (u *undoPass) close() {
	for _, s := range u.stores {
		if s != nil {
			_ = s.root.Close() // it was read only
		}
	}
}

// kept returns a content that a run kept.
func (u *undoPass) kept(run, hash string) ([]byte, bool) {
	if u.stores == nil {
		u.stores = map[string]*store{}
	}
	s, ok := u.stores[run]
	if !ok {
		s, _ = u.log.store(run) // nil keeps nothing
		u.stores[run] = s
	}
	return s.get(hash)
}

// compare finds what is to be restored. It fails if something else has changed a
// file since.
func (u *undoPass) compare(all []*chain) error {
	var refused ChangedError
	for _, c := range all {
		u.findLitter(c)
		now, err := u.log.tree.Look(c.path)
		hash := now.Hash()
		first := c.first()
		switch {
		case err == nil && hash == first.BeforeSHA && (!c.remade() || !now.Exists || now.Mode == c.mode()):
			continue // as it was
		case err != nil:
			refused.Files = append(refused.Files, ChangedFile{Path: c.path, How: "is no longer what the run left: " + err.Error()})
			continue
		case hash == first.BeforeSHA:
		case !c.leaves(hash):
			refused.add(u, c, now)
			continue
		}
		if c.disturbed() {
			u.notes = append(u.notes, c.path+" was also changed by something else during the run: those changes are undone too")
		}
		was := tree.File{Exists: first.BeforeSHA != "", Dir: first.BeforeSHA == tree.FolderHash}
		if was.Exists {
			was.Mode = now.Mode // where the run did not touch it, it is the user's
			if c.remade() || !now.Exists {
				was.Mode = c.mode()
			}
		}
		if was.Exists && !was.Dir {
			data, whole := u.kept(first.run, first.BeforeSHA)
			if !whole {
				return fmt.Errorf("the original of %s before the run %s is missing or damaged: nothing was restored", c.path, first.run)
			}
			was.Data = data
		}
		u.back = append(u.back, change.Change{Path: c.path, Before: now, After: was})
	}
	if len(refused.Files) > 0 {
		return &refused
	}
	return nil
}

// findLitter finds the temporary files that a crash has left beside a path.
func (u *undoPass) findLitter(c *chain) {
	const within = 5 * time.Second // of the change, so that no other process is writing them
	for _, l := range c.links {
		if l.Done || l.AfterSHA == "" || l.AfterSHA == tree.FolderHash {
			continue
		}
		entries, err := fs.ReadDir(u.log.tree.Root.FS(), path.Dir(l.Path))
		if err != nil {
			continue // there is no such folder any more
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !tree.TempName.MatchString(e.Name()) || info.ModTime().Sub(l.Time).Abs() > within {
				continue
			}
			at := path.Join(path.Dir(l.Path), e.Name())
			known := slices.ContainsFunc(u.litter, func(c change.Change) bool { return c.Path == at })
			if f, err := u.log.tree.LoadEntry(at); err == nil && !f.Dir && !known {
				u.litter = append(u.litter, change.Change{Path: at, Before: f})
			}
		}
	}
}

// add adds a file that has changed since.
func (e *ChangedError) add(u *undoPass, c *chain, now tree.File) {
	last := c.last()
	changed := ChangedFile{Path: c.path, How: "changed since", Run: u.log.since(c.path, now.Hash(), last.Time, u.runs)}
	switch {
	case !now.Exists:
		changed.How = "was removed since"
	case now.Dir && last.AfterSHA != tree.FolderHash:
		changed.How = "was made a folder since"
	case last.AfterSHA == "":
		changed.How = "was made again since"
	}
	e.Files = append(e.Files, changed)
	left := tree.File{Exists: last.AfterSHA != "", Dir: last.AfterSHA == tree.FolderHash}
	whole := true
	if left.Exists && !left.Dir {
		left.Data, whole = u.kept(last.run, last.AfterSHA)
	}
	if !whole {
		e.Diff += fmt.Sprintf("the content of %s after the run is no longer kept\n", c.path)
		return
	}
	diff, _ := change.Change{Path: c.path, Before: left, After: now}.Diff()
	e.Diff += diff
}

// steps returns the changes that restore everything, in an order in which each is
// possible, and lists them in out.
func (u *undoPass) steps(out *Undone) []change.Change {
	removed := map[string]bool{} // paths that will not be there
	var folders, files, modes []change.Change
	remove := slices.Clone(u.litter)
	for _, c := range remove {
		removed[c.Path] = true
	}
	slices.SortFunc(u.back, func(a, b change.Change) int { return strings.Compare(a.Path, b.Path) })
	for _, b := range slices.Backward(u.back) { // what is in a folder before the folder
		switch {
		case b.After.Exists || !b.Before.Exists:
		case b.Before.Dir && !u.log.holdsOnly(b.Path, removed):
			u.notes = append(u.notes, "the folder "+b.Path+" stays, because it contains other files")
			continue
		default:
			removed[b.Path] = true
			remove = append(remove, b)
			continue
		}
	}
	for _, b := range u.back {
		switch {
		case !b.After.Exists:
			continue
		case b.Before.Exists && b.Before.Dir != b.After.Dir: // a file in the place of a folder, or the other way round
			removed[b.Path] = true
			remove = append(remove, change.Change{Path: b.Path, Before: b.Before})
			b.Before = tree.File{}
		}
		if !b.After.Dir {
			files = append(files, b)
			continue
		}
		created := change.Change{Path: b.Path, Before: b.Before, After: tree.File{Exists: true, Dir: true, Mode: 0o700}}
		if !b.Before.Exists {
			folders = append(folders, created)
			created.Before = created.After
		}
		created.After.Mode = b.After.Mode
		modes = append(modes, created) // last: a folder may be one that nothing can be written into
	}
	for _, b := range u.back {
		diff, _ := b.Diff()
		action := "restored"
		switch {
		case !b.After.Exists && !removed[b.Path]:
			continue
		case !b.After.Exists:
			action = "removed"
		case !b.Before.Exists:
			action = "recreated"
		}
		out.Diff += diff
		out.Files = append(out.Files, File{Path: b.Path, Action: action, Folder: b.Before.Dir || b.After.Dir})
	}
	out.Notes = append(out.Notes, u.notes...)
	slices.SortFunc(remove, func(a, b change.Change) int { return strings.Compare(b.Path, a.Path) })
	rest := u.writer.WithFolders(slices.Concat(folders, files, modes))
	return slices.Concat(remove, rest)
}

// holdsOnly reports whether all entries of a folder will be removed.
func (l *Log) holdsOnly(dir string, removed map[string]bool) bool {
	entries, err := fs.ReadDir(l.tree.Root.FS(), dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if !removed[path.Join(dir, e.Name())] {
			return false
		}
	}
	return true
}

// Changed reports whether a run has changes that are not undone. dir is
// [Config.Dir].
func Changed(dir, run string) bool {
	r, err := (&Log{dir: dir}).read(run)
	return err == nil && len(r.changes) > 0
}

// UndoneAt returns when a run was undone if that can be taken back; the zero time if it cannot.
// dir is [Config.Dir].
func UndoneAt(dir, run string) time.Time {
	r, err := (&Log{dir: dir}).read(run)
	if err != nil || !r.undone || len(r.reverted) == 0 || r.with != run {
		return time.Time{}
	}
	return r.when
}

// AllUndone reports whether a run has made changes and all of them are undone. dir is
// [Config.Dir].
func AllUndone(dir, run string) bool {
	r, err := (&Log{dir: dir}).read(run)
	return err == nil && r.undone
}
