package workspace

import (
	"context"
	"errors"
	"io/fs"

	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

// Step is one file of a change: its expected content and its new one. The text
// "-" means no file.
type Step struct{ Path, Before, After string }

func changesOf(steps []Step) []change.Change {
	content := func(text string) tree.File {
		if text == "-" {
			return tree.File{}
		}
		return tree.File{Exists: true, Data: []byte(text), Mode: fs.FileMode(change.NewFile)}
	}
	changes := make([]change.Change, len(steps))
	for i, s := range steps {
		changes[i] = change.Change{Path: s.Path, Before: content(s.Before), After: content(s.After)}
	}
	return changes
}

// Apply makes prepared changes.
func Apply(o *Operators, run string, steps ...Step) error {
	return o.changes.Apply(context.Background(), run, changesOf(steps))
}

// Restore reverts changes.
func Restore(o *Operators, steps ...Step) error { return o.changes.Restore(changesOf(steps)) }

// IsUnsure reports whether the state after a failure is unknown.
func IsUnsure(err error) bool { return errors.As(err, new(*op.UnsureError)) }
