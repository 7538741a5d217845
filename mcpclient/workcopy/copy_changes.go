package workcopy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/tree"
	"replan/planning/plan"
)

// The most that an offer holds.
const (
	maxOffered      = 5000     // files
	maxOfferedBytes = 64 << 20 // of their content after the change
)

// Offer is what runs changed in the copy.
type Offer struct {
	ID    string   // hash of all of it
	Runs  []string // that worked in the copy, oldest first
	Files []File
	Notes []string // on what cannot be taken, a sentence each
	Moves []Move   // of branches and tags

	changes []change.Change // of Files
	kept    []string        // paths that can only be dropped
	stuck   bool            // Moves cannot be taken
}

// File is a changed file of an offer.
type File struct {
	change.File
	Diff     string // unified
	Hunks    int    // of Diff
	Conflict bool   // the file of the workspace changed too: it cannot be taken
}

// Empty reports whether nothing changed.
func (o Offer) Empty() bool { return len(o.Files)+len(o.Notes)+len(o.Moves) == 0 }

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
	o.Runs = slices.Clone(c.state.Runs)
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
			o.kept = append(o.kept, at)
			o.Notes = append(o.Notes, fmt.Sprintf("%s cannot be taken: %s", at, why))
		case ch.Path != "":
			o.add(ch, conflict)
		}
	}
	if len(o.kept) > 0 {
		o.Notes = append(o.Notes, fmt.Sprintf("%s %s in %s until you drop the changes", english.Count(len(o.kept), "path"), english.Agree(len(o.kept), "stays", "stay"), c.Dir))
	}
	c.addMoves(&o)
	o.ID = o.hash()
	return o, nil
}

// add adds a change with its diff.
func (o *Offer) add(ch change.Change, conflict bool) {
	f := File{Conflict: conflict}
	f.Diff, f.File = ch.Diff()
	switch was, is := ch.Before, ch.After; {
	case !is.Exists, is.Dir:
	case was.Exists && !was.Dir && was.Mode != is.Mode:
		f.Diff = fmt.Sprintf("mode of %s: %04o, was %04o\n%s", ch.Path, is.Mode, was.Mode, f.Diff)
	case !was.Exists && is.Mode&0o111 != 0:
		f.Diff = fmt.Sprintf("mode of %s: %04o\n%s", ch.Path, is.Mode, f.Diff)
	}
	for line := range strings.Lines(f.Diff) {
		if strings.HasPrefix(line, "@@ ") {
			f.Hunks++
		}
	}
	o.Files = append(o.Files, f)
	o.changes = append(o.changes, ch)
}

// hash returns a hash over everything that is offered.
func (o *Offer) hash() string {
	sum := sha256.New()
	for i, ch := range o.changes {
		_, _ = fmt.Fprintf(sum, "%q %s %o %s %o %t\n", ch.Path, ch.Before.Hash(), ch.Before.Mode, ch.After.Hash(), ch.After.Mode, o.Files[i].Conflict)
	}
	_, _ = fmt.Fprintf(sum, "%q %q\n", o.Notes, o.Moves)
	return hex.EncodeToString(sum.Sum(nil))
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

// Choice says which changes of an offer to take. What is not taken is dropped, or
// waits.
type Choice struct {
	Offer string // the ID of the offer that was looked at
	All   bool   // all that can be taken
	Files map[string]FileChoice
	Keep  bool // what is not taken waits
}

// FileChoice is what to take of a file.
type FileChoice struct {
	All   bool
	Hunks []int // of its diff, counted from 0
}

// Settled is what became of an offer.
type Settled struct {
	Taken   []change.File
	Dropped []string // paths
	Runs    []string
	Notes   []string
}

// ErrOutdated reports that the copy changed since the offer that the user looked at.
var ErrOutdated = errors.New("the changes differ from those that you looked at: look at them again")

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
	taken, waits, whole := c.choose(o, choice, &s)
	if len(taken) > 0 {
		if err := c.target.Apply(ctx, newest(o.Runs), c.inOrder(taken)); err != nil {
			return Settled{}, fmt.Errorf("take the changes: %w", err)
		}
	}
	whole = whole && (choice.All || len(taken) > 0)
	if err := c.settleMoves(ctx, o, whole, &s); err != nil {
		return s, err
	}
	held := (choice.All || choice.Keep) && (len(o.kept)+len(waits) > 0 || o.stuck)
	if len(o.Moves) > 0 && (!whole || o.stuck) {
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
	s.Dropped = append(s.Dropped, o.kept...)
	c.state.Runs = nil
	return s, c.refresh(ctx, true)
}

// choose returns the changes that are taken, what is said of those that wait, and
// whether all is taken.
func (c *Copy) choose(o Offer, choice Choice, s *Settled) (taken []change.Change, waits []string, whole bool) {
	whole = true
	var left []string
	for i, ch := range o.changes {
		part, all := o.Files[i].chosen(ch, choice)
		whole = whole && all
		switch {
		case choice.All && o.Files[i].Conflict:
			waits = append(waits, fmt.Sprintf("%s changed in this folder too: its changes stay in %s until you drop them", ch.Path, c.Dir))
		case part.Path == "" && choice.Keep:
			left = append(left, ch.Path)
		case part.Path == "":
			s.Dropped = append(s.Dropped, ch.Path)
		default:
			taken = append(taken, part)
			_, counts := part.Diff()
			s.Taken = append(s.Taken, counts)
		}
	}
	left = slices.DeleteFunc(left, func(at string) bool { // a folder that is made for what is in it
		return slices.ContainsFunc(taken, func(ch change.Change) bool { return strings.HasPrefix(ch.Path, at+"/") && ch.After.Exists })
	})
	if len(left) > 0 {
		waits = append(waits, fmt.Sprintf("%s %s in the copy", english.Count(len(left), "changed file"), english.Agree(len(left), "waits", "wait")))
	}
	return taken, waits, whole
}

// check fails if the user did not look at this offer, or chose what cannot be taken.
func (o Offer) check(choice Choice) error {
	if choice.Offer != "" && choice.Offer != o.ID && o.ID != "" {
		return ErrOutdated
	}
	for name := range choice.Files {
		at := slices.IndexFunc(o.Files, func(f File) bool { return f.Path == name })
		switch {
		case at < 0:
			return fmt.Errorf("no run changed %s: look at the changes again", name)
		case o.Files[at].Conflict:
			return fmt.Errorf("%s changed in this folder too: it cannot be taken", name)
		}
	}
	return nil
}

func newest(runs []string) string {
	if len(runs) == 0 {
		return ""
	}
	return runs[len(runs)-1]
}

// chosen returns what is taken of a change, and whether that is all of it. It has no
// path if that is nothing.
func (f File) chosen(ch change.Change, choice Choice) (part change.Change, all bool) {
	file := choice.Files[ch.Path]
	switch {
	case f.Conflict:
		return change.Change{}, false
	case choice.All || file.All:
		return ch, true
	case len(file.Hunks) == 0 || f.Hunks == 0:
		return change.Change{}, false
	}
	ch.After.Data = []byte(plan.TakeHunks(string(ch.Before.Data), string(ch.After.Data), func(hunk int) bool { return slices.Contains(file.Hunks, hunk) }))
	ch.After.Exists = true
	if ch.After.Mode == 0 {
		ch.After.Mode = ch.Before.Mode
	}
	return ch, false
}

// inOrder sorts changes so that each can be made: removals first, each folder after its
// entries, then new and changed files, each folder before its entries. A folder
// that keeps entries, such as files that git ignores, is not removed.
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
