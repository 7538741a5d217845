package workspace

import (
	"context"
	"errors"
	"io/fs"

	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

// Step is one file of a change: what it was taken to be and what it is to be.
// A text of "-" is no file.
type Step struct{ Path, Before, After string }

func changesOf(steps []Step) []change {
	content := func(text string) tree.File {
		if text == "-" {
			return tree.File{}
		}
		return tree.File{Exists: true, Data: []byte(text), Mode: fs.FileMode(newFile)}
	}
	changes := make([]change, len(steps))
	for i, s := range steps {
		changes[i] = change{path: s.Path, before: content(s.Before), after: content(s.After)}
	}
	return changes
}

// Apply makes changes that were computed before.
func Apply(o *Operators, run string, steps ...Step) error {
	return o.apply(context.Background(), run, changesOf(steps))
}

// Restore takes back changes that were made.
func Restore(o *Operators, steps ...Step) error { return o.restore(changesOf(steps)) }

// IsUnsure reports whether nobody knows what a failure left.
func IsUnsure(err error) bool { return errors.As(err, new(*op.UnsureError)) }
