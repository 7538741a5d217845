package change

import (
	"maps"
	"slices"
	"strings"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace/op"
)

// stillApproved reports whether changes have the approved diff, although a file has
// changed since the approval.
func stillApproved(c op.Call, changes []Change) bool {
	diff, whole := shown(changes)
	return whole && builtin.DiffHash(diff) == c.Diff
}

// leave remembers how a run has left files.
func (w *Writer) leave(run string, changes []Change) {
	if run == "" {
		return
	}
	for _, ch := range changes {
		w.left.note(run+" "+ch.Path, ch.After.Hash())
	}
}

// Unchanged returns the first file that no longer has its hash, or an empty name.
func (w *Writer) Unchanged(hashes map[string]string) (string, error) {
	_, foreign, err := w.changedSince(op.Call{Hashes: hashes})
	return foreign, err
}

// changedSince returns the first file that the call's own run has changed since the
// approval, and the first that another program has changed.
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
