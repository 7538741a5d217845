package workcopy

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/tree"
)

// Changes returns what runs changed in the copy since all of it was taken or dropped.
// Files that git ignores are left out.
func (c *Copy) Changes(ctx context.Context) (Offer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes(ctx)
}

func (c *Copy) changes(ctx context.Context) (o Offer, err error) {
	paths, err := c.changedPaths(ctx)
	if err != nil {
		return o, err
	}
	if paths, err = c.notIgnored(ctx, paths); err != nil {
		return o, err
	}
	target, err := tree.Open(filepath.Join(c.top, c.inside), nil, nil)
	if err != nil {
		return o, err
	}
	defer target.Close() //nolint:errcheck // it was only read
	own, err := tree.Open(c.Dir, nil, nil)
	if err != nil {
		return o, err
	}
	defer own.Close() //nolint:errcheck // it was only read
	o = Offer{Runs: slices.Clone(c.state.Runs)}
	size := 0
	for _, at := range paths {
		if ctx.Err() != nil {
			return o, context.Cause(ctx)
		}
		ch, conflict, why := c.changeOf(target, own, at)
		size += len(ch.After.Data)
		if why == "" && (len(o.Files) == maxOffered || size > maxOfferedBytes) {
			why = "there are too many changes to show"
		}
		switch {
		case why != "":
			o.addDropOnly(at, why)
		case ch.Path != "":
			o.add(ch, conflict)
		}
	}
	o.noteDropOnly(c.Dir)
	c.addMoves(&o)
	o.setID()
	return o, nil
}

