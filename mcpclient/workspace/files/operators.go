package files

import (
	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/tree"
)

// Operators are the operators for files and folders.
type Operators struct {
	tree      *tree.Tree
	changes   *change.Writer
	maxOutput int
}

// New makes the operators. A call answers at most maxOutput bytes of text.
func New(files *tree.Tree, changes *change.Writer, maxOutput int) *Operators {
	return &Operators{tree: files, changes: changes, maxOutput: maxOutput}
}
