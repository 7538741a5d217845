package change

import (
	"maps"
	"slices"
	"strings"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace/op"
)

// stillApproved reports whether changes are what the call was approved with, although
// a file is no longer what it was then.
func stillApproved(c op.Call, changes []Change) bool {
	diff, whole := shown(changes)
	return whole && builtin.DiffHash(diff) == c.Diff
}

// leave remembers what a run has made of files.
func (w *Writer) leave(run string, changes []Change) {
	if run == "" {
		return
	}
	for _, ch := range changes {
		w.left.note(run+" "+ch.Path, ch.After.Hash())
	}
}

// Unchanged checks that every file still has its hash. It returns the first
// that has not, empty where there is none.
func (w *Writer) Unchanged(hashes map[string]string) (string, error) {
	_, foreign, err := w.changedSince(op.Call{Hashes: hashes})
	return foreign, err
}

// changedSince compares files with what a call was approved against. It returns the
// first that its own run has changed since, and the first that somebody else has.
func (w *Writer) changedSince(c op.Call) (changed, foreign string, err error) {
	for _, name := range slices.Sorted(maps.Keys(c.Hashes)) {
		at, err := w.tree.Resolve(name)
		if err != nil {
			return "", "", err
		}
		f, err := w.tree.LoadEntry(at)
		if err != nil {
			return "", "", err
		}
		switch hash := f.Hash(); {
		case hash == strings.ToLower(c.Hashes[name]):
		case c.Run == "" || !w.left.has(c.Run+" "+at, hash):
			return "", name, nil
		case changed == "":
			changed = name
		}
	}
	return changed, "", nil
}