// changedPaths returns the paths below the workspace whose state in the copy is not
// the known one, relative to the copied folder, parents first.
func (c *Copy) changedPaths(ctx context.Context) ([]string, error) {
	found := map[string]bool{}
	seen := map[string]bool{}
	start := filepath.ToSlash(c.inside)
	err := fs.WalkDir(c.root.FS(), start, func(at string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case at == start:
			return err
		case at == gitName, c.isPrivate(at):
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case err != nil:
			return nil //nolint:nilerr // it cannot be read, so it cannot be taken
		}
		seen[at] = true
		if now := stampIn(c.root, at, d); now != c.base[at].Copy && (!now.isDir() || !c.base[at].Copy.isDir()) {
			found[at] = true
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for changes in the copy: %w", err)
	}
	for at := range c.base {
		if !seen[at] && (start == "." || strings.HasPrefix(at, start+"/")) {
			found[at] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// changeOf returns the change of one path, whether the file of the workspace changed
// too, and why it cannot be taken, if so. A change without a path is none.
func (c *Copy) changeOf(target, own *tree.Tree, top string) (ch change.Change, conflict bool, why string) {
	at, err := filepath.Rel(c.inside, filepath.FromSlash(top))
	if err != nil {
		return ch, false, err.Error()
	}
	at = filepath.ToSlash(at)
	folder, copied := look(c.folder, top), look(c.root, top)
	switch {
	case copied == stamp{} && folder == stamp{}:
		return ch, false, ""
	case copied.isLink(), folder.isLink():
		if folder.Link == copied.Link && folder.isLink() && copied.isLink() {
			return ch, false, ""
		}
		return ch, false, "links are not taken"
	}
	if why = c.barrier(top, map[string]string{}); why != "" {
		return ch, false, why
	}
	if err := tree.NotGits(at); err != nil {
		return ch, false, err.Error()
	}
	if resolved, err := own.Resolve(at); err != nil || resolved != at {
		return ch, false, "its name, or a link on the way to it, is not allowed in a workspace"
	}
	ch = change.Change{Path: at}
	if ch.Before, err = target.Look(at); err == nil {
		ch.After, err = own.Look(at)
	}
	if err != nil {
		return ch, false, err.Error()
	}
	if ch.Before.Exists && ch.After.Exists && ch.Before.Dir != ch.After.Dir {
		return ch, false, "a file became a folder, or a folder a file"
	}
	conflict = folder != c.base[top].Folder && (!folder.isDir() || !c.base[top].Folder.isDir())
	if ch.After.Dir && ch.Before.Dir || ch.After.Hash() == ch.Before.Hash() && ch.After.Mode == ch.Before.Mode {
		return change.Change{}, false, ""
	}
	return ch, conflict, ""
}

// Settle brings the chosen changes into the workspace, as changes of the newest run,
// and drops the others unless they are to wait.
func (c *Copy) Settle(ctx context.Context, choice Choice) (s Settled, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, err := c.changes(ctx)
	switch drops := !choice.All && len(choice.Files) == 0; {
	case err != nil && drops && ctx.Err() == nil: // what cannot be shown can be dropped
		o = Offer{Runs: slices.Clone(c.state.Runs)}
	case err != nil:
		return s, err
	}
	if err := o.check(choice); err != nil {
		return s, err
	}
	s.Runs = o.Runs
	taken, waits, whole := o.choose(choice, c.Dir, &s)
	if len(taken) > 0 {
		if err := c.target.Apply(ctx, newest(o.Runs), c.inOrder(taken)); err != nil {
			return Settled{}, fmt.Errorf("take the changes: %w", err)
		}
	}
	whole = whole && (choice.All || len(taken) > 0)
	if err := c.settleMoves(ctx, o, whole, &s); err != nil {
		return s, err
	}
	held := o.remains(choice, waits)
	if len(o.Moves) > 0 && !o.movable(whole) {
		became := "were dropped"
		if held {
			became = "wait"
		}
		s.Notes = append(s.Notes, "commits and branches of the copy "+became+": they are taken with all files alone")
	}
	if held {
		s.Notes = slices.Concat(s.Notes, o.Notes, waits)
		return s, c.refresh(ctx, false)
	}
	s.Dropped = append(s.Dropped, o.dropOnlyPaths()...)
	c.state.Runs = nil
	return s, c.refresh(ctx, true)
}

// inOrder sorts changes so that each can be made. It puts removals first, with each folder
// after its entries. Then come new and changed files, each folder before its entries. A
// folder that keeps entries, such as files that git ignores, is not removed.
func (c *Copy) inOrder(changes []change.Change) []change.Change {
	removed := map[string]bool{}
	for _, ch := range changes {
		removed[ch.Path] = !ch.After.Exists
	}
	kept := map[string]bool{}
	keeps := func(folder string) bool {
		entries, err := fs.ReadDir(c.folder.FS(), path.Join(filepath.ToSlash(c.inside), folder))
		return err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			at := path.Join(folder, e.Name())
			return !removed[at] || kept[at]
		})
	}
	slices.SortFunc(changes, func(a, b change.Change) int { return strings.Compare(b.Path, a.Path) }) // entries before their folder
	changes = slices.DeleteFunc(changes, func(ch change.Change) bool {
		if ch.Before.Dir && !ch.After.Exists {
			kept[ch.Path] = keeps(ch.Path)
		}
		return kept[ch.Path]
	})
	slices.SortStableFunc(changes, func(a, b change.Change) int {
		switch {
		case a.After.Exists != b.After.Exists && !a.After.Exists:
			return -1
		case a.After.Exists != b.After.Exists:
			return 1
		case a.After.Exists:
			return strings.Compare(a.Path, b.Path)
		default:
			return strings.Compare(b.Path, a.Path)
		}
	})
	return changes
}

// notIgnored leaves out the paths that git ignores, by the rules of the workspace.
func (c *Copy) notIgnored(ctx context.Context, paths []string) ([]string, error) {
	if len(paths) == 0 || c.target == nil {
		return paths, nil
	}
	full := make([]string, 0, len(paths))
	barriers := map[string]string{}
	for _, at := range paths {
		if c.barrier(at, barriers) == "" {
			full = append(full, filepath.Join(c.top, at))
		}
	}
	if len(full) == 0 {
		return paths, nil
	}
	ignored, err := c.target.Git().Ignored(ctx, full)
	if err != nil {
		return nil, fmt.Errorf("find the files that git ignores: %w", err)
	}
	return slices.DeleteFunc(paths, func(at string) bool { return ignored[filepath.Join(c.top, at)] }), nil
}

// barrier says why git answers nothing about a path of the folder, if so. It remembers
// what it found for the folders on the way.
func (c *Copy) barrier(at string, known map[string]string) (why string) {
	dir := path.Dir(at)
	if dir == "." {
		return ""
	}
	if why, found := known[dir]; found {
		return why
	}
	if why = c.barrier(dir, known); why == "" {
		if look(c.folder, dir).isLink() {
			why = "links are not taken, nor what replaces one"
		} else if _, err := c.folder.Lstat(path.Join(dir, gitName)); err == nil {
			why = "it lies in a nested repository"
		}
	}
	known[dir] = why
	return why
}
