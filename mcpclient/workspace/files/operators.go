package files

import (
	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/tree"
)

// Operators implements the operators for files and folders.
type Operators struct {
	tree      *tree.Tree
	changes   *change.Writer
	maxOutput int
}

// New returns the operators. A call returns at most maxOutput bytes of text.
func New(files *tree.Tree, changes *change.Writer, maxOutput int) *Operators {
	return &Operators{tree: files, changes: changes, maxOutput: maxOutput}
}
