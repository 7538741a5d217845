package undo

import (
	"cmp"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"replan/mcpclient/workspace/tree"
)

// manifestChange is one changed path in the manifest of a run.
type manifestChange struct {
	manifestLine
	run string
}

// chain is the changes of one path in their order.
type chain struct {
	path  string
	links []manifestChange
}

// runManifest is the manifest of a run.
type runManifest struct {
	workspace string
	changes   []manifestChange // that were not undone, nor rolled back
	undone    bool             // all there was is undone
	redone    bool             // the last undo was taken back

	with     string           // the run with which it was undone
	when     time.Time        // it was undone
	past     []manifestChange // what the last undo put back
	reverted []manifestChange // how it did
}

// take returns what is recorded after one more line.
func (r runManifest) take(l manifestLine, run string) runManifest {
	of := func(n manifestChange) bool { return n.Change == l.Change }
	switch {
	case l.Undone:
		r.past, r.changes = append(r.past, r.changes...), nil
		r.undone, r.redone, r.with, r.when = true, false, l.With, l.Time
	case l.Redone:
		r.changes, r.past, r.reverted = append(r.past, r.changes...), nil, nil
		r.undone, r.redone = false, true
	case l.RolledBack:
		r.changes = slices.DeleteFunc(r.changes, of)
	case l.Done:
		for i := range r.changes {
			r.changes[i].Done = r.changes[i].Done || of(r.changes[i])
		}
	case l.Path != "" && l.Reverts:
		r.reverted = append(r.reverted, manifestChange{l, run})
	case l.Path != "":
		r.changes = append(r.changes, manifestChange{l, run})
		r.undone, r.redone = false, false
		r.past, r.reverted = nil, nil // an undo before this change cannot be taken back
	case l.Workspace != "":
		r.workspace = l.Workspace
	}
	return r
}

// chains groups changes by path. Changes of several runs are in the order of their
// times, those of one run in the order in which it made them.
func chains(changes []manifestChange) []*chain {
	slices.SortStableFunc(changes, func(a, b manifestChange) int { return a.Time.Compare(b.Time) })
	byPath := map[string]*chain{}
	var all []*chain
	for _, n := range changes {
		c := byPath[n.Path]
		if c == nil {
			c = &chain{path: n.Path}
			byPath[n.Path] = c
			all = append(all, c)
		}
		c.links = append(c.links, n)
	}
	slices.SortFunc(all, func(a, b *chain) int { return cmp.Compare(a.path, b.path) })
	return all
}

func (c chain) first() manifestChange { return c.links[0] }
func (c chain) last() manifestChange  { return c.links[len(c.links)-1] }

// leaves reports whether the path can have this hash after the last change. It may be the
// new one, or the old one if a crash may have come first. An interrupted undo may have
// left nothing where a folder had become a file.
func (c chain) leaves(hash string) bool {
	first, last := entryKind(c.first().BeforeSHA), c.last()
	swapped := first != "" && last.AfterSHA != "" && first != entryKind(last.AfterSHA)
	return hash == last.AfterSHA || !last.Done && hash == last.BeforeSHA || swapped && hash == ""
}

// entryKind says what a hash is of: a file, a folder or "" for nothing.
func entryKind(hash string) string {
	if hash == "" || hash == tree.FolderHash {
		return hash
	}
	return "file"
}

// remade reports whether the path was missing, or of another kind, in between, or an undo
// restored it. Its mode is then not the original one.
func (c chain) remade() bool {
	for _, l := range c.links {
		if l.Reverts || l.BeforeSHA == "" || entryKind(l.AfterSHA) != entryKind(l.BeforeSHA) {
			return true
		}
	}
	return false
}

// disturbed reports whether something else changed the path between two changes.
func (c chain) disturbed() bool {
	for i, l := range c.links[1:] {
		before := c.links[i]
		if l.BeforeSHA != before.AfterSHA && (before.Done || l.BeforeSHA != before.BeforeSHA) {
			return true
		}
	}
	return false
}

// mode is the mode that the path had before the first change.
func (c chain) mode() fs.FileMode {
	mode, err := strconv.ParseUint(c.first().Mode, 8, 32)
	if err != nil {
		return 0
	}
	return fs.FileMode(mode).Perm()
}
