package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/mcpclient/workspace/code/source"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
	"replan/planning/plan"
)

// change is what one file was and what it is to be.
type change struct {
	path          string // from resolve
	before, after tree.File
	moved         string // of what is made: where it was before; of what goes: where it is then
}

type changeResult struct {
	Files []changedFile `json:"files"`
	Diff  string        `json:"diff"`
}

type changedFile struct {
	Path    string `json:"path"`
	Action  string `json:"action"`           // created, changed, removed or moved
	From    string `json:"from,omitempty"`   // where what was moved was before
	Folder  bool   `json:"folder,omitempty"` // it is a folder
	Added   int    `json:"added"`            // lines
	Removed int    `json:"removed"`          // lines
}

// change computes what a call would do and, unless it is a preview, does it.
// Everything is computed before the first byte is written.
func (o *Operators) change(ctx context.Context, c op.Call, compute func() ([]change, error)) (*op.Answer[changeResult], error) {
	if c.Preview {
		changes, err := compute()
		if err != nil {
			return nil, err
		}
		diff, _ := shown(changes)
		preview := op.Preview{Diff: diff, Hashes: make(map[string]string, len(changes)), Removes: removes(c, changes)}
		for _, ch := range changes {
			preview.Hashes[ch.path] = ch.before.Hash()
		}
		return &op.Answer[changeResult]{Preview: &preview, Text: diff}, nil
	}
	release, err := o.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	changed, foreign, err := o.changedSince(c)
	switch {
	case err != nil:
		return nil, err
	case foreign != "":
		return nil, op.Outdated(foreign + " changed since it was approved")
	}
	changes, err := compute()
	switch {
	case err != nil && changed != "":
		return nil, op.Outdated(changed + " changed since it was approved") // its gate says what is wrong with it now
	case err != nil:
		return nil, err
	case changed != "" && !stillApproved(c, changes):
		return nil, op.Outdated(changed + " was changed by another step of this run since it was approved")
	}
	for _, ch := range changes {
		if _, ok := c.Hashes[ch.path]; c.Hashes != nil && !ok {
			return nil, op.Outdated(ch.path + " was not in the diff that was approved")
		}
	}
	if c.Hold {
		if removes := removes(c, changes); removes != "" {
			return nil, op.Removal(removes)
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(changes) > 0 {
		if err := o.apply(ctx, c.Run, changes); err != nil {
			return nil, err
		}
		o.seen.changed(changes)
		o.leave(c.Run, changes)
	}
	return o.changed(changes), nil
}

// maxPreview is how many bytes of a diff are shown beforehand. The hashes stand
// for all of it.
const maxPreview = 1 << 20

// shown is the diff of changes that are to be approved, and whether that is all of
// it. Where what is to be removed is too much to be read, its files are listed with
// their sizes.
func shown(changes []change) (text string, whole bool) {
	removed := 0
	for _, ch := range changes {
		if ch.goes() {
			removed += len(ch.before.Data)
		}
	}
	whole = true
	var b strings.Builder
	for i, ch := range changes {
		var diff string
		if removed > maxPreview && ch.goes() && !ch.before.Dir {
			whole = false
			diff = fmt.Sprintf("file %s removed: %s\n", ch.path, size(ch.before))
		} else {
			diff, _ = ch.diff()
		}
		if room := maxPreview - b.Len(); len(diff) > room {
			cut := strings.LastIndexByte(diff[:room], '\n') + 1
			fmt.Fprintf(&b, "%s[cut: %d bytes of what changes in %s", diff[:cut], len(diff)-cut, ch.path)
			if left := len(changes) - i - 1; left > 0 {
				fmt.Fprintf(&b, " and %s after it are not shown", english.Count(left, "change"))
			} else {
				b.WriteString(" are not shown")
			}
			b.WriteString("]\n")
			whole = false
			break
		}
		b.WriteString(diff)
	}
	return b.String(), whole
}

// goes reports whether what was there is removed for good.
func (c change) goes() bool { return c.before.Exists && !c.after.Exists && c.moved == "" }

// size is how much a file holds, in words.
func size(f tree.File) string {
	if !tree.IsText(f.Data) {
		return english.Count(len(f.Data), "byte")
	}
	return english.Count(source.CountLines(string(f.Data)), "line")
}

// turn waits until no other call changes anything. The returned function ends the
// turn.
func (o *Operators) turn(ctx context.Context) (release func(), err error) {
	select {
	case o.changing <- struct{}{}:
		return func() { <-o.changing }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// changed reports what was done.
func (o *Operators) changed(changes []change) *op.Answer[changeResult] {
	result := changeResult{Files: []changedFile{}}
	var said []string
	for _, ch := range changes {
		diff, counts := ch.diff()
		result.Diff += diff
		if counts.Action == "" {
			continue // told by where it went
		}
		result.Files = append(result.Files, counts)
		switch {
		case counts.From != "":
			said = append(said, fmt.Sprintf("%s moved to %s", counts.From, counts.Path))
		case counts.Folder:
			said = append(said, fmt.Sprintf("folder %s %s", counts.Path, counts.Action))
		default:
			said = append(said, fmt.Sprintf("%s %s +%d -%d", counts.Path, counts.Action, counts.Added, counts.Removed))
		}
	}
	if len(said) == 0 {
		said = []string{"nothing had to be changed"}
	}
	if len(result.Diff) > o.maxOutput {
		cut := strings.LastIndexByte(result.Diff[:o.maxOutput], '\n') + 1
		result.Diff = result.Diff[:cut] + fmt.Sprintf("[cut: %d of %d bytes]\n", cut, len(result.Diff))
	}
	o.log.Info("files changed", "files", said)
	return op.Reply(result, strings.Join(said, "\n"))
}

// apply makes all changes of a run or none, and the folders that they need, and
// keeps what was there before. A failure to put that back is an unsureError.
// Nothing is changed once ctx has ended, as its call may be left by then.
func (o *Operators) apply(ctx context.Context, run string, changes []change) error {
	changes = o.withFolders(changes)
	kept, err := o.backups.keep(run, changes)
	if err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	if err = context.Cause(ctx); err == nil {
		err = o.perform(changes)
	}
	said := kept.done
	if unsure := new(op.UnsureError); errors.As(err, &unsure) {
		said = kept.unsure
	} else if err != nil {
		said = kept.rolledBack
	}
	if noted := said(); noted != nil {
		o.log.Warn("how a change ended is not in the list of changes", "run", run, "error", noted)
	}
	return err
}

// perform makes changes that are written down: all or none. Each file is looked
// at once more right before it is replaced, as its user may have saved it since
// the changes were computed.
func (o *Operators) perform(changes []change) error {
	for i, c := range changes {
		err := o.still(c.path, c.before, c.after)
		if err == nil {
			err = o.put(c.path, c.after)
		}
		if err == nil {
			continue
		}
		if back := o.restore(changes[:i]); back != nil {
			return &op.UnsureError{Err: fmt.Errorf("a change failed and could not be undone, look at the files: %w", errors.Join(err, back))}
		}
		return fmt.Errorf("nothing was changed: %w", err)
	}
	return nil
}

// withFolders adds the folders that the changes need and that are missing, each
// before what goes into it, so that they are kept note of like any change.
func (o *Operators) withFolders(changes []change) []change {
	known := map[string]bool{".": true}
	for _, c := range changes {
		if c.after.Dir {
			known[c.path] = true
		}
	}
	var folders []change
	for _, c := range changes {
		if !c.after.Exists {
			continue
		}
		var missing []change
		for at := path.Dir(c.path); !known[at]; at = path.Dir(at) {
			known[at] = true
			if _, err := o.tree.Root.Lstat(at); errors.Is(err, fs.ErrNotExist) {
				missing = append(missing, change{path: at, after: tree.File{Exists: true, Dir: true}})
			}
		}
		slices.Reverse(missing)
		folders = append(folders, missing...)
	}
	return append(folders, changes...)
}

// still checks that a path is what it is known to be, before something else is
// put there. A folder in the place of a file that is to be written cannot be
// lost: put says what is wrong with it. One that is to be made may be there.
func (o *Operators) still(at string, known, next tree.File) error {
	now, err := o.tree.Look(at)
	switch {
	case err != nil:
		return err
	case now.Hash() == known.Hash(), now.Dir && next.Exists:
		return nil
	case !now.Exists:
		return fmt.Errorf("%s was removed while the change was made; look at it again", at)
	}
	return fmt.Errorf("%s was saved by something else while the change was made; look at it again", at)
}

// restore puts back what was there before the changes, the last one first. What
// was saved over them since stays.
func (o *Operators) restore(changes []change) error {
	var failed error
	for _, c := range slices.Backward(changes) {
		err := o.still(c.path, c.after, c.before)
		if err == nil {
			err = o.put(c.path, c.before)
		}
		if err != nil && c.after.Dir && !c.before.Exists {
			o.log.Warn("a folder that was made stays", "folder", c.path, "error", err)
			continue
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// put makes a file or a folder what it is to be, which may be absent. The folder
// that it is in is there.
func (o *Operators) put(at string, f tree.File) error {
	switch {
	case !f.Exists:
		if err := o.tree.Root.Remove(at); err != nil {
			return fmt.Errorf("removing %s: %w", at, err)
		}
	case f.Dir:
		return o.putFolder(at, f.Mode)
	case f.Mode == 0: // new: what the umask leaves of it
		return tree.WriteAtomic(o.tree.Root, at, tree.File{Data: f.Data, Mode: newFile})
	default:
		return tree.WriteAtomic(o.tree.Root, at, f)
	}
	tree.SyncFolder(o.tree.Root, path.Dir(at))
	return nil
}

// What a new file and a new folder may be used for, as far as the umask lets.
const (
	newFile   = 0o644
	newFolder = 0o755
)

// putFolder makes a folder of this mode; 0 is what the umask leaves of a new
// one. One that is there is kept, with what is in it.
func (o *Operators) putFolder(at string, mode fs.FileMode) error {
	err := o.tree.Root.Mkdir(at, newFolder)
	if errors.Is(err, fs.ErrExist) {
		if info, wrong := o.tree.Root.Lstat(at); wrong == nil && info.IsDir() {
			err = nil
		}
	}
	if err == nil && mode != 0 {
		err = o.tree.Root.Chmod(at, mode)
	}
	if err != nil {
		return fmt.Errorf("making the folder %s: %w", at, err)
	}
	tree.SyncFolder(o.tree.Root, path.Dir(at))
	return nil
}

// diff is the change as a unified diff with three lines of context, and how
// many lines it adds and removes.
//
// What is no text and folders are told in a line; so is a move, once, by the
// change that makes what was moved.
func (c change) diff() (string, changedFile) {
	counts := changedFile{Path: c.path, Action: "changed", Folder: c.before.Dir || c.after.Dir}
	switch {
	case c.moved != "" && !c.after.Exists:
		return "", changedFile{}
	case c.moved != "":
		counts.Action, counts.From = "moved", c.moved
	case !c.before.Exists:
		counts.Action = "created"
	case !c.after.Exists:
		counts.Action = "removed"
	}
	switch {
	case counts.Folder && c.moved != "":
		return fmt.Sprintf("folder %s moved to %s\n", c.moved, c.path), counts
	case counts.Folder:
		return fmt.Sprintf("folder %s %s\n", c.path, counts.Action), counts
	case c.moved != "":
		return fmt.Sprintf("diff --git a/%s b/%s\nsimilarity index 100%%\nrename from %s\nrename to %s\n", c.moved, c.path, c.moved, c.path), counts
	}
	from, to := "a/"+c.path, "b/"+c.path
	if !c.before.Exists {
		from = "/dev/null"
	}
	if !c.after.Exists {
		to = "/dev/null"
	}
	if !tree.IsText(c.before.Data) || !tree.IsText(c.after.Data) {
		return fmt.Sprintf("Binary files %s and %s differ\n", from, to), counts
	}
	text, added, removed := plan.UnifiedDiff(from, to, string(c.before.Data), string(c.after.Data))
	counts.Added, counts.Removed = added, removed
	if text == "" && c.before.Exists != c.after.Exists {
		text = fmt.Sprintf("--- %s\n+++ %s\n", from, to) // an empty file comes or goes
	}
	return text, counts
}
